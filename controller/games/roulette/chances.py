"""The bets that a number wins at roulette: its simple chances, dozen and column, and every bet that
covers it.

The decrees draw the colours from the sum of the digits: an even sum is black, except where they say
otherwise.
"""

from __future__ import annotations

import msgspec

from common.contract.events import Colour, Half, Parity
from controller.rulebooks.wheels import Roulette

NUMBERS = range(1, 37)
"""The numbers of the cloth, three columns of twelve, without zero."""


class RouletteChances(msgspec.Struct, frozen=True):
    """The simple chances, dozen and column of a number. Zero wins none."""

    colour: Colour | None = None
    parity: Parity | None = None
    half: Half | None = None
    dozen: int | None = None
    column: int | None = None


def chances(number: int, book: Roulette) -> RouletteChances:
    """The simple chances, the dozen (1-3) and the column (1-3) of a number, as it is announced with
    the result.
    """
    if number == 0:
        return RouletteChances()
    return RouletteChances(
        colour=colour(number, book),
        parity="odd" if number % 2 else "even",
        half="falta" if number <= 18 else "pasa",
        dozen=(number + 11) // 12,
        column=(number + 2) % 3 + 1,
    )


def colour(number: int, book: Roulette) -> Colour:
    """Black for an even sum of digits, red for an odd one, except for the numbers that the decree
    names.
    """
    if number in book.extra_black:
        return "black"
    if number in book.extra_red:
        return "red"
    return "red" if sum(divmod(number, 10)) % 2 else "black"


class RouletteCover(msgspec.Struct, frozen=True):
    """A place on the cloth for a bet: the kind of bet, and the numbers it covers."""

    bet: str
    numbers: frozenset[int]


def covers(book: Roulette) -> tuple[RouletteCover, ...]:
    """Every place on the cloth where the decree allows a bet."""
    columns = [frozenset(range(first, 37, 3)) for first in (1, 2, 3)]
    dozens = [frozenset(range(first, first + 12)) for first in (1, 13, 25)]
    simple = [
        frozenset(n for n in NUMBERS if chance in _simple(n, book))
        for chance in ("red", "black", "even", "odd", "falta", "pasa")
    ]
    places: dict[str, list[frozenset[int]]] = {
        "straight": [frozenset({n}) for n in range(book.pockets)],
        "split": [frozenset({0, n}) for n in (1, 2, 3)]
        + [frozenset({n, n + 1}) for n in NUMBERS if n % 3]
        + [frozenset({n, n + 3}) for n in NUMBERS if n <= 33],
        "street": [frozenset(range(n, n + 3)) for n in NUMBERS if n % 3 == 1] + _at_zero(book, 3),
        "corner": [frozenset({n, n + 1, n + 3, n + 4}) for n in NUMBERS if n % 3 and n <= 33]
        + _at_zero(book, 4),
        "six_line": [frozenset(range(n, n + 6)) for n in NUMBERS if n % 3 == 1 and n <= 31],
        "column": columns,
        "dozen": dozens,
        "double_column": [columns[0] | columns[1], columns[1] | columns[2]],
        "double_dozen": [dozens[0] | dozens[1], dozens[1] | dozens[2]],
        "simple": simple,
    }
    return tuple(
        RouletteCover(bet, numbers)
        for bet, covered in places.items()
        if bet in book.bets
        for numbers in covered
    )


def winning(number: int, book: Roulette) -> tuple[RouletteCover, ...]:
    """Every place on the cloth that wins when the ball falls into this number."""
    return tuple(cover for cover in covers(book) if number in cover.numbers)


def _simple(number: int, book: Roulette) -> tuple[str | None, ...]:
    own = chances(number, book)
    return own.colour, own.parity, own.half


def _at_zero(book: Roulette, size: int) -> list[frozenset[int]]:
    """The trios with zero, and the first four where the decree has them."""
    return [frozenset(numbers) for numbers in book.zero_streets if len(numbers) == size]
