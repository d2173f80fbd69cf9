"""The evaluator against a published one, pokerkit: each hand there is, its category and its place
in the order.
"""

from __future__ import annotations

import random
from itertools import combinations
from math import comb
from typing import cast

import pytest
from pokerkit.hands import OmahaEightOrBetterLowHand, OmahaHoldemHand, StandardHighHand
from pokerkit.lookups import (
    EightOrBetterLookup,
    Label,
    Lookup,
    RhodeIslandHoldemLookup,
    ShortDeckHoldemLookup,
    StandardLookup,
)
from pokerkit.utilities import Card, RankOrder

from controller.games.decks import deck
from controller.games.hands.evaluator import RANKINGS, Category, Value, best, best_of, value

CARDS = {card: next(Card.parse(card)) for card in deck("deck_52")}

LABELS: dict[Category, Label] = {
    "royal_flush": Label.STRAIGHT_FLUSH,
    "straight_flush": Label.STRAIGHT_FLUSH,
    "four": Label.FOUR_OF_A_KIND,
    "full_house": Label.FULL_HOUSE,
    "flush": Label.FLUSH,
    "straight": Label.STRAIGHT,
    "trips": Label.THREE_OF_A_KIND,
    "two_pair": Label.TWO_PAIR,
    "pair": Label.ONE_PAIR,
    "high_card": Label.HIGH_CARD,
}


class Pack32(ShortDeckHoldemLookup):
    """The published order of short packs, flush over full house, from 7 to ace."""

    rank_order = cast("RankOrder", RankOrder.STANDARD[5:])


class Pack28(ShortDeckHoldemLookup):
    """The same from 8 to ace."""

    rank_order = cast("RankOrder", RankOrder.STANDARD[6:])


def strength(hand: Value | None) -> tuple[int, ...]:
    assert hand is not None
    return hand.key


@pytest.mark.parametrize(
    ("ranking", "published", "hands", "classes"),
    [
        ("five-52", StandardLookup(), 2_598_960, 7_462),
        ("five-32", Pack32(), 201_376, 840),
        ("five-28", Pack28(), 98_280, 476),
        ("three", RhodeIslandHoldemLookup(), 22_100, 741),
    ],
)
@pytest.mark.rule("BAL09-056")
@pytest.mark.rule("BAL09-058")
@pytest.mark.rule("BAL05-135")
@pytest.mark.rule("EUS96-209")
def test_every_hand_there_is_has_its_published_category_and_place(
    ranking: str, published: Lookup, hands: int, classes: int
) -> None:
    places: set[tuple[int, tuple[int, ...]]] = set()
    labels: set[tuple[Category, Label]] = set()
    for cards in combinations(deck(ranking), RANKINGS[ranking].size):
        ours = value(cards, ranking)
        theirs = published.get_entry(tuple(map(CARDS.__getitem__, cards)))
        places.add((theirs.index, ours.key))
        labels.add((ours.category, theirs.label))
    assert hands == comb(len(deck(ranking)), RANKINGS[ranking].size)
    assert labels == {(category, LABELS[category]) for category in RANKINGS[ranking].categories}
    in_their_order = [key for _, key in sorted(places)]
    assert in_their_order == sorted(
        set(in_their_order)
    )  # as strong as each other here exactly where there, and in one order
    assert len(places) == classes


def test_every_hand_up_to_eight_has_its_published_place_among_the_low_ones() -> None:
    published = EightOrBetterLookup()
    places: set[tuple[int, tuple[int, ...]]] = set()
    for cards in combinations([card for card in deck("low-8") if card[0] in "A23456789"], 5):
        theirs = published.get_entry_or_none(tuple(map(CARDS.__getitem__, cards)))
        ours = best(cards, "low-8")
        assert (ours is None) == (theirs is None)
        if ours is not None and theirs is not None:
            places.add((theirs.index, ours.key))
    in_their_order = [
        key for _, key in sorted(places, reverse=True)
    ]  # there the lowest index is the lowest hand
    assert in_their_order == sorted(set(in_their_order))
    assert len(places) == 56  # five of eight ranks


def test_the_best_of_seven_cards_beats_where_the_published_one_does() -> None:
    pick = random.Random(7).sample
    for _ in range(4_000):
        *common, a, b, c, d = pick(deck("five-52"), 9)
        one, two = (strength(best_of(own, common, "five-52")) for own in ((a, b), (c, d)))
        first, second = (StandardHighHand.from_game(own, "".join(common)) for own in (a + b, c + d))
        assert (one > two, one < two) == (first > second, first < second)


@pytest.mark.parametrize("own", [4, 5])
@pytest.mark.rule("BAL09-059")
def test_two_own_cards_and_three_common_ones_beat_where_the_published_ones_do(own: int) -> None:
    pick = random.Random(own).sample
    for _ in range(1_000):
        cards = pick(deck("five-52"), 5 + 2 * own)
        common, hands = cards[:5], (cards[5 : 5 + own], cards[5 + own :])
        one, two = (strength(best_of(hand, common, "five-52", 2)) for hand in hands)
        first, second = (
            OmahaHoldemHand.from_game("".join(hand), "".join(common)) for hand in hands
        )
        assert (one > two, one < two) == (first > second, first < second)


def test_the_low_hand_of_two_own_and_three_common_cards_is_as_published() -> None:
    pick = random.Random(8).sample
    both = 0
    for _ in range(2_000):
        cards = pick(deck("low-8"), 13)
        common, hands = cards[:5], (cards[5:9], cards[9:])
        ours = [best_of(hand, common, "low-8", 2) for hand in hands]
        first, second = (
            OmahaEightOrBetterLowHand.from_game_or_none("".join(hand), "".join(common))
            for hand in hands
        )
        assert [hand is None for hand in ours] == [first is None, second is None]
        if first is not None and second is not None:
            both += 1
            one, two = map(strength, ours)
            assert (one > two, one < two) == (first > second, first < second)
    assert both > 100
