"""The two rows of trente et quarante: to which of them a card goes, what they make, what wins. Pure
arithmetic of cards.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from common.contract.events import Hand
from controller.games.cards import is_red, pips

Row = Literal["black", "red"]
Winner = Literal["black", "red", "tie", "refait"]
WINNERS: tuple[Winner, ...] = get_args(Winner)
"""``tie``: both make the same, and the coup is void. ``refait``: both make 31, and the regime of
zero applies.
"""
ROWS: tuple[Row, ...] = ("black", "red")
"""In the order in which they are dealt."""

FULL_ROW_POINTS = 31
"""A row is full when it reaches or passes this, so it makes 31 to 40."""


def points(cards: Sequence[str]) -> int:
    """The points of a row: ace 1, ten and figures 10, else the number."""
    return sum(map(pips, cards))


def rows(cards: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The cards of a coup in their order, split into the black row and the red one."""
    total = 0
    for index, card in enumerate(cards, 1):
        total += pips(card)
        if total >= FULL_ROW_POINTS:
            return tuple(cards[:index]), tuple(cards[index:])
    return tuple(cards), ()


def next_row(cards: Sequence[str]) -> Row | None:
    """The row of the next card of a coup; None if both are full."""
    black, red = rows(cards)
    if points(black) < FULL_ROW_POINTS:
        return "black"
    return "red" if points(red) < FULL_ROW_POINTS else None


def is_coup(cards: Sequence[str]) -> bool:
    """Whether these are exactly the cards of one whole coup."""
    return bool(cards) and next_row(cards) is None and next_row(cards[:-1]) == "red"


def winner(cards: Sequence[str]) -> Winner:
    """The row nearer to 31, or the kind of draw."""
    black, red = map(points, rows(cards))
    if black == red:
        return "refait" if black == FULL_ROW_POINTS else "tie"
    return "black" if black < red else "red"


def marks(cards: Sequence[str]) -> tuple[str, ...]:
    """What else wins: ``colour`` if the winning row has the colour of the black row's first card,
    else ``inverse``. Where none wins, which of the two it is.
    """
    won = winner(cards)
    if won in ROWS:
        return ("colour",) if is_red(cards[0]) == (won == "red") else ("inverse",)
    return (won,)


def hands(cards: Sequence[str]) -> tuple[Hand, ...]:
    """The rows as the result shows them. After a refait neither has won, lost or tied: it returns
    no stake.
    """
    won = winner(cards)
    found = []
    for row, own in zip(ROWS, rows(cards), strict=True):
        outcome: Literal["win", "lose", "tie"] = (
            "win" if won == row else "tie" if won == "tie" else "lose"
        )
        found.append(
            Hand(
                who=row, cards=own, points=points(own), outcome=None if won == "refait" else outcome
            )
        )
    return tuple(found)
