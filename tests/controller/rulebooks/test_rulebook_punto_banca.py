"""The rulebooks of punto y banca: complete, and in the decrees' own words and figures."""

from __future__ import annotations

import pytest

from controller.games.punto_banca.settings import LAWS
from controller.rulebooks.punto_banca import PuntoBanca
from tests.support.for_each import for_each
from tests.support.games import decrees
from tests.support.games.decrees import by_decree

DECREES = ("ARA02", "BAL05", "EUS96", "GAL07")
every = for_each("decree", DECREES)


def book_of(decree: str) -> PuntoBanca:
    return decrees.book_of(PuntoBanca, "punto-banca", decree)


@every
def test_has_a_law_for_each_report_of_the_game_and_no_other(decree: str) -> None:
    assert set(LAWS) == set(book_of(decree).laws)


@every
def test_calls_are_these(decree: str) -> None:
    book = book_of(decree)
    last = {"last_rounds"} if book.last_rounds is not None else set()
    assert (
        set(book.announcements) == {"bets_closed", "cards", "player_stands", "player_draws"} | last
    )


# In the decree's own figures


@pytest.mark.parametrize(
    "decree", by_decree("BAL05-103 BAL05-106", "ARA02-084", "EUS96-128", "GAL07-092")
)
def test_commission_and_limits(decree: str) -> None:
    book = book_of(decree)
    assert book.commission == (1, 20)
    assert book.commission_six == ((1, 2) if decree == "EUS96" else None)
    assert (book.limits, book.limits_are) == {
        "BAL05": ((25, 50, 100), "choices"),
        "ARA02": ((50, 100), "range"),
        "EUS96": ((20, 100), "choices"),
        "GAL07": ((20, 50, 100), "choices"),
    }[decree]


@pytest.mark.parametrize("decree", by_decree("BAL05-102", "ARA02-084", "EUS96-127", "GAL07-091"))
def test_the_tie_pays_eight_to_one(decree: str) -> None:
    book = book_of(decree)
    assert book.tie_pays == (8, 1)
    assert (
        book.tie_limit
        == {"BAL05": (1, 10), "ARA02": (1, 8), "EUS96": None, "GAL07": (1, 10)}[decree]
    )


@pytest.mark.parametrize("decree", [*by_decree("ARA02-085", "EUS96-129", "GAL07-096"), "BAL05"])
def test_seats_of_the_reduced_tables(decree: str) -> None:
    assert book_of(decree).seats == {"mini": 7, "midi": 9}


@pytest.mark.parametrize(
    "decree",
    by_decree("BAL05-095", "ARA02-071 ARA02-072", "EUS96-116 EUS96-117", "GAL07-040 GAL07-047"),
)
def test_six_decks_with_indices_in_two_colours_and_seven_cards_behind(decree: str) -> None:
    shoe = book_of(decree).shoe
    assert (shoe.decks, shoe.behind, shoe.behind_exact, shoe.after_cut) == (6, 7, True, "finish")
    assert (shoe.backs, shoe.index, shoe.new, shoe.burn) == ((3, 3), True, False, "shown")
