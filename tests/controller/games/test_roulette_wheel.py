"""The order of the pockets: the usual one is accepted, and each fault that the decrees forbid is
found.
"""

from __future__ import annotations

import pytest

from controller.games.games import make_game
from controller.games.roulette.wheel import EUROPEAN, faults, neighbours
from controller.rulebooks.rulebook import Roulette, rulebook
from tests.support.games.roulette_play import PAIRS


def _book(decree: str) -> Roulette:
    book = rulebook(decree).roulette_french
    assert book is not None
    return book


def _swapped(one: int, other: int) -> tuple[int, ...]:
    return tuple({one: other, other: one}.get(number, number) for number in EUROPEAN)


@pytest.mark.rule("EUS96-002")
@pytest.mark.rule("GAL07-004")
@pytest.mark.parametrize(("game", "decree"), PAIRS)
def test_the_usual_order_satisfies_every_decree(game: str, decree: str) -> None:
    assert make_game(game, decree, {"pocket_order": list(EUROPEAN)})


@pytest.mark.rule("EUS96-002")
@pytest.mark.parametrize("order", [EUROPEAN[1:], (*EUROPEAN, 37), (*EUROPEAN[:-1], 0), ()])
def test_a_wheel_has_each_number_once(order: tuple[int, ...]) -> None:
    assert faults(order, _book("ARA02")) == ["a wheel has each of the numbers 0 to 36 once"]


@pytest.mark.rule("ARA02-004")
@pytest.mark.rule("BAL05-014")
@pytest.mark.rule("EUS96-005")
@pytest.mark.rule("GAL07-004")
@pytest.mark.parametrize("decree", ["BAL05", "ARA02", "EUS96", "GAL07"])
def test_no_consecutive_numbers_are_neighbours(decree: str) -> None:
    order = _swapped(15, 33)  # 33 comes beside 32; both are black
    assert "the consecutive numbers 32 and 33 are neighbours" in faults(order, _book(decree))


@pytest.mark.rule("ARA02-005")
@pytest.mark.rule("BAL05-014")
@pytest.mark.rule("EUS96-008")
@pytest.mark.rule("GAL07-004")
@pytest.mark.parametrize("decree", ["BAL05", "ARA02", "EUS96", "GAL07"])
def test_red_and_black_alternate_but_for_zero(decree: str) -> None:
    found = faults(_swapped(36, 11), _book(decree))
    assert "red and black do not alternate at 13 and 11" in found


@pytest.mark.rule("BAL05-014")
@pytest.mark.rule("EUS96-006")
@pytest.mark.rule("EUS96-007")
@pytest.mark.parametrize("decree", ["BAL05", "EUS96"])
@pytest.mark.parametrize(("one", "other", "number"), [(32, 14, 0), (25, 9, 17)])
def test_neighbours_that_a_decree_requires_are_checked(
    decree: str, one: int, other: int, number: int
) -> None:
    """Two numbers of one colour are exchanged, so that nothing else is wrong."""
    found = faults(_swapped(one, other), _book(decree))
    assert any(fault.startswith(f"the neighbours of {number} are") for fault in found)


@pytest.mark.rule("BAL05-035")
@pytest.mark.rule("EUS96-028")
def test_neighbours_are_two_pockets_on_each_side() -> None:
    assert set(neighbours(0, EUROPEAN)) == {3, 15, 26, 32}
    assert set(neighbours(17, EUROPEAN)) == {2, 6, 25, 34}
    assert neighbours(26, EUROPEAN) == (35, 3, 0, 32)


@pytest.mark.rule("BAL05-036")
@pytest.mark.rule("EUS96-029")
@pytest.mark.parametrize("decree", ["BAL05", "EUS96"])
def test_sectors_are_arcs_that_cover_the_wheel(decree: str) -> None:
    book = rulebook(decree).roulette_american
    assert book is not None
    sectors = {name: set(numbers) for name, numbers in book.sectors.items()}
    assert {name: len(numbers) for name, numbers in sectors.items()} == {
        "big_series": 17,
        "third": 12,
        "orphans": 8,
    }
    assert sorted(number for numbers in sectors.values() for number in numbers) == list(range(37))
    borders = [
        (one, other)
        for one, other in zip(EUROPEAN, (*EUROPEAN[1:], EUROPEAN[0]), strict=True)
        if not any({one, other} <= numbers for numbers in sectors.values())
    ]
    assert len(borders) == 4  # big series, orphans, third, orphans again


def test_a_table_with_an_impossible_wheel_is_not_made() -> None:
    with pytest.raises(
        ValueError, match="pocket_order: the consecutive numbers 0 and 1 are neighbours"
    ):
        make_game("roulette-french", "EUS96", {"pocket_order": list(range(37))})
