"""The two rows of trente et quarante: to which of them a card goes, what they make, what wins. Pure arithmetic of cards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from controller.events import Hand
from controller.games.cards import is_red, pips

Row = Literal["black", "red"]
ROWS: tuple[Row, ...] = ("black", "red")
"""In the order in which they are dealt."""

FULL = 31
"""A row is full when it reaches or passes this, so it makes 31 to 40."""


def points(cards: Sequence[str]) -> int:
    """What a row makes: ace 1, ten and figures 10, else the number."""
    return sum(map(pips, cards))


def rows(cards: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The cards of a coup in their order, parted into the black row and the red one."""
    total = 0
    for index, card in enumerate(cards, 1):
        total += pips(card)
        if total >= FULL:
            return tuple(cards[:index]), tuple(cards[index:])
    return tuple(cards), ()


def next_row(cards: Sequence[str]) -> Row | None:
    """Where the next card of a coup belongs; None: both rows are full."""
    black, red = rows(cards)
    if points(black) < FULL:
        return "black"
    return "red" if points(red) < FULL else None


def is_coup(cards: Sequence[str]) -> bool:
    """Whether these are the cards of one whole coup, and no card more."""
    return bool(cards) and next_row(cards) is None and next_row(cards[:-1]) == "red"


def winner(cards: Sequence[str]) -> Row | None:
    """The row that is nearer to 31; None if both make the same."""
    black, red = map(points, rows(cards))
    return None if black == red else "black" if black < red else "red"


def marks(cards: Sequence[str]) -> tuple[str, ...]:
    """What else wins: ``colour`` if the winning row has the colour of the black row's first card, else ``inverse``.

    Equal rows are a ``tie``, and with 31 the ``refait``, too.
    """
    won = winner(cards)
    if won is None:
        return ("tie", "refait") if points(rows(cards)[0]) == FULL else ("tie",)
    return ("colour",) if is_red(cards[0]) == (won == "red") else ("inverse",)


def hands(cards: Sequence[str]) -> tuple[Hand, ...]:
    """The rows as the result shows them."""
    won = winner(cards)
    return tuple(
        Hand(who=row, cards=own, points=points(own), outcome="tie" if won is None else "win" if won == row else "lose")
        for row, own in zip(ROWS, rows(cards), strict=True)
    )
