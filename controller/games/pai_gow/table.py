"""Pai gow without state: positions, the order of the deal, how a hand is set, and how two hands
compare.

Positions are numbered clockwise from the croupier's left: the players' seats, and after the last of
them the croupier's own.
"""

from __future__ import annotations

from collections.abc import Sequence

from controller.games.hands.evaluator import Value, value
from controller.rulebooks.pai_gow import Case, Order, PaiGow


def who_at(book: PaiGow, position: int) -> str:
    """The hand at a position."""
    return "dealer" if position == croupier(book) else f"box:{position}"


def positions(book: PaiGow) -> range:
    """All positions."""
    return range(1, book.boxes + 2)


def croupier(book: PaiGow) -> int:
    """The croupier's position."""
    return book.boxes + 1


def counted(book: PaiGow, bank: int, total: int) -> int:
    """The position chosen by the dice: counted clockwise from the bank's, which is one, as often
    round as needed.
    """
    return (bank + total - 2) % len(positions(book)) + 1


def clockwise(book: PaiGow, start: int, there: Sequence[int]) -> tuple[int, ...]:
    """These positions in the order of service from ``start``, whether or not it is one of them."""
    round_ = len(positions(book))
    return tuple(sorted(there, key=lambda position: (position - start) % round_))


def passed(book: PaiGow, bank: int, to: int) -> tuple[int, ...]:
    """The positions that are passed over when the bank moves on clockwise."""
    order = clockwise(book, bank, positions(book))
    return order[1 : order.index(to)] if to != bank else order[1:]


def split(cards: Sequence[str], low: Sequence[str]) -> tuple[str, ...]:
    """The cards of the high hand: all that are not in the low one."""
    return tuple(card for card in cards if card not in low)


def judged(book: PaiGow, cards: Sequence[str], low: Sequence[str]) -> tuple[Value, Value] | None:
    """The values of the high and the low hand; None if the hand is set wrongly: the low hand has a
    wrong number of cards, or the high one is not worth more.
    """
    if len(low) != book.low:
        return None
    high = value(split(cards, low), book.ranking)
    small = value(low, book.ranking_low)
    return (high, small) if high.key > small.key else None


def order(mine: Value, theirs: Value) -> Order:
    """Whether a hand wins, loses or ties against another of the same size."""
    return "equal" if mine.key == theirs.key else "higher" if mine.key > theirs.key else "lower"


def case_of(book: PaiGow, mine: tuple[Value, Value], theirs: tuple[Value, Value]) -> Case:
    """The row of the decree's table for a client's hands against those of the bank."""
    high, low = order(mine[0], theirs[0]), order(mine[1], theirs[1])
    return next(case for case in book.cases if (case.high, case.low) == (high, low))
