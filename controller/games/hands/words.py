"""The name of a hand of poker in words: ``two pair, kings and fours, ace``."""

from __future__ import annotations

from collections.abc import Mapping

from controller.games.hands.evaluator import RANKINGS, Category, Value

NAMES: Mapping[str, tuple[str, str]] = {
    "A": ("ace", "aces"),
    "K": ("king", "kings"),
    "Q": ("queen", "queens"),
    "J": ("jack", "jacks"),
    "T": ("ten", "tens"),
    "9": ("nine", "nines"),
    "8": ("eight", "eights"),
    "7": ("seven", "sevens"),
    "6": ("six", "sixes"),
    "5": ("five", "fives"),
    "4": ("four", "fours"),
    "3": ("three", "threes"),
    "2": ("two", "twos"),
}
"""Of one card and of several."""

ALL_CARDS = 5
WORDS: Mapping[Category, tuple[str, int]] = {
    "five_aces": ("five aces", ALL_CARDS),
    "royal_flush": ("royal flush", ALL_CARDS),
    "straight_flush": ("straight flush, {one[0]} high", ALL_CARDS),
    "four": ("four {many[0]}", 4),
    "full_house": ("full house, {many[0]} over {many[3]}", ALL_CARDS),
    "flush": ("flush", 0),
    "straight": ("straight, {one[0]} high", ALL_CARDS),
    "trips": ("three {many[0]}", 3),
    "figures": ("figures, a pair of {many[0]}", 2),
    "two_pair": ("two pair, {many[0]} and {many[2]}", 4),
    "pair": ("a pair of {many[0]}", 2),
    "high_card": ("high card", 0),
}
"""The words, and the number of cards they name, the most significant ones; the others follow by
name.
"""


def in_words(hand: Value, ranking_id: str) -> str:
    """The hand in words. The joker is named as what it stands for."""
    ranking = RANKINGS[ranking_id]
    if hand.category in ("straight", "straight_flush", "royal_flush"):
        ranks = ranking.straights[-hand.key[1]]
    else:
        ranks = "".join(ranking.ranks[abs(place)] for place in hand.key[1:])
    one, many = zip(*map(NAMES.__getitem__, ranks), strict=True)
    words, count = ("low", 0) if ranking.lowest_wins else WORDS[hand.category]
    return ", ".join((words.format(one=one, many=many), *one[count:]))
