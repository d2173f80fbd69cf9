"""Card notation for people, and the points of a baccarat hand."""

from __future__ import annotations

from collections.abc import Iterable

SUITS = {"c": "♣", "d": "♦", "h": "♥", "s": "♠"}
JOKER = "X"


def short(card: str) -> str:
    """Return a card in the usual notation: ``10♥``; a star for the joker."""
    if card == JOKER:
        return "★"
    return card[:-1].replace("T", "10") + SUITS.get(card[-1:], "?")


def points(hand: Iterable[str | None]) -> int:
    """Return the last digit of the sum; tens, court cards and unknown cards count 0."""
    return (
        sum(
            "0A23456789".find(card[0])
            for card in hand
            if card is not None and card[0] in "A23456789"
        )
        % 10
    )
