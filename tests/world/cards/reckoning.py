"""What rounds come to by their cards, reckoned without the games: each function returns what is
wrong with an outcome, or None.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from simulators.shoe import baccarat

RANKS = "23456789TJQKA"


def punto_banca(outcome: dict[str, Any]) -> str | None:
    """By the simulator's table of third cards."""
    hands = {hand["who"]: hand["cards"] for hand in outcome["hands"]}
    if (to := baccarat.next_hand(hands)) is not None:
        return f"a card is missing for {to}"
    if any(hand["points"] != baccarat.points(hand["cards"]) for hand in outcome["hands"]):
        return "the points"
    if outcome["winner"] != baccarat.winner(hands):
        return f"{baccarat.winner(hands)} wins"
    return None


def _points(cards: list[str]) -> int:
    total = sum(min(RANKS.index(card[0]) + 2, 10) if card[0] != "A" else 1 for card in cards)
    has_ace = any(card[0] == "A" for card in cards)
    return total + 10 if has_ace and total <= 11 else total


def blackjack(outcome: dict[str, Any]) -> str | None:
    """By plain counting."""
    if "hands_unknown" in outcome.get("marks", ()):
        return None
    *hands, dealer = outcome["hands"]
    bank = _points(dealer["cards"])
    for hand in hands:
        own, found = _points(hand["cards"]), hand.get("outcome")
        if hand["points"] != own and "double" not in str(hand):
            return f"{hand['who']} has {own}"
        if hand.get("kind") in ("surrender", "blackjack"):
            continue
        wanted = "lose" if own > 21 else "win" if bank > 21 or own > bank else None
        wanted = wanted or ("lose" if own < bank else None)
        if wanted is not None and found != wanted:
            return f"{hand['who']} with {own} against {bank}"
    return None


def _strength(cards: list[str]) -> tuple[object, ...]:
    counts = Counter(RANKS.index(card[0]) for card in cards)
    order = sorted(counts, key=lambda rank: (counts[rank], rank), reverse=True)
    shape = tuple(sorted(counts.values(), reverse=True))
    high = max(order)
    if set(order) == {12, 0, 1, 2, 3}:
        high, straight = 3, True
    else:
        straight = len(counts) == 5 and high - min(order) == 4
    flush = len({card[1] for card in cards}) == 1
    kinds = [
        flush and straight,
        shape == (4, 1),
        shape == (3, 2),
        flush,
        straight,
        shape == (3, 1, 1),
        shape == (2, 2, 1),
        shape == (2, 1, 1, 1),
        True,
    ]
    return (-kinds.index(True), (high,) if straight else tuple(order))


def poker(outcome: dict[str, Any]) -> str | None:
    """By the order of hands of five cards; the bank plays with ace and king."""
    hands = {hand["who"]: hand for hand in outcome["hands"]}
    bank = hands.get("dealer")
    if bank is None or len(bank["cards"]) != 5:
        return None
    for who, hand in hands.items():
        if who == "dealer" or len(hand["cards"]) != 5 or hand.get("outcome") is None:
            continue
        own, other = _strength(hand["cards"]), _strength(bank["cards"])
        wanted = "win" if own > other else "lose" if own < other else "tie"
        if hand["outcome"] != wanted:
            return f"{who} should {wanted}"
    return None


RECKON: Mapping[str, Callable[[dict[str, Any]], str | None]] = {
    "punto-banca": punto_banca,
    "blackjack": blackjack,
    "poker-no-draw": poker,
}
