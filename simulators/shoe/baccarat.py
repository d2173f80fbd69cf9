"""Punto y banca as far as a shoe needs it: which hand gets the next card, and which has won."""

from __future__ import annotations

from common.randomness import Random

RANKS, SUITS = "A23456789TJQK", "cdhs"
CARDS = tuple(rank + suit for rank in RANKS for suit in SUITS)
BANK_DRAWS = (
    "TTTTTTTTTTT",
    "TTTTTTTTTTT",
    "TTTTTTTTTTT",
    "TTTTTTTTPTT",
    "PPTTTTTTPPT",
    "PPPPTTTTPPT",
    "PPPPPPTTPPP",
    "PPPPPPPPPPP",
)
"""Rows: the bank's points; columns: the player's third card, 0 to 9, and last the player standing.
T: the bank draws; P: it does not.
"""

Hands = dict[str, list[str]]
"""``player`` or ``banker`` -> cards."""


def shuffled(decks: int, random: Random) -> list[str]:
    """Return the shuffled cards of ``decks`` decks; the first to be drawn is last."""
    cards = [*CARDS] * decks
    random.shuffle(cards)
    return cards


def value(card: str) -> int:
    """Return the value of a card; tens and pictures count 0."""
    return (RANKS.index(card[0]) + 1) % 10 if card[0] not in "TJQK" else 0


def points(cards: list[str]) -> int:
    """Return the points of a hand: the last digit of the sum."""
    return sum(map(value, cards)) % 10


def burned(card: str) -> int:
    """Return the number of cards to burn for the card shown: ten for a ten or a picture."""
    return value(card) or 10


def next_hand(hands: Hands) -> str | None:
    """Return the hand that gets the next card. None: the coup is over."""
    player, banker = hands["player"], hands["banker"]
    if len(player) + len(banker) < 4:
        return "player" if len(player) == len(banker) else "banker"
    if max(points(player[:2]), points(banker[:2])) >= 8:
        return None
    if len(player) == 2 and len(banker) == 2 and points(player) <= 5:
        return "player"
    column = value(player[2]) if len(player) == 3 else 10
    draws = len(banker) == 2 and BANK_DRAWS[points(banker)][column] == "T"
    return "banker" if draws else None


def winner(hands: Hands) -> str:
    """Return ``player``, ``banker`` or ``tie``."""
    player, banker = points(hands["player"]), points(hands["banker"])
    return "tie" if player == banker else "player" if player > banker else "banker"


def pairs(hands: Hands) -> tuple[str, ...]:
    """Return the hands whose first two cards form a pair."""
    return tuple(hand for hand, cards in hands.items() if cards[0][0] == cards[1][0])
