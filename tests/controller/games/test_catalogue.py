"""The pairs of decrees and games: as many as the decrees list, under their numbers and names."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from controller.games.catalogue import CatalogueEntry, catalogue, playable
from controller.games.games import GAMES, make_game
from tests.support.for_each import for_each
from tests.support.games.seeds import NUMBERS, stands_in

GAME_IDS = {
    *(
        "roulette-french",
        "roulette-american",
        "boule",
        "fortune-wheel",
        "craps",
        "blackjack",
        "blackjack-triple",
    ),
    *(
        "trente-et-quarante",
        "punto-banca",
        "chemin-de-fer",
        "baccarat-two-cloths",
        "poker-no-draw",
        "poker-draw-house",
    ),
    *(
        "trijoker",
        "three-card-poker",
        "texas-house",
        "pai-gow",
        "circle-draw",
        "five-card-stud",
        "seven-card-stud",
    ),
    *("omaha", "omaha-five", "omaha-hi-lo", "texas-holdem", "holdem-double", "synthetic-poker"),
}


def test_sixty_nine_pairs() -> None:
    assert Counter(pair.decree for pair in catalogue()) == {
        "BAL05": 13,
        "BAL09": 8,
        "ARA02": 12,
        "EUS96": 26,
        "GAL07": 10,
    }
    assert len({(pair.decree, pair.game) for pair in catalogue()}) == 69
    assert {pair.game for pair in catalogue()} == GAME_IDS


@for_each("pair", catalogue(), ids=lambda pair: f"{pair.decree}-{pair.number}")
def test_the_decree_has_the_name(pair: CatalogueEntry, shared: Path) -> None:
    assert stands_in(shared, pair.decree, pair.name, case=False)


LISTED = {
    "BAL05": r"^## (0\d|1[0-3])\. ",
    "BAL09": r"^## \d+\. Section (12\.\d[.\w]*|16|17): ",
    "ARA02": r"^## ([1-9]\d?(?:-[AB])?)\. ",
    "GAL07": r"^## \d+\. Game \"?(\d\d)",
}


@pytest.mark.parametrize("decree", LISTED)
def test_numbers_are_those_of_the_digest(decree: str, shared: Path) -> None:
    [digest] = (shared / "rules").glob(f"{NUMBERS[decree]}-*.md")
    found = re.findall(LISTED[decree], digest.read_text(encoding="utf-8"), re.MULTILINE)
    assert [pair.number for pair in catalogue() if pair.decree == decree] == [
        n.replace("-", ".") for n in found
    ]


def test_numbers_are_those_of_the_basque_list(shared: Path) -> None:
    """That decree lists its games one per line; 17 is the heading of the circle games."""
    [seed] = (shared / "seeds").glob("003_*.txt")
    found = re.findall(
        r"^(\d\d(?:\.\d\d)*)\.– (.*)\.$", seed.read_text(encoding="utf-8"), re.MULTILINE
    )
    assert [(pair.number, pair.name) for pair in catalogue() if pair.decree == "EUS96"] == [
        x for x in found if x[0] != "17"
    ]


def test_a_playable_game_can_be_made() -> None:
    for pair in catalogue():
        if playable(pair):
            make_game(pair.game, pair.decree, {})
        elif pair.game in GAMES:
            with pytest.raises(ValueError, match=pair.decree):
                make_game(pair.game, pair.decree, {})


@for_each("game", GAMES)
def test_a_game_is_playable_wherever_it_is(game: str) -> None:
    """Every game that can be made is played under each of the decrees that have it."""
    there = {pair.decree for pair in catalogue() if pair.game == game}
    assert {pair.decree for pair in catalogue() if pair.game == game and playable(pair)} == there
