"""The table of games: settings, their defaults, and errors about wrong ones."""

from __future__ import annotations

from typing import Any

import pytest

from controller.games.games import make_game
from controller.games.roulette.settings import BREACHES, LAWS
from tests.support.games.roulette_play import PAIRS, Play


@pytest.mark.parametrize(
    ("game", "decree", "settings", "why"),
    [
        ("roulette", "ARA02", {}, "no game 'roulette'; did you mean `roulette-french`"),
        ("roulette-french", "XXX", {}, "no decree 'XXX'; there are: .*ARA02"),
        (
            "roulette-french",
            "ARA02",
            {"phase": "device"},
            "no setting 'phase'; there are: pocket_order, phases",
        ),
        (
            "roulette-french",
            "ARA02",
            {"phases": "wheel"},
            "phases = 'wheel': must be one of: 'device', 'person'",
        ),
        (
            "roulette-french",
            "ARA02",
            {"ball_removed": "no"},
            "ball_removed = 'no': must be one of: 'warn', 'ask', 'void'",
        ),
        (
            "roulette-french",
            "ARA02",
            {"pocket_order": "0 32"},
            "pocket_order = '0 32': expected a list, got text",
        ),
    ],
)
def test_a_wrong_setting_is_reported(
    game: str, decree: str, settings: dict[str, Any], why: str
) -> None:
    with pytest.raises(ValueError, match=why):
        make_game(game, decree, settings)


@pytest.mark.parametrize(("game", "decree"), PAIRS)
def test_a_rulebook_has_every_law_that_the_game_cites(game: str, decree: str) -> None:
    book = Play(decree, game).game.book
    assert set(LAWS) <= set(book.laws)
    for breach in BREACHES.values():
        assert (
            breach.law in book.laws
            or breach.reason in book.void
            or breach.reason == "cylinder_stopped"
        )
