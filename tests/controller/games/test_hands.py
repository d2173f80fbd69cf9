"""Hands in the decrees: their order, the ace, figures, the joker, and who wins between hands of one
kind.
"""

from __future__ import annotations

from itertools import combinations

import pytest

from controller.games.decks import deck
from controller.games.hands.evaluator import Value, best, best_of, showing, value
from tests.support.for_each import for_each


def split(text: str) -> list[str]:
    return text.split()


def hand(text: str, ranking: str) -> Value:
    return value(text.split(), ranking)


def falling(ranking: str, *hands: str) -> None:
    """Check that each hand beats the next."""
    keys = [hand(cards, ranking).key for cards in hands]
    assert keys == sorted(set(keys), reverse=True)


def equal(ranking: str, *hands: str) -> None:
    assert len({hand(cards, ranking).key for cards in hands}) == 1


@pytest.mark.parametrize("ranking", ["five-52", "five-53"])
@pytest.mark.rule("BAL09-056")
@pytest.mark.rule("BAL05-135")
def test_with_all_cards_a_full_house_beats_a_flush(ranking: str) -> None:
    falling(
        ranking,
        "Ah Kh Qh Jh Th",
        "9s 8s 7s 6s 5s",
        "2c 2d 2h 2s 3c",
        "2c 2d 2h 3s 3c",
        "Ad Kd Qd Jd 9d",
        "Ad Kd Qd Jd Tc",
        "2c 2d 2h 3s 4c",
        "3c 3d 2h 2s 4c",
        "2c 2d 3h 4s 5c",
        "Ac Kd Qh Js 9c",
    )


@pytest.mark.parametrize("ranking", ["five-32", "five-28", "five-52-flush"])
@pytest.mark.rule("BAL09-056")
@pytest.mark.rule("BAL05-139")
@pytest.mark.rule("ARA02-143")
@pytest.mark.rule("EUS96-209")
def test_with_fewer_cards_a_flush_beats_a_full_house(ranking: str) -> None:
    falling(
        ranking,
        "Ah Kh Qh Jh Th",
        "Qs Js Ts 9s 8s",
        "8c 8d 8h 8s 9c",
        "Td 9d 8d Qd Ad",
        "Ac Ad Ah Ks Kc",
        "Ad Kd Qd Jd Tc",
        "8c 8d 8h 9s Tc",
        "9c 9d 8h 8s Tc",
        "8c 8d 9h Ts Jc",
    )


@for_each(
    ("ranking", "lowest", "next_one"),
    [
        ("five-52", "Ac 2d 3h 4s 5c", "2d 3h 4s 5c 6c"),
        ("five-52-figures", "Ac 2d 3h 4s 5c", "2d 3h 4s 5c 6c"),
        ("five-32", "Ac 7d 8h 9s Tc", "7d 8h 9s Tc Jc"),
        ("five-32-figures", "Ac 7d 8h 9s Tc", "7d 8h 9s Tc Jc"),
        ("five-28", "Ac 8d 9h Ts Jc", "8d 9h Ts Jc Qc"),
        ("three", "Ac 2d 3h", "2d 3h 4s"),
    ],
)
@pytest.mark.rule("BAL09-058")
@pytest.mark.rule("BAL05-139")
@pytest.mark.rule("ARA02-143")
def test_the_ace_before_the_lowest_card_makes_the_lowest_straight(
    ranking: str, lowest: str, next_one: str
) -> None:
    assert hand(lowest, ranking).category == "straight"
    falling(ranking, next_one, lowest)
    assert hand(lowest, ranking).cards[-1] == "Ac"


@pytest.mark.rule("EUS96-171")
@pytest.mark.rule("BAL05-135")
@pytest.mark.parametrize(
    ("ranking", "wrapped"),
    [
        ("five-52", "Kc Ad 2h 3s 4c"),
        ("five-52", "Jc Qd Kh As 2c"),
        ("five-32", "Kc Ad 7h 8s 9c"),
        ("five-28", "Qc Kd Ah 8s 9c"),
    ],
)
def test_no_straight_continues_after_the_ace(ranking: str, wrapped: str) -> None:
    assert hand(wrapped, ranking).category == "high_card"


@pytest.mark.parametrize("ranking", ["five-32-figures", "five-52-figures"])
@pytest.mark.rule("BAL09-057")
def test_figures_lie_between_trips_and_two_pair(ranking: str) -> None:
    falling(ranking, "7c 7d 7h 8s 9c", "Jc Jd Ah Ks Qc", "Ac Ad Kh Ks Tc", "Ac Ad Kh Qs Tc")
    assert hand("Jc Jd Ah Ks Qc", ranking).category == "figures"
    assert hand("Jc Jd Jh Ks Kc", ranking).category == "full_house"
    assert hand("Jc Jd Jh Ks Qc", ranking).category == "trips"


@pytest.mark.parametrize("ranking", ["five-32-figures", "five-52-figures"])
@pytest.mark.rule("BAL09-057")
def test_between_figures_the_highest_pair_wins_then_the_highest_card(ranking: str) -> None:
    falling(
        ranking,
        "Ac Ad Kh Ks Qc",
        "Ac Ad Kh Ks Jc",
        "Ac Ad Kh Qs Qc",
        "Ac Ad Kh Qs Jc",
        "Ac Ad Qh Qs Jc",
        "Kc Kd Ah Qs Qc",
        "Kc Kd Ah Qs Jc",
        "Kc Kd Qh Qs Jc",  # its second pair counts for less than the ace
        "Qc Qd Ah Js Jc",
        "Jc Jd Ah Ks Qc",
    )
    equal(ranking, "Ac Ad Kh Qs Jc", "Ah As Kd Qc Jd")


@pytest.mark.parametrize("ranking", ["five-52", "five-32", "five-28"])
def test_figures_count_at_covered_poker_alone(ranking: str) -> None:
    assert hand("Jc Jd Ah Ks Qc", ranking).category == "pair"


TIES = {
    "four": ("Kc Kd Kh Ks 2c", "Qc Qd Qh Qs Ac"),
    "full_house": ("Kc Kd Kh 2s 2c", "Qc Qd Qh As Ac"),
    "straight": ("9c 8d 7h 6s 5c", "8d 7h 6s 5c 4d"),
    "straight_flush": ("9c 8c 7c 6c 5c", "8d 7d 6d 5d 4d"),
    "flush": ("Ac 7c 5c 3c 2c", "Kd Qd Jd Td 8d", "Kd Qd Jd Td 7d"),
    "trips": ("Kc Kd Kh 3s 2c", "Qc Qd Qh As Kc", "Qc Qd Qh As Jc"),
    "two_pair": ("Ac Ad 3h 3s 2c", "Kc Kd Qh Qs 2c", "Kc Kd Jh Js Ac", "Kc Kd Jh Js Tc"),
    "pair": ("Kc Kd 4h 3s 2c", "Qc Qd Ah 3s 2c", "Qc Qd Kh 9s 2c", "Qc Qd Kh 8s 7c"),
    "high_card": ("Ac 7d 5h 3s 2c", "Kd Qc Jh Ts 8d", "Kd Qc Jh Ts 7d"),
}


@for_each("category", TIES)
@pytest.mark.rule("BAL05-135")
def test_between_hands_of_one_kind_the_cards_decide_in_the_order_that_is_listed(
    category: str,
) -> None:
    assert {hand(cards, "five-52").category for cards in TIES[category]} == {category}
    falling("five-52", *TIES[category])


@for_each(
    ("ranking", "one", "other"),
    [
        ("five-52", "Kc Kd Jh Js Ac", "Kh Ks Jc Jd Ad"),
        ("five-52", "Ah Kh Qh Jh Th", "As Ks Qs Js Ts"),
        ("five-32", "Ac 9c 8c 7c Jc", "Ad 9d 8d 7d Jd"),
        ("three", "Ac 9c 8c", "Ad 9d 8d"),
        ("two-53", "Ac X", "Ah As"),
        ("low-8", "Ac 2c 3c 4c 8c", "Ad 2h 3s 4c 8d"),
    ],
)
def test_suits_decide_nothing(ranking: str, one: str, other: str) -> None:
    equal(ranking, one, other)


@pytest.mark.rule("BAL09-065")
@pytest.mark.rule("EUS96-170")
def test_of_three_cards_trips_beat_a_straight_and_a_straight_beats_a_flush() -> None:
    falling(
        "three",
        "As Ks Qs",
        "Kd Qd Jd",
        "3d 2d Ad",
        "Ac Ad Ah",
        "2c 2d 2h",
        "Ac Kd Qh",
        "3c 2d Ah",
        "Ah Kh Jh",
        "5h 3h 2h",
        "Ac Ad Kh",
        "2c 2d 3h",
        "Ac Kd Jh",
        "5c 3d 2h",
    )
    assert hand("As Ks Qs", "three").category == "royal_flush"
    assert hand("Ks Qs Js", "three").category == "straight_flush"


@pytest.mark.rule("BAL09-064")
def test_five_aces_are_the_highest_hand_and_two_aces_the_highest_low_one() -> None:
    aces = "Ac Ad Ah As X"
    assert hand(aces, "five-53").category == "five_aces"
    falling("five-53", aces, "Ah Kh Qh Jh Th")
    assert (
        max(value(cards, "two-53").key for cards in combinations(deck("two-53"), 2))
        == hand("Ac Ad", "two-53").key
    )


@pytest.mark.rule("EUS96-181")
def test_with_the_joker_in_the_pack_ace_to_five_is_the_second_straight() -> None:
    falling("five-53", "Ac Kd Qh Js Tc", "Ac 2d 3h 4s 5c", "Kc Qd Jh Ts 9c")
    falling("five-53", "Ac Kc Qc Jc Tc", "Ac 2c 3c 4c 5c", "Kc Qc Jc Tc 9c")
    equal("five-53", "X 2d 3h 4s 5c", "Ac 2d 3h 4s 5c")


@for_each(
    ("cards", "category", "same_as"),
    [
        ("X Kc 9d 4h 2s", "high_card", "Ac Kc 9d 4h 2s"),
        ("X Kc Kd 4h 2s", "pair", "Kc Kd Ah 4s 2c"),
        ("X Ac Kd 4h 2s", "pair", "Ac Ad Kd 4h 2s"),
        ("X Ac Ad 4h 4s", "full_house", "Ac Ad Ah 4h 4s"),
        ("X Kc Kd 4h 4s", "two_pair", "Kc Kd 4h 4s Ac"),
        ("X Kc Kd Kh 4s", "trips", "Kc Kd Kh As 4s"),
        ("X Kc Kd Kh Ks", "four", "Kc Kd Kh Ks Ac"),
        ("X 9c 8d 6h 5s", "straight", "9c 8d 7h 6h 5s"),
        ("X 9c 8d 7h 6s", "straight", "Tc 9c 8d 7h 6s"),
        ("X 9c 8c 6c 2c", "flush", "Ac 9c 8c 6c 2c"),
        ("X Ac 8c 6c 2c", "flush", "Ac Kc 8c 6c 2c"),
        ("X 9c 8c 6c 5c", "straight_flush", "9c 8c 7c 6c 5c"),
        ("X Ac Kc Qc Tc", "royal_flush", "Ac Kc Qc Jc Tc"),
    ],
)
def test_the_joker_is_an_ace_or_completes_a_straight_or_a_flush(
    cards: str, category: str, same_as: str
) -> None:
    assert hand(cards, "five-53").category == category
    equal("five-53", cards, same_as)


def test_the_high_hand_of_pai_gow_can_be_compared_with_the_low_one() -> None:
    assert hand("Qc Qd 4h 3s 2c", "five-53").key > hand("Ac Kd", "two-53").key
    assert hand("Qc Qd 4h 3s 2c", "five-53").key < hand("Kc Kd", "two-53").key
    assert hand("Kc Kd 4h 3s 2c", "five-53").key > hand("Kh Ks", "two-53").key
    assert hand("Kc Qd 4h 3s 2c", "five-53").key < hand("X 2c", "two-53").key


def test_straights_and_flushes_do_not_count_against_the_low_hand() -> None:
    falling("low-8", "5c 4c 3c 2c Ac", "6c 4c 3c 2c Ac", "6d 5c 3c 2c Ac", "8c 7c 6c 5c 4c")
    for cards in ("9c 4c 3c 2c Ac", "4c 4d 3c 2c Ac"):
        assert best(cards.split(), "low-8") is None
        with pytest.raises(ValueError, match="does not qualify"):
            hand(cards, "low-8")


@pytest.mark.rule("BAL09-059")
def test_two_own_cards_must_be_used_where_the_game_says_so() -> None:
    own, common = split("Ah 8c"), split("Kh Qh Jh Th 9d")
    free, bound = best_of(own, common, "five-28"), best_of(own, common, "five-28", 2)
    assert free is not None
    assert bound is not None
    assert (free.category, bound.category) == ("royal_flush", "straight")
    assert {"Ah", "8c"} <= set(bound.cards)


def test_open_cards_are_worth_their_equal_ranks_and_high_cards_alone() -> None:
    falls = (
        "8c 8d 8h 8s",
        "7c 7d 7h Ac",
        "8c 8d 7h 7s",
        "9c 9d",
        "8c 8d Ah Ks",
        "8c 8d Ah",
        "8c 8d",
        "Ac Kc Qc Jc",
        "Ac Kd",
        "Ac",
        "7c",
    )
    keys = [showing(split(cards), "five-32").key for cards in falls]
    assert keys == sorted(set(keys), reverse=True)
    assert showing(split("Ac Kc Qc Jc Tc"), "five-32").category == "royal_flush"
    with pytest.raises(ValueError, match="counts 5 cards, not 0"):
        showing([], "five-32")


@for_each(
    ("cards", "ranking", "says"),
    [
        ("Ac Kc", "five-52", "five-52 counts 5 cards, not 2"),
        (
            "Ac Kc Qc Jc 2c",
            "five-32",
            "'2c' is not a card of five-32: allowed are A 7 8 9 T J Q K of c d h s",
        ),
        ("Ac Kc Qc Jc X", "five-52", "'X' is not a card of five-52"),
        (
            "Ac Kc Qc Jc 1c",
            "five-53",
            "'1c' is not a card of five-53: allowed are .* of c d h s, and X",
        ),
        ("Ac Ac Qc Jc 2c", "five-52", "'Ac' is named twice"),
        ("Ac", "six", "no ranking 'six'; there are: five-52"),
    ],
)
def test_a_hand_that_cannot_be_valued_is_refused_with_its_reason(
    cards: str, ranking: str, says: str
) -> None:
    with pytest.raises(ValueError, match=says):
        hand(cards, ranking)


def test_too_few_cards_to_choose_from_are_refused() -> None:
    with pytest.raises(ValueError, match="5 cards must be chosen, and there are only 4"):
        best(split("Ac Kc Qc Jc"), "five-52")
    with pytest.raises(ValueError, match="3 common cards must be chosen, and there are only 2"):
        best_of(split("Ac Kc Qc Jc"), split("2c 3c"), "five-52", 2)
    with pytest.raises(ValueError, match="2 own cards must be chosen, and there are only 1"):
        best_of(["Ac"], split("2c 3c 4c 5c 6c"), "five-52", 2)


def test_any_two_cards_have_their_place_below_all_pairs() -> None:
    ranks = "AKQJT98765432"
    pairs = [f"{rank}c {rank}d" for rank in ranks]
    others = [f"{high}c {low}d" for high, low in combinations(ranks, 2)]
    falling("two-53", *pairs, *others)
