"""How often the bank plays and how often hands occur: counted over every hand, against published
figures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, combinations_with_replacement
from math import comb, prod

import pytest

from controller.games.decks import DECKS, RANK_ORDER
from controller.games.hands.evaluator import Value, value
from controller.games.house_poker.pays import qualifies
from controller.rulebooks.house_poker import Threshold
from tests.controller.rulebooks.test_rulebook_house_poker import book_of
from tests.support.for_each import for_each

FIVE = comb(52, 5)
THREE = comb(52, 3)


def kinds() -> Iterator[tuple[Value, int]]:
    """Every five cards, as far as suits matter: their value, and how many hands have it."""
    for ranks in combinations_with_replacement(RANK_ORDER, 5):
        times = Counter(ranks)
        if max(times.values()) > 4:
            continue
        suits = [suit for number in times.values() for suit in "cdhs"[:number]]
        if len(times) == 5:
            suits[0] = "d"  # not all of one suit
            yield value([rank + "c" for rank in ranks], "five-52"), 4
        number = prod(comb(4, each) for each in times.values()) - (4 if len(times) == 5 else 0)
        yield (
            value(
                [
                    rank + suit
                    for rank, suit in zip(sorted(ranks, key=list(times).index), suits, strict=True)
                ],
                "five-52",
            ),
            number,
        )


def three() -> list[Value]:
    return [value(cards, "three") for cards in combinations(DECKS["deck_52"], 3)]


@pytest.mark.parametrize("decree", ["BAL05", "ARA02", "EUS96"])
def test_the_bank_plays_with_ace_and_king_as_often_as_is_published(decree: str) -> None:
    book = book_of("poker-no-draw", decree)
    plays = sum(number for hand, number in kinds() if qualifies(hand, "five-52", book.qualifies))
    assert plays == FIVE - (
        1_302_540 - 167_280
    )  # of the hands without a pair, those with ace and king play
    assert round(plays / FIVE, 4) == 0.5632


def test_hands_of_five_come_as_often_as_is_published() -> None:
    found: Counter[str] = Counter()
    for hand, number in kinds():
        found[hand.category] += number
    assert found.total() == FIVE
    assert found == {
        "royal_flush": 4,
        "straight_flush": 36,
        "four": 624,
        "full_house": 3_744,
        "flush": 5_108,
        "straight": 10_200,
        "trips": 54_912,
        "two_pair": 123_552,
        "pair": 1_098_240,
        "high_card": 1_302_540,
    }


def test_a_pair_of_eights_or_better_comes_as_often_as_is_counted_by_hand() -> None:
    threshold = book_of("poker-draw-house", "EUS96").qualifies
    plays = sum(number for hand, number in kinds() if qualifies(hand, "five-52", threshold))
    pairs = 7 * comb(4, 2) * comb(12, 3) * 4**3  # 8 to ace
    assert plays == FIVE - 1_302_540 - 1_098_240 + pairs


@pytest.mark.parametrize("decree", ["BAL09", "EUS96"])
def test_the_bank_plays_with_a_queen_as_often_as_is_published(decree: str) -> None:
    book = book_of("three-card-poker", decree)
    plays = sum(qualifies(hand, "three", book.qualifies) for hand in three())
    assert plays == 15_380
    assert round(plays / THREE, 4) == 0.6959


def test_hands_of_three_come_as_often_as_is_published() -> None:
    assert Counter(hand.category for hand in three()) == {
        "royal_flush": 4,
        "straight_flush": 44,
        "trips": 52,
        "straight": 720,
        "flush": 1_096,
        "pair": 3_744,
        "high_card": 16_440,
    }


@pytest.mark.parametrize(("table", "back"), [(1, -0.071), (2, -0.0232), (3, -0.027)])
def test_the_return_of_the_bet_on_a_pair(table: int, back: float) -> None:
    """The expected loss of one unit under each of the three tables: 7.10, 2.32 and 2.70 % stay with
    the house.
    """
    pays = book_of("three-card-poker", "BAL09").sides["pair_plus"].tables[table - 1]
    gain = sum(pays[hand.category][0] if hand.category in pays else -1 for hand in three())
    assert round(gain / THREE, 4) == back


@for_each(
    ("cards", "threshold", "plays"),
    [
        ("As Kd 7c 4h 2d", Threshold("high_card", "AK"), True),
        ("As Qd Jc Th 9d", Threshold("high_card", "AK"), False),
        ("2s 2d 7c 4h 3d", Threshold("high_card", "AK"), True),
        ("8s 8d 3c 4h 2d", Threshold("pair", "8"), True),
        ("7s 7d Ac Kh Qd", Threshold("pair", "8"), False),
        ("2s 2d 3c 3h 4d", Threshold("pair", "8"), True),
    ],
)
def test_the_lowest_hand_that_the_bank_plays_with(
    cards: str, threshold: Threshold, plays: bool
) -> None:
    assert qualifies(value(cards.split(), "five-52"), "five-52", threshold) is plays
