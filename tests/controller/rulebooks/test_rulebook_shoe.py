"""The rulebooks' cards of each game that is dealt from a shoe, game by game as each decree prints
it.
"""

from __future__ import annotations

import pytest

from controller.rulebooks.cards import ShoeRules
from controller.rulebooks.rulebook import rulebook
from tests.support.for_each import for_each

GAMES = ("blackjack", "trente-et-quarante", "punto-banca", "chemin-de-fer", "baccarat-two-cloths")
every = for_each(
    ("decree", "game"),
    [(decree, game) for decree in ("BAL05", "ARA02", "EUS96", "GAL07") for game in GAMES],
    ids=" ".join,
)


def rules_of(decree: str, game: str) -> ShoeRules:
    rules = getattr(rulebook(decree), game.replace("-", "_")).shoe
    assert isinstance(rules, ShoeRules)
    return rules


@pytest.mark.rule("BAL05-007", "EUS96-054", "GAL07-040")
@every
def test_six_decks(decree: str, game: str) -> None:
    assert rules_of(decree, game).decks == 6


@pytest.mark.rule("BAL05-008", "EUS96-055", "GAL07-041")
@every
def test_three_decks_in_each_back_colour_and_one_colour_at_trente_et_quarante(
    decree: str, game: str
) -> None:
    assert rules_of(decree, game).backs == ((6,) if game == "trente-et-quarante" else (3, 3))


@pytest.mark.rule("BAL05-009", "GAL07-042")
@every
def test_with_index_at_punto_y_banca_alone_and_unstated_at_black_jack(
    decree: str, game: str
) -> None:
    assert rules_of(decree, game).index is {"punto-banca": True, "blackjack": None}.get(game, False)


@pytest.mark.rule("BAL05-010", "GAL07-043")
@every
def test_new_cards_at_two_cloths_alone(decree: str, game: str) -> None:
    said = {"baccarat-two-cloths": True, "punto-banca": False, "chemin-de-fer": False}
    assert rules_of(decree, game).new is said.get(game)


@pytest.mark.rule("GAL07-047")
@every
def test_the_number_of_cards_behind_the_cut_card(decree: str, game: str) -> None:
    behind = {"blackjack": 52, "trente-et-quarante": 5, "baccarat-two-cloths": 10}.get(game, 7)
    rules = rules_of(decree, game)
    assert (rules.behind, rules.behind_exact) == (behind, game != "blackjack")
