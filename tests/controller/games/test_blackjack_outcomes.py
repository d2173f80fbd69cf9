"""Outcomes of a round of black jack: who wins, the total, side bets."""

from __future__ import annotations

import pytest

from common.contract.events import Hand, HandDecided, RoundResult
from controller.games.blackjack.hands import (
    compare,
    dealer_hands,
    is_blackjack,
    pair_mark,
    points,
    sevens_mark,
)
from controller.games.games import make_game
from tests.support.for_each import for_each
from tests.support.games.blackjack_play import DECREES, PAIRS, Play, outcomes
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import of_kind, only

rule = pytest.mark.rule
every = pytest.mark.parametrize(("game", "decree"), PAIRS)


def table(decree: str, game: str = "blackjack", **settings: object) -> Play:
    play = Play(decree, game, **settings)
    play.open()
    return play


def cards(text: str) -> tuple[str, ...]:
    return tuple(text.split())


@for_each(
    ("hand", "total"),
    [
        ("Ah Kd", 21),
        ("Ah Ad", 12),
        ("Ah 5c", 16),
        ("Ah 5c Td", 16),
        ("Ah Ac 9d", 21),
        ("Th Jd Qc", 30),
        ("Ah Ac Kd 9s", 21),
    ],
)
def test_points(hand: str, total: int) -> None:
    assert points(cards(hand)) == total


@every
@rule("BAL05-085", "GAL07-076", "EUS96-071")
def test_higher_wins_lower_loses_equal_is_null(game: str, decree: str) -> None:
    play = table(decree, game)
    play.deal((1, 2, 3), "Th 9s 8s Kd 8d 9c Jc")
    for _ in range(3):
        play.key("stand")
    result = only(play.cards("8h"), RoundResult)
    assert outcomes(result) == {
        "box:3": (18, None, "tie"),
        "box:2": (18, None, "tie"),
        "box:1": (18, None, "tie"),
        "dealer": (18, None, None),
    }
    assert compare(19, False, cards("Kd 8h")) == "win"
    assert compare(17, False, cards("Kd 8h")) == "lose"


@every
@rule("BAL05-085")
def test_over_21_the_dealer_pays_all_that_is_left(game: str, decree: str) -> None:
    play = table(decree, game)
    play.deal((1, 2), "Th 9s 6d 4d 5c")
    play.key("draw")
    play.cards("Tc")
    play.key("stand")
    assert outcomes(only(play.cards("Ts Jh"), RoundResult)) == {
        "box:2": (14, None, "win"),
        "box:1": (24, "bust", "lose"),
        "dealer": (26, "bust", None),
    }


@every
@rule("BAL05-079", "ARA02-062", "EUS96-071", "GAL07-075")
def test_black_jack_beats_a_longer_21_on_either_side(game: str, decree: str) -> None:
    play = table(decree, game)
    events = play.deal((1, 2), "Ah 9s 6d Kd 5c")
    assert (only(events, HandDecided).who, only(events, HandDecided).decision) == (
        "box:1",
        "natural",
    )
    play.key("draw")
    play.cards("7c")
    assert outcomes(only(play.cards("5h Ts"), RoundResult)) == {
        "box:2": (21, None, "tie"),
        "box:1": (21, "blackjack", "win"),
        "dealer": (21, None, None),
    }
    assert compare(21, False, cards("Ah Kd")) == "lose"
    assert compare(21, True, cards("Ah Kd")) == "tie"


@rule("GAL07-076")
def test_black_jack_against_black_jack_is_null_or_wins_where_the_site_says_so() -> None:
    for setting, outcome in (("tie", "tie"), ("wins", "win")):
        play = table("GAL07", blackjack_tie=setting)
        play.deal((1, 2), "Ah 9s Ad Kd 9c")
        play.key("stand")
        assert outcomes(only(play.cards("Kc"), RoundResult))["box:1"] == (21, "blackjack", outcome)


@every
@rule("BAL05-079", "ARA02-062", "EUS96-073", "GAL07-073")
@for_each(("first", "second", "then"), [("Ah", "Ad", "Kc"), ("Kh", "Td", "Ac")])
def test_21_of_split_aces_or_tens_is_no_black_jack(
    game: str, decree: str, first: str, second: str, then: str
) -> None:
    play = table(decree, game)
    play.deal((1, 2), f"{first} 9s 6d {second} 9c")
    play.key("split")
    play.card(then)
    play.card("5c")
    if second != "Ad":
        play.key("stand", "box:1.2")
    play.key("stand", "box:2")
    assert outcomes(only(play.cards("5h Ts"), RoundResult))["box:1"] == (21, None, "tie")


@every
@rule("EUS96-079", "GAL07-078")
def test_hands_are_settled_from_right_to_left_the_dealers_cards_last(
    game: str, decree: str
) -> None:
    play = table(decree, game)
    play.deal((1, 4, 2), "8h 9s 5s Kd 8d 9c 5d")
    play.key("split")
    play.cards("Th")
    play.key("stand")
    play.cards("Ts")
    for _ in range(3):
        play.key("stand")
    result = only(play.cards("8c"), RoundResult)
    assert list(outcomes(result)) == ["box:4", "box:2", "box:1.2", "box:1", "dealer"]


# Aragón: three sevens


@pytest.mark.parametrize(
    ("setting", "drawn", "expected"),
    [
        ("wins", "5s 6c", (21, "three_sevens", "win")),
        ("ties", "5s 6c", (21, "three_sevens", "tie")),
        ("wins", "9s 2c", (21, "three_sevens", "win")),
    ],
)
def test_three_sevens_against_another_21(
    setting: str, drawn: str, expected: tuple[int, str, str]
) -> None:
    play = table("ARA02", three_sevens=setting)
    play.deal((1, 2), "7h 9s Td 7d 9c")
    play.key("draw")
    play.cards("7c")
    play.key("stand")
    assert outcomes(play_out(play, drawn))["box:1"] == expected


def test_three_sevens_lose_to_black_jack_and_tie_with_three_sevens() -> None:
    for first, drawn, outcome in (("Ad", "Kc", "lose"), ("7s", "7c 7d", "tie")):
        play = table("ARA02")
        play.deal((1, 2), f"7h 9s {first} 7d 9c")
        play.key("draw")
        play.cards("7c")
        play.key("stand")
        assert outcomes(play_out(play, drawn))["box:1"] == (21, "three_sevens", outcome)


@pytest.mark.parametrize("decree", ["BAL05", "EUS96", "GAL07"])
def test_three_sevens_are_a_21_like_any_other_elsewhere(decree: str) -> None:
    play = table(decree)
    play.deal((1, 2), "7h 9s Td 7d 9c")
    play.key("draw")
    play.cards("7c")
    play.key("stand")
    assert outcomes(play_out(play, "5s 6c"))["box:1"] == (21, None, "tie")


def play_out(play: Play, drawn: str) -> RoundResult:
    """Draw the dealer's cards, as many as he needs."""
    for card in drawn.split():
        if events := of_kind(play.card(card), RoundResult):
            return events[0]
    raise AssertionError("the dealer needs more cards")


# Euskadi: side bets


@rule("EUS96-080", "EUS96-081")
@for_each(
    ("hand", "mark"),
    [
        ("Kh Kh", "pair_perfect"),
        ("Qc Qs", "pair_colour"),
        ("7h 7c", "pair_mixed"),
        ("7h 7d", "pair_colour"),
        ("Th Kh", None),
        ("7h 8h", None),
        ("7h", None),
    ],
)
def test_pairs(hand: str, mark: str | None) -> None:
    assert pair_mark(cards(hand)) == mark


@rule("EUS96-082")
@for_each(
    ("hand", "mark"),
    [
        ("8h 7h 7c", None),
        ("7h 8h 7c", "sevens_1"),
        ("7h 7c 8c", "sevens_2"),
        ("7h 7h", "sevens_2_suited"),
        ("7h 7c 7d", "sevens_3"),
        ("7h 7h 7d", "sevens_3"),
        ("7h 7h 7h", "sevens_3_suited"),
        ("7h 7h 7h 7c", "sevens_3_suited"),
    ],
)
def test_sevens(hand: str, mark: str | None) -> None:
    assert sevens_mark(cards(hand)) == mark


@rule("EUS96-080", "EUS96-082")
def test_results_have_the_side_bets_of_each_box_where_the_table_has_them() -> None:
    play = table("EUS96", pair_bets=True, accumulated_bets=True)
    play.deal((1, 2, 3), "7h 9s 7d Kd 7c 9s 7d")
    play.key("split")
    play.cards("7s")
    play.key("stand", "box:1")
    play.cards("Ts")
    play.key("stand", "box:1.2")
    play.key("stand", "box:2")
    play.key("draw", "box:3")
    play.cards("7d")
    result = only(play.cards("7s"), RoundResult)
    assert outcome_of(result).marks == (
        "box:1 pair_mixed",
        "box:1 sevens_2",
        "box:2 pair_perfect",
        "box:3 pair_perfect",
        "box:3 sevens_3_suited",
    )


def test_results_have_no_side_bets_where_the_table_has_none() -> None:
    play = table("EUS96")
    play.deal((1,), "7h Kd 7c")
    play.key("stand")
    assert outcome_of(only(play.cards("7s"), RoundResult)).marks == ()


@pytest.mark.parametrize("decree", ["BAL05", "ARA02", "GAL07"])
def test_side_bets_are_for_the_basque_game_only(decree: str) -> None:
    for setting in ("pair_bets", "accumulated_bets"):
        with pytest.raises(ValueError, match=setting):
            make_game("blackjack", decree, {setting: True})


# The triple game


@pytest.fixture
def triple() -> Play:
    return table("EUS96", "blackjack-triple", pair_bets=True)


@rule("EUS96-084", "EUS96-085", "EUS96-086")
def test_three_plays_with_the_dealers_first_card(triple: Play) -> None:
    triple.deal((1, 2, 3), "Th 9s 8s Kd 8d 9c 8c")
    triple.key("draw")
    triple.cards("5c")
    triple.key("stand")
    triple.key("stand")
    first = only(triple.cards("7h"), RoundResult)
    assert outcome_of(first).marks == ("play 1", "box:2 pair_colour", "box:3 pair_colour")
    assert outcomes(first)["box:1"] == (23, "bust", "lose")
    assert triple.state.expected == "dealer"
    assert triple.shown["round"] == 1
    assert not of_kind(triple.cards("3s"), RoundResult)
    assert triple.shown["round"] == 2
    second = only(triple.cards("8h"), RoundResult)
    third = only(triple.cards("Ts"), RoundResult)
    assert [outcome_of(each).marks for each in (second, third)] == [("play 2",), ("play 3",)]
    assert [each.round for each in (first, second, third)] == [1, 2, 3]
    assert isinstance(first.bets, tuple)
    assert [(each.who, each.bet, each.pays) for each in first.bets] == [
        ("box:1", "pairs", None), ("box:2", "pairs", (12, 1)), ("box:3", "pairs", (12, 1)),
    ]  # fmt: skip
    assert second.bets == third.bets == ()
    assert dealer_of(first) == ("Kd", "7h")
    assert dealer_of(second) == ("Kd", "3s", "8h")
    assert dealer_of(third) == ("Kd", "Ts")
    assert [outcomes(each)["box:2"][2] for each in (first, second, third)] == [
        "win",
        "lose",
        "lose",
    ]
    assert triple.state.current is None


@rule("EUS96-084")
def test_boxes_for_a_new_round_show_that_nobody_had_a_bet_in_the_next_play(triple: Play) -> None:
    triple.deal((1,), "Th Kd 8d")
    triple.key("stand")
    triple.cards("7h")
    triple.deal((2,), "Th Kd 8d")
    triple.key("stand")
    second, third = only(triple.cards("7h"), RoundResult), only(triple.cards("9h"), RoundResult)
    assert [(second.round, outcome_of(second).marks), (third.round, outcome_of(third).marks)] == [
        (2, ("play 1",)),
        (3, ("play 2",)),
    ]


@rule("EUS96-085")
def test_no_second_play_without_a_hand(triple: Play) -> None:
    triple.deal((1,), "Th Kd 8d")
    triple.key("draw")
    only(triple.cards("7h"), RoundResult)
    assert triple.state.current is None


def test_insurance_is_settled_with_each_play(triple: Play) -> None:
    triple.deal((1,), "Th Ad 8d")
    triple.key("stand")
    results = [only(triple.cards(card), RoundResult) for card in ("Kh", "7h", "Jh")]
    assert [outcome_of(result).marks for result in results] == [
        ("play 1", "insurance_wins"),
        ("play 2", "insurance_loses"),
        ("play 3", "insurance_wins"),
    ]


def dealer_of(result: RoundResult) -> tuple[str, ...]:
    hand: Hand = outcome_of(result).hands[-1]
    assert hand.who == "dealer"
    return hand.cards


# Without keys


@for_each(
    ("first", "rest", "alone", "hands"),
    [
        ("Kd", "7h", False, ["Kd 7h"]),
        ("Kd", "7h", True, ["Kd", "Kd 7h"]),
        ("Kd", "5h 7h", False, ["Kd 5h 7h", "Kd 7h"]),
        ("Kd", "9h 3h", False, []),
        ("6d", "Th 5c", False, ["6d Th 5c"]),
        ("Kd", "", False, []),
    ],
)
def test_the_hands_that_the_dealer_may_have(
    first: str, rest: str, alone: bool, hands: list[str]
) -> None:
    assert list(dealer_hands(first, cards(rest), alone=alone)) == [cards(hand) for hand in hands]


@pytest.mark.parametrize("decree", DECREES)
def test_black_jack_is_21_with_two_cards(decree: str) -> None:
    assert is_blackjack(cards("Ah Td"))
    assert not is_blackjack(cards("Ah 5d 5c"))
    assert Play(decree).game.book.pays["blackjack"] == (3, 2)
