"""The order of the cells around a wheel of fortune. A site states it; the decree's counts and
constraints check it.
"""

from __future__ import annotations

from collections import Counter

from common.readings import Number
from controller.rulebooks.wheels import FortuneWheelBook

OF_54: tuple[Number, ...] = (
    *("joker_red", 24, 15, 24, 7, 4, 15, 24, 15, 24, 15, 24, 7, 24, 2, 24, 15, 24),
    *(4, 7, 24, 15, 24, 15, 24, 15, 24, "joker_black", 7, 24, 15, 24, 4, 24, 15, 7),
    *(24, 15, 24, 15, 24, 2, 24, 7, 24, 15, 4, 24, 15, 24, 7, 24, 15, 24),
)
"""An order of our own in which no symbol is next to itself, though these decrees do not require
it.
"""
OF_64: tuple[Number, ...] = (
    *(1, 2, 1, 5, 1, 2, 1, 10),
    *(1, 2, 1, 40, 1, 2, 1, 5),
    *(1, 2, 1, 5, 1, 2, 1, 10),
    *(1, 2, 1, 20, 1, 2, 1, 5),
) * 2
"""An order of our own, sector by sector, that satisfies all that the decree says of it; its figure
is lost.
"""


def symbol(text: str) -> Number:
    """A symbol by its name in the rulebook; a number is an int."""
    return int(text) if text.isdigit() else text


def usual(book: FortuneWheelBook) -> tuple[Number, ...]:
    """Our own order that keeps to the decree, since no decree prints one. One joker or two take the
    same places.
    """
    if book.cells == len(OF_64):
        return OF_64
    jokers = [symbol(name) for name in book.bets if name.startswith("joker")]
    names = {"joker_red": jokers[0], "joker_black": jokers[-1]}
    return tuple(names.get(cell, cell) if isinstance(cell, str) else cell for cell in OF_54)


def faults(order: tuple[Number, ...], book: FortuneWheelBook) -> list[str]:
    """The mistakes in an order of cells under the decree, in words."""
    found = _counts(order, book)
    if found or not order:
        return found
    if book.apart:
        around = zip(order, (*order[1:], order[0]), strict=True)
        found += [f"two cells of {one} are neighbours" for one, other in around if one == other]
    if book.opposite:
        half = len(order) // 2
        found += [
            f"cell {at + 1} has {order[at]} and cell {at + 1 + half}, opposite, {order[at + half]}"
            for at in range(half)
            if order[at] != order[at + half]
        ]
    return found + _sectors(order, book)


def _counts(order: tuple[Number, ...], book: FortuneWheelBook) -> list[str]:
    there, wanted = Counter(order), {symbol(name): bet.cells for name, bet in book.bets.items()}
    found = (
        [] if len(order) == book.cells else [f"the wheel has {book.cells} cells, not {len(order)}"]
    )
    found += [f"{number} is no symbol of this wheel" for number in there if number not in wanted]
    return found + [
        f"{number} has {cells} cells, not {there[number]}"
        for number, cells in wanted.items()
        if there[number] != cells
    ]


def _sectors(order: tuple[Number, ...], book: FortuneWheelBook) -> list[str]:
    """Check the sectors: they begin with the first cell, and all are equal."""
    if book.sectors is None:
        return []
    size = book.cells // book.sectors
    sectors = [Counter(order[at : at + size]) for at in range(0, book.cells, size)]
    found = [
        f"sector {at} has {sector[symbol(name)]} cells of {name}, not {cells}"
        for at, sector in enumerate(sectors, 1)
        for name, cells in book.in_each_sector.items()
        if sector[symbol(name)] != cells
    ]
    for name in book.alternate:
        at = [sector[symbol(name)] > 0 for sector in sectors]
        if any(one == other for one, other in zip(at, (*at[1:], at[0]), strict=True)):
            found.append(f"{name} is not in every other sector")
    return found
