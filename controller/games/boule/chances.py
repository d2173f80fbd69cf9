"""The bets that a number wins at boule, and which maps of the holes the decree allows."""

from __future__ import annotations

from collections import Counter

import msgspec

from common.contract.events import Colour, Half, Parity, Settled
from controller.games.stakes import Stake
from controller.rulebooks.wheels import Boule


class BouleChances(msgspec.Struct, frozen=True):
    """The simple chances of a number. The middle number wins none: they all lose."""

    colour: Colour | None = None
    parity: Parity | None = None
    half: Half | None = None


def chances(number: int, book: Boule) -> BouleChances:
    """The simple chances of a number, as it is announced with the result."""
    if number in book.black:
        colour: Colour = "black"
    elif number in book.red:
        colour = "red"
    else:
        return BouleChances()
    return BouleChances(
        colour, "odd" if number % 2 else "even", "pasa" if number > middle(book) else "falta"
    )


def middle(book: Boule) -> int:
    """The number that is neither red nor black."""
    (number,) = set(range(1, book.numbers + 1)) - {*book.black, *book.red}
    return number


def winning(number: int, book: Boule) -> tuple[str, ...]:
    """The bets that win: the number itself by its text, and its simple chances."""
    own = chances(number, book)
    return (str(number), *(chance for chance in (own.colour, own.parity, own.half) if chance))


def bets(book: Boule) -> tuple[str, ...]:
    """Every bet, by name: the numbers, and the simple chances."""
    return (*(str(number) for number in range(1, book.numbers + 1)), *book.chances)


def settled(number: int, bets: tuple[Stake, ...], book: Boule) -> tuple[Settled, ...]:
    """The outcome of each reported bet when this number comes."""
    won = winning(number, book)
    return tuple(
        Settled(
            bet=bet.bet,
            outcome="win",
            pays=book.bets["number" if bet.bet.isdecimal() else "simple"].pays,
            who=bet.who,
        )
        if bet.bet in won
        else Settled(bet=bet.bet, outcome="lose", who=bet.who)
        for bet in bets
    )


def faults(holes: tuple[tuple[int, ...], ...], book: Boule) -> list[str]:
    """The mistakes in a map of the holes under the decree, in words."""
    there = Counter(number for row in holes for number in row)
    expected = book.holes // book.numbers
    found = []
    if len(holes) != book.rows:
        found.append(f"the holes lie in {book.rows} rows, not in {len(holes)}")
    if there.total() != book.holes:
        found.append(f"there are {book.holes} holes, not {there.total()}")
    for number in sorted({*there, *range(1, book.numbers + 1)}):
        if not 1 <= number <= book.numbers:
            found.append(f"there is no number {number}; there are 1 to {book.numbers}")
        elif there[number] != expected:
            found.append(f"each number has {expected} holes; {number} has {there[number]}")
    return found
