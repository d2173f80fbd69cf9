"""A card on the terminal: its colours, and its short name."""

from __future__ import annotations

from subscribers.cards import SUITS
from subscribers.display.cards import CardPicture

RED, BLACK, BACK = "bold #c00020 on #f4f4f0", "bold #101010 on #f4f4f0", "#93a4dd on #27336b"


def short(card: CardPicture) -> str:
    """Return ``10♥``; a star for the joker; empty if the card is face down."""
    return f"{card.rank or ''}{SUITS.get(card.suit or '', '')}"


def style(card: CardPicture) -> str:
    """Return the colours of a card, or those of its back."""
    if card.rank is None:
        return BACK
    return RED if card.suit in ("d", "h") else BLACK
