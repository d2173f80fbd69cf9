"""The evaluator against a published one, pokerkit: each possible hand, its category and its place
in the order.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import combinations, cycle, permutations, product
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
from tests.conftest import cases

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
    """The published order of short packs from 8 to ace."""

    rank_order = cast("RankOrder", RankOrder.STANDARD[6:])


def strength(hand: Value | None) -> tuple[int, ...]:
    assert hand is not None
    return hand.key


SUITS = tuple(permutations("shdc"))


def partitions(size: int, most: int = 4) -> Iterator[tuple[int, ...]]:
    """Counts of cards per rank in a hand of this size: each at most four."""
    if size == 0:
        yield ()
    for count in range(1, min(size, most) + 1):
        for rest in partitions(size - count, most):
            yield (count, *rest)


def alike(counts: tuple[int, ...]) -> dict[tuple[str, ...], int]:
    """The suits of a hand with these counts of cards per rank: one of all that differ in the names
    of the suits alone, and how many these are.
    """
    found: dict[tuple[str, ...], int] = {}
    for suits in product(*(combinations("shdc", count) for count in counts)):
        names = (dict(zip("shdc", other, strict=True)) for other in SUITS)
        named = {
            tuple("".join(sorted(new[suit] for suit in each)) for each in suits) for new in names
        }
        found[min(named)] = len(named)
    return found


def up_to_suits(pack: Sequence[str], size: int) -> Iterator[tuple[tuple[str, ...], int]]:
    """Every hand of this pack except for the names of its suits, which rotate, and the number of
    hands that it represents.
    """
    ranks = tuple(dict.fromkeys(card[0] for card in pack))
    turns = cycle(SUITS)
    for counts in partitions(size):
        patterns = alike(counts)
        for chosen in combinations(ranks, len(counts)):
            for suits, stands_for in patterns.items():
                named = dict(zip("shdc", next(turns), strict=True))
                hand = [
                    rank + named[suit]
                    for rank, each in zip(chosen, suits, strict=True)
                    for suit in each
                ]
                yield tuple(hand), stands_for


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
def test_every_hand_has_its_published_category_and_place(
    ranking: str, published: Lookup, hands: int, classes: int, long: bool
) -> None:
    """The short form has one of those that differ in the names of their suits alone."""
    places: set[tuple[int, tuple[int, ...]]] = set()
    labels: set[tuple[Category, Label]] = set()
    pack, size, counted = deck(ranking), RANKINGS[ranking].size, 0
    every = ((cards, 1) for cards in combinations(pack, size))
    for cards, stands_for in every if long else up_to_suits(pack, size):
        counted += stands_for
        ours = value(cards, ranking)
        theirs = published.get_entry(tuple(map(CARDS.__getitem__, cards)))
        places.add((theirs.index, ours.key))
        labels.add((ours.category, theirs.label))
    assert hands == counted == comb(len(pack), size)
    assert labels == {(category, LABELS[category]) for category in RANKINGS[ranking].categories}
    in_their_order = [key for _, key in sorted(places)]
    assert in_their_order == sorted(
        set(in_their_order)
    )  # equally strong here exactly where they are there, and in one order
    assert len(places) == classes


def test_every_hand_up_to_eight_has_its_published_place_among_the_low_ones(long: bool) -> None:
    published = EightOrBetterLookup()
    places: set[tuple[int, tuple[int, ...]]] = set()
    pack = [card for card in deck("low-8") if card[0] in "A23456789"]
    every = ((cards, 1) for cards in combinations(pack, 5))
    for cards, _ in every if long else up_to_suits(pack, 5):
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
    for _ in range(cases(1_000, 4_000)):
        *common, a, b, c, d = pick(deck("five-52"), 9)
        one, two = (strength(best_of(own, common, "five-52")) for own in ((a, b), (c, d)))
        first, second = (StandardHighHand.from_game(own, "".join(common)) for own in (a + b, c + d))
        assert (one > two, one < two) == (first > second, first < second)


@pytest.mark.parametrize("own", [4, 5])
@pytest.mark.rule("BAL09-059")
def test_two_own_cards_and_three_common_ones_beat_where_the_published_ones_do(own: int) -> None:
    pick = random.Random(own).sample
    for _ in range(cases(250, 1_000)):
        cards = pick(deck("five-52"), 5 + 2 * own)
        common, hands = cards[:5], (cards[5 : 5 + own], cards[5 + own :])
        one, two = (strength(best_of(hand, common, "five-52", 2)) for hand in hands)
        first, second = (
            OmahaHoldemHand.from_game("".join(hand), "".join(common)) for hand in hands
        )
        assert (one > two, one < two) == (first > second, first < second)


def test_the_low_hand_of_two_own_and_three_common_cards_is_as_published() -> None:
    pick = random.Random(8).sample
    both, deals = 0, cases(500, 2_000)
    for _ in range(deals):
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
    assert both > deals / 20
