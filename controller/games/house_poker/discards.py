"""The bank's discards in house poker with discards: the rule leaves it no choice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from controller.games.decks import RANK_ORDER
from controller.games.hands.evaluator import value

PAT_HANDS = ("royal_flush", "straight_flush", "four", "full_house", "flush", "straight")
"""A straight or more: no card is discarded."""
RUN_CARDS = 4


def bank_discards(cards: Sequence[str], ranking: str) -> tuple[str, ...]:
    """The cards that the bank discards of these five, by EUS96 12, 7.3, rules 1 to 7."""
    category = value(cards, ranking).category
    times = Counter(card[0] for card in cards)
    alone = sorted(
        (card for card in cards if times[card[0]] == 1), key=lambda card: RANK_ORDER.index(card[0])
    )
    if category in PAT_HANDS:
        return ()
    if category in ("trips", "two_pair"):
        return tuple(alone)
    if category == "pair":
        return tuple(alone[:2])
    suits = Counter(card[1] for card in cards)
    if RUN_CARDS in suits.values():
        return tuple(card for card in cards if suits[card[1]] == 1)
    for off in (alone[0], alone[-1]):  # four in a row leave out the lowest or the highest
        ranks = [RANK_ORDER.index(card[0]) for card in alone if card != off]
        if ranks[-1] - ranks[0] == RUN_CARDS - 1:
            return (off,)
    return tuple(alone[:2])
