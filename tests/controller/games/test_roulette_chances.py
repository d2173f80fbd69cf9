"""The wins of a number, against an independent listing: the cloth as it is printed, and the
well-known colours.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from controller.games.roulette.chances import RouletteCover, chances, covers, winning
from controller.rulebooks.rulebook import Roulette, rulebook
from tests.support.for_each import for_each

RED = {1, 3, 5, 7, 9, 12, 14, 16, 18, 19, 21, 23, 25, 27, 30, 32, 34, 36}
BLACK = {2, 4, 6, 8, 10, 11, 13, 15, 17, 20, 22, 24, 26, 28, 29, 31, 33, 35}
CLOTH = [[3 * row + column + 1 for column in range(3)] for row in range(12)]
"""Twelve rows of three numbers."""

BOOKS = {
    f"{decree} {game}": getattr(rulebook(decree), game)
    for decree in ("BAL05", "ARA02", "EUS96", "GAL07")
    for game in ("roulette_french", "roulette_american")
}


@pytest.fixture(params=BOOKS.values(), ids=list(BOOKS))
def book(request: pytest.FixtureRequest) -> Roulette:
    assert isinstance(request.param, Roulette)
    return request.param


@pytest.mark.rule("ARA02-003")
@pytest.mark.rule("BAL05-013")
@pytest.mark.rule("EUS96-004")
@pytest.mark.rule("GAL07-003")
def test_colours_are_those_of_the_wheel(book: Roulette) -> None:
    assert {number for number in range(37) if chances(number, book).colour == "red"} == RED
    assert {number for number in range(37) if chances(number, book).colour == "black"} == BLACK


@pytest.mark.rule("ARA02-002")
@pytest.mark.rule("BAL05-012")
@pytest.mark.rule("EUS96-003")
@pytest.mark.rule("EUS96-022")
@pytest.mark.rule("GAL07-002")
def test_zero_is_nothing_but_zero(book: Roulette) -> None:
    zero = chances(0, book)
    assert (zero.colour, zero.parity, zero.half, zero.dozen, zero.column) == (
        None,
        None,
        None,
        None,
        None,
    )


def test_each_number_is_where_the_cloth_has_it(book: Roulette) -> None:
    for row, numbers in enumerate(CLOTH):
        for column, number in enumerate(numbers):
            own = chances(number, book)
            assert own.parity == ("even" if number in range(0, 37, 2) else "odd")
            assert own.half == ("falta" if row < 6 else "pasa")
            assert own.dozen == row // 4 + 1
            assert own.column == column + 1


def test_each_simple_chance_has_eighteen_numbers_and_each_third_twelve(book: Roulette) -> None:
    sizes = {"simple": 18, "column": 12, "dozen": 12, "double_column": 24, "double_dozen": 24}
    for cover in covers(book):
        if cover.bet in sizes:
            assert len(cover.numbers) == sizes[cover.bet]


@for_each(
    ("bet", "places"),
    [
        ("straight", 37),
        ("split", 60),
        ("street", 14),
        ("six_line", 11),
        ("column", 3),
        ("dozen", 3),
        ("double_column", 2),
        ("double_dozen", 2),
        ("simple", 6),
    ],
)
def test_the_number_of_places_on_the_cloth(book: Roulette, bet: str, places: int) -> None:
    assert len([cover for cover in covers(book) if cover.bet == bet]) == places


def test_the_first_four_is_a_corner_where_the_decree_has_it() -> None:
    first_four = RouletteCover("corner", frozenset({0, 1, 2, 3}))
    assert {name for name, book in BOOKS.items() if first_four in covers(book)} == {
        name for name in BOOKS if "ARA02" not in name
    }


def test_splits_and_corners_are_neighbours_on_the_cloth(book: Roulette) -> None:
    where = {
        number: (row, column)
        for row, numbers in enumerate(CLOTH)
        for column, number in enumerate(numbers)
    }
    splits = {
        frozenset({one, other})
        for one in where
        for other in where
        if abs(where[one][0] - where[other][0]) + abs(where[one][1] - where[other][1]) == 1
    } | {frozenset({0, number}) for number in CLOTH[0]}
    assert {cover.numbers for cover in covers(book) if cover.bet == "split"} == splits
    corners = {
        frozenset(
            {
                CLOTH[row][column],
                CLOTH[row][column + 1],
                CLOTH[row + 1][column],
                CLOTH[row + 1][column + 1],
            }
        )
        for row in range(11)
        for column in range(2)
    }
    assert {
        cover.numbers for cover in covers(book) if cover.bet == "corner" and 0 not in cover.numbers
    } == corners


@pytest.mark.rule("BAL05-025")
@pytest.mark.rule("GAL07-025")
def test_the_house_keeps_one_thirty_seventh_of_every_bet(book: Roulette) -> None:
    """The pay of a bet matches the count of its numbers: without zero, every bet would be even."""
    for cover in covers(book):
        pays = Fraction(*book.bets[cover.bet].pays)
        expected = Fraction(len(cover.numbers), 37) * (pays + 1) - 1
        assert expected == Fraction(-1, 37), cover


def test_the_winning_bets_are_those_that_cover_the_number(book: Roulette) -> None:
    for number in range(37):
        won = winning(number, book)
        assert RouletteCover("straight", frozenset({number})) in won
        assert all(number in cover.numbers for cover in won)
        assert sum(cover.bet == "simple" for cover in won) == (3 if number else 0)
        assert {cover for cover in covers(book) if number in cover.numbers} == set(won)
