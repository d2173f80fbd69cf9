"""Cards: rank then suit, ``A 2-9 T J Q K`` and ``c d h s``."""

from __future__ import annotations

from collections import Counter

RANKS = "A23456789TJQK"
SUITS = "cdhs"
DECK = tuple(rank + suit for suit in SUITS for rank in RANKS)
"""The 52 cards."""

CARDS = frozenset(DECK)
RED = frozenset("dh")


def is_card(text: str) -> bool:
    """Whether this is a card of the 52."""
    return text in CARDS


def composition(decks: int) -> Counter[str]:
    """The number of copies of each card in a number of decks."""
    return Counter(dict.fromkeys(DECK, decks))


def is_red(card: str) -> bool:
    return card[1] in RED


def pips(card: str) -> int:
    """Ace 1, the numbers their number, tens and figures 10."""
    return min(RANKS.index(card[0]) + 1, 10)
