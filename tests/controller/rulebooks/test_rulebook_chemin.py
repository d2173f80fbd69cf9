"""The rulebooks of chemin de fer and two-cloth baccarat: complete, and in the decrees' own words
and figures.
"""

from __future__ import annotations

from itertools import product
from typing import get_args

import pytest

from controller.games.chemin.settings import LAWS
from controller.rulebooks.chemin import Chemin, CheminError
from tests.support.for_each import for_each
from tests.support.games import decrees
from tests.support.games.decrees import by_decree

DECREES = ("ARA02", "BAL05", "EUS96", "GAL07")
GAMES = ("chemin-de-fer", "baccarat-two-cloths")
every = for_each(("decree", "game"), list(product(DECREES, GAMES)))


def book_of(decree: str, game: str = "chemin-de-fer") -> Chemin:
    return decrees.book_of(Chemin, game, decree)


@every
def test_has_a_law_for_each_report_of_the_game(decree: str, game: str) -> None:
    book = book_of(decree, game)
    assert set(LAWS) | set(book.errors) <= set(book.laws)
    assert set(book.laws) <= set(LAWS) | set(get_args(CheminError))


@every
def test_calls_are_these(decree: str, game: str) -> None:
    book = book_of(decree, game)
    last = {"last_rounds"} if decree == "EUS96" else set()
    assert set(book.announcements) == {"cards_pass", "bank", "bets_closed", "card", "no"} | last
    assert book.last_rounds == (3 if last else None)


@pytest.mark.parametrize(
    "decree",
    by_decree(
        "ARA02-086 ARA02-087 ARA02-107 ARA02-108 ARA02-109",
        "BAL05-110 BAL05-124 BAL05-125 BAL05-126",
        "EUS96-131 EUS96-132 EUS96-150 EUS96-151 EUS96-154",
        "GAL07-099 GAL07-111 GAL07-113",
    ),
)
def test_figures_of_chemin_de_fer(decree: str) -> None:
    book = book_of(decree)
    assert (book.shoe.decks, book.shoe.behind, book.shoe.backs) == (6, 7, (3, 3))
    assert (book.shoe.index, book.shoe.new) == (False, False)
    assert (book.players, book.bank_maximum) == (4, 100)
    # ARA02 L826: half of the bank, from the second pass
    assert (book.garage, book.garage_half_from) == ((0, 2) if decree == "ARA02" else (50, 0))
    assert set(book.deductions.values()) == {(1, 20)}
    assert (book.banco, book.natural_beats) == ("authorised", False)


@pytest.mark.parametrize(
    "decree",
    by_decree(
        "ARA02-111 ARA02-112 ARA02-115 ARA02-120 ARA02-121",
        "BAL05-110 BAL05-122 BAL05-124 BAL05-125",
        "EUS96-131 EUS96-132 EUS96-150 EUS96-151 EUS96-153",
        "GAL07-099 GAL07-110 GAL07-111",
    ),
)
def test_figures_of_two_cloths(decree: str) -> None:
    book = book_of(decree, "baccarat-two-cloths")
    assert (book.shoe.decks, book.shoe.behind, book.shoe.backs) == (6, 10, (3, 3))
    assert (book.shoe.index, book.shoe.new) == (False, True)
    assert (book.players, book.bank_maximum, book.garage, book.garage_half_from) == (2, 0, 0, 0)
    assert book.deductions == {
        "limited": (1, 50),
        "free": (1, 80),
    }  # two in a hundred, and one and a quarter
    assert (book.banco, book.natural_beats) == ("always", True)


@pytest.mark.parametrize("decree", DECREES)
def test_only_aragon_has_no_rule_for_cards_thrown_away_at_two_cloths(decree: str) -> None:
    assert ("basket_zero" in book_of(decree, "baccarat-two-cloths").errors) == (decree != "ARA02")
