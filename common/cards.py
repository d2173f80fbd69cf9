"""Cards in the notation that people read."""

from __future__ import annotations

SUITS = {"c": "♣", "d": "♦", "h": "♥", "s": "♠"}
JOKER = "X"


def short(card: str) -> str:
    """Return a card in the usual notation: ``10♥``; a star for the joker."""
    if card == JOKER:
        return "★"
    return card[:-1].replace("T", "10") + SUITS.get(card[-1:], "?")
