"""The number of hands of each kind, against arithmetic that is independent of the evaluator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import combinations
from math import comb

import pytest

from controller.games.decks import JOKER, deck
from controller.games.hands.evaluator import RANKINGS, value


def count(ranking: str) -> Mapping[str, int]:
    return Counter(
        value(cards, ranking).category
        for cards in combinations(deck(ranking), RANKINGS[ranking].size)
    )


def five_of(ranks: int) -> dict[str, int]:
    """Counts of five cards of this many ranks in four suits. The ace is at both ends, so there are
    ``ranks - 3`` runs.
    """
    runs = ranks - 3
    different = comb(ranks, 5)
    return {
        "royal_flush": 4,
        "straight_flush": (runs - 1) * 4,
        "four": ranks * (ranks - 1) * 4,
        "full_house": ranks * comb(4, 3) * (ranks - 1) * comb(4, 2),
        "flush": (different - runs) * 4,
        "straight": runs * (4**5 - 4),
        "trips": ranks * comb(4, 3) * comb(ranks - 1, 2) * 4**2,
        "two_pair": comb(ranks, 2) * comb(4, 2) ** 2 * (ranks - 2) * 4,
        "pair": ranks * comb(4, 2) * comb(ranks - 1, 3) * 4**3,
        "high_card": (different - runs) * (4**5 - 4),
    }


PUBLISHED = {
    13: "4 36 624 3744 5108 10200 54912 123552 1098240 1302540",
    8: "4 16 224 1344 204 5100 10752 24192 107520 52020",
    7: "4 12 168 1008 68 4080 6720 15120 53760 17340",
}


@pytest.mark.parametrize(("ranking", "ranks"), [("five-32", 8), ("five-28", 7)])
@pytest.mark.rule("BAL05-139")
@pytest.mark.rule("ARA02-143")
def test_each_kind_is_as_frequent_as_arithmetic_says(ranking: str, ranks: int) -> None:
    assert count(ranking) == five_of(ranks)


@pytest.mark.parametrize("ranks", PUBLISHED)
def test_the_arithmetic_gives_the_published_numbers(ranks: int) -> None:
    assert " ".join(map(str, five_of(ranks).values())) == PUBLISHED[ranks]
    assert sum(five_of(ranks).values()) == comb(ranks * 4, 5)


@pytest.mark.rule("BAL09-057")
def test_figures_take_from_the_pairs_and_two_pairs_those_of_ace_king_queen_and_jack_alone() -> None:
    pairs = 4 * comb(4, 2) * 1 * 4**3  # one of four ranks twice, the three others once
    two_pairs = (
        comb(4, 2) * comb(4, 2) ** 2 * 2 * 4
    )  # two of four ranks twice, one of the two others once
    expected = five_of(8)
    expected["pair"] -= pairs
    expected["two_pair"] -= two_pairs
    assert count("five-32-figures") == expected | {"figures": pairs + two_pairs}


def test_three_cards_are_as_frequent_as_arithmetic_says() -> None:
    assert count("three") == {
        "royal_flush": 4,
        "straight_flush": 11 * 4,
        "trips": 13 * 4,
        "straight": 12 * (4**3 - 4),
        "flush": (comb(13, 3) - 12) * 4,
        "pair": 13 * comb(4, 2) * 12 * 4,
        "high_card": (comb(13, 3) - 12) * (4**3 - 4),
    }


@pytest.mark.rule("BAL09-064")
def test_hands_with_the_joker_are_as_frequent_as_published() -> None:
    with_joker = Counter(
        value((*cards, JOKER), "five-53").category for cards in combinations(deck("five-52"), 4)
    )
    assert Counter(five_of(13)) + with_joker == {
        "five_aces": 1,
        "royal_flush": 24,
        "straight_flush": 180,
        "four": 828,
        "full_house": 4_368,
        "flush": 7_804,
        "straight": 20_532,
        "trips": 63_360,
        "two_pair": 138_600,
        "pair": 1_215_024,
        "high_card": 1_418_964,
    }


def test_two_cards_with_the_joker_are_as_frequent_as_arithmetic_says() -> None:
    pairs = 13 * comb(4, 2) + 4  # and the joker with each ace
    assert count("two-53") == {"pair": pairs, "high_card": comb(53, 2) - pairs}
