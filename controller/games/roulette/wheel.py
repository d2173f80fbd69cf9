"""The order of the pockets around the wheel. No decree prints it whole: a site states it, and the
decree's constraints check it.
"""

from __future__ import annotations

from controller.games.roulette.chances import colour
from controller.rulebooks.wheels import Roulette

EUROPEAN = (
    *(0, 32, 15, 19, 4, 21, 2, 25, 17, 34, 6, 27, 13, 36, 11, 30, 8, 23, 10),
    *(5, 24, 16, 33, 1, 20, 14, 31, 9, 22, 18, 29, 7, 28, 12, 35, 3, 26),
)
"""The usual order of a wheel with one zero, clockwise. It satisfies all that the decrees say of
it.
"""


def faults(order: tuple[int, ...], book: Roulette) -> list[str]:
    """The mistakes in an order of pockets under the decree, in words."""
    if sorted(order) != list(range(book.pockets)):
        return [f"a wheel has each of the numbers 0 to {book.pockets - 1} once"]
    found = []
    for one, other in zip(order, (*order[1:], order[0]), strict=True):
        if abs(one - other) == 1:
            found.append(f"the consecutive numbers {one} and {other} are neighbours")
        if one and other and colour(one, book) == colour(other, book):
            found.append(f"red and black do not alternate at {one} and {other}")
    for number, named in book.neighbours.items():
        there = neighbours(int(number), order)
        if set(there) != set(named):
            found.append(
                f"the neighbours of {number} are {_list(there)}; the decree names {_list(named)}"
            )
    return found


def neighbours(number: int, order: tuple[int, ...], each_side: int = 2) -> tuple[int, ...]:
    """The pockets on both sides of a number, in the order of the wheel, without the number
    itself.
    """
    at = order.index(number)
    return tuple(
        order[(at + step) % len(order)] for step in range(-each_side, each_side + 1) if step
    )


def _list(numbers: tuple[int, ...]) -> str:
    return ", ".join(str(number) for number in sorted(numbers))
