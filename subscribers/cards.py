"""Card notation for people, and the points of a baccarat hand."""

from __future__ import annotations

from collections.abc import Iterable

from common.cards import JOKER, SUITS, short

__all__ = ["JOKER", "SUITS", "points", "short"]


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
