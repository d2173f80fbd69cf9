"""The order of the cells around a wheel of fortune, checked against each decree."""

from __future__ import annotations

from itertools import pairwise

import pytest

from common.readings import Number
from controller.games.fortune.wheel import OF_64, faults, usual
from controller.games.games import make_game
from controller.rulebooks.rulebook import rulebook
from controller.rulebooks.wheels import FortuneWheelBook
from tests.support.games.cells_play import DECREES

every = pytest.mark.parametrize("decree", DECREES)


def book_of(decree: str) -> FortuneWheelBook:
    book = rulebook(decree).fortune_wheel
    assert book is not None
    return book


def swapped(order: tuple[Number, ...], one: int, other: int) -> tuple[Number, ...]:
    cells = list(order)
    cells[one - 1], cells[other - 1] = cells[other - 1], cells[one - 1]
    return tuple(cells)


@every
def test_the_default_order_satisfies_the_decree(decree: str) -> None:
    book = book_of(decree)
    order = usual(book)
    assert faults(order, book) == []
    assert all(one != other for one, other in pairwise((*order, order[0])))
    make_game("fortune-wheel", decree, {"cells": order})


@every
def test_a_wheel_of_other_cells_is_refused(decree: str) -> None:
    book = book_of(decree)
    order = usual(book)
    assert faults(order[1:], book)[0] == f"the wheel has {book.cells} cells, not {book.cells - 1}"
    assert "3 is no symbol of this wheel" in faults((3, *order[1:]), book)
    with pytest.raises(ValueError, match=r"2 has \d+ cells, not"):
        make_game("fortune-wheel", decree, {"cells": (*order[:-1], 2)})


@every
def test_without_sectors_a_wheel_may_begin_anywhere(decree: str) -> None:
    book = book_of(decree)
    order = usual(book)
    turned = (*order[4:], *order[:4])
    assert (faults(turned, book) == []) == (book.sectors is None)


@pytest.mark.rule("ARA02-149")
def test_in_aragon_equal_cells_are_never_neighbours_and_lie_opposite_each_other() -> None:
    book = book_of("ARA02")
    assert "two cells of 1 are neighbours" in faults(swapped(OF_64, 1, 2), book)
    assert faults(swapped(swapped(OF_64, 2, 4), 34, 36), book) == []
    assert faults(swapped(OF_64, 2, 4), book) == [
        "cell 2 has 5 and cell 34, opposite, 2",
        "cell 4 has 2 and cell 36, opposite, 5",
    ]


@pytest.mark.rule("ARA02-149")
def test_in_aragon_the_sectors_are_counted() -> None:
    book = book_of("ARA02")
    order = swapped(swapped(OF_64, 4, 12), 36, 44)  # the fives of two sectors for their forties
    assert faults(order, book) == [
        "sector 1 has 0 cells of 5, not 1",
        "sector 2 has 2 cells of 5, not 1",
        "sector 5 has 0 cells of 5, not 1",
        "sector 6 has 2 cells of 5, not 1",
    ]
    order = swapped(swapped(OF_64, 8, 12), 40, 44)  # tens where the forties were
    assert faults(order, book) == ["10 is not in every other sector"]
