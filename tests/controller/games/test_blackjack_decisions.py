"""Decisions about a hand's first cards at black jack: split, double, take insurance, give up."""

from __future__ import annotations

import pytest

from common.contract.events import CardDealt, HandDecided, Insurance, RoundResult
from common.contract.refusals import RejectedError
from tests.support.for_each import for_each
from tests.support.games.blackjack_play import DECREES, PAIRS, Play, outcomes
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import of_kind, only, whats

rule = pytest.mark.rule


@pytest.fixture(params=PAIRS, ids="-".join)
def play(request: pytest.FixtureRequest) -> Play:
    game, decree = request.param
    table = Play(decree, game)
    table.open()
    return table


# Splits


@rule("EUS96-074", "GAL07-071")
def test_equal_values_are_split_and_split_again(play: Play) -> None:
    play.deal((1, 3), "8h 9s Kd 8d 9c")
    assert only(play.key("split"), HandDecided).decision == "split"
    play.cards("8c")
    play.key("split")
    play.cards("8s")
    play.key("split", "box:1")
    play.cards("Th")
    for who, card in (("box:1", "Tc"), ("box:1.4", "Td"), ("box:1.3", "Ts")):
        play.key("stand", who)
        play.cards(card)
    play.key("stand", "box:1.2")
    assert play.shown["turn"] == "box:3"
    assert list(play.shown["hands"]) == [
        "box:1",
        "box:1.4",
        "box:1.3",
        "box:1.2",
        "box:3",
    ]


@rule("EUS96-074", "GAL07-071")
def test_a_ten_and_a_king_are_a_pair_a_nine_and_a_ten_are_not(play: Play) -> None:
    play.deal((1, 3), "Th 9s 6d Kd Tc")
    play.key("split")
    play.cards("2c")
    play.key("stand")
    play.cards("3c")
    play.key("stand")
    with pytest.raises(RejectedError, match="is not a pair"):
        play.key("split")


@rule("BAL05-082", "ARA02-063", "EUS96-072", "GAL07-072")
def test_split_aces_get_one_card_each(play: Play) -> None:
    play.deal((1, 3), "Ah 9s 6d Ad 9c")
    play.key("split")
    play.cards("5c 6c")
    assert play.shown["turn"] == "box:3"
    play.key("stand")
    assert outcomes(only(play.cards("Tc 5h"), RoundResult)) == {
        "box:3": (18, None, "lose"),
        "box:1.2": (17, None, "lose"),
        "box:1": (16, None, "lose"),
        "dealer": (21, None, None),
    }


@rule("BAL05-082", "ARA02-063", "EUS96-072", "GAL07-072")
def test_an_ace_upon_a_split_ace_may_be_split_again_and_gets_nothing_else(play: Play) -> None:
    play.deal((1, 3), "Ah 9s 6d Ad 9c")
    play.key("split")
    play.cards("Ac")
    for key in ("draw", "double"):
        with pytest.raises(RejectedError, match="split ace"):
            play.key(key)
    play.key("split")
    play.cards("2c 3c 4c")
    assert play.shown["turn"] == "box:3"


def test_aces_are_not_split_again_where_the_site_says_so() -> None:
    play = Play("GAL07", resplit_aces="no")
    play.open()
    play.deal((1, 3), "Ah 9s 6d Ad 9c")
    play.key("split")
    play.cards("Ac Ks")
    assert play.shown["turn"] == "box:3"


def test_both_hands_of_a_pair_get_their_second_card_at_once_where_the_site_says_so() -> None:
    play = Play("GAL07", split_cards="at_once")
    play.open()
    play.deal((1, 3), "8h 9s 6d 8d 9c")
    play.key("split")
    events = play.cards("2c 3c")
    assert [(event.to, event.index) for event in of_kind(events, CardDealt)] == [
        ("box:1", 2),
        ("box:1.2", 2),
    ]
    assert play.shown["turn"] == "box:1"


# Doubling


@rule("BAL05-083", "ARA02-064", "EUS96-075", "GAL07-074")
def test_a_doubled_hand_gets_one_card(play: Play) -> None:
    play.deal((1, 3), "6h 9s 6d 5d 9c")
    play.key("double")
    events = play.cards("2c")
    assert (only(events, HandDecided).who, only(events, HandDecided).decision) == ("box:1", "stand")
    play.key("stand", "box:3")
    result = only(play.cards("Tc 2s"), RoundResult)
    assert outcomes(result)["box:1"] == (13, "doubled", "lose")


@rule("ARA02-064", "GAL07-074")
@for_each("decree", DECREES)
@for_each(("first", "second", "points"), [("6h", "6d", 12), ("5h", "3d", 8), ("Th", "9d", 19)])
def test_which_totals_are_doubled(decree: str, first: str, second: str, points: int) -> None:
    play = Play(decree)
    play.open()
    play.deal((1, 3), f"{first} 9s 6d {second} 9c")
    if decree in ("ARA02", "GAL07"):
        with pytest.raises(RejectedError, match=f"has {points}; only 9, 10, 11 may be doubled"):
            play.key("double")
    else:
        play.key("double")
        assert play.state.expected == "box:1"


@rule("ARA02-064", "GAL07-074")
@pytest.mark.parametrize("decree", ["ARA02", "GAL07"])
def test_an_ace_counts_as_the_player_likes_in_what_is_doubled(decree: str) -> None:
    play = Play(decree)
    play.open()
    play.deal((1, 3), "Ah 9s 6d 8d 9c")
    play.key("double")


@rule("EUS96-075")
def test_an_ace_among_the_first_two_cards_of_a_doubled_hand_counts_one() -> None:
    play = Play("EUS96")
    play.open()
    play.deal((1, 3), "Ah 9s 6d 7d 9c")
    play.key("double")
    play.cards("2c")
    play.key("stand")
    assert outcomes(only(play.cards("Tc 2s"), RoundResult))["box:1"] == (10, "doubled", "lose")


@rule("BAL05-082", "ARA02-064", "EUS96-075")
def test_a_pair_of_aces_is_not_doubled(play: Play) -> None:
    play.deal((1, 3), "Ah 9s 6d Ad 9c")
    with pytest.raises(RejectedError, match=r"aces|only 9, 10, 11"):
        play.key("double")


def test_three_cards_are_not_doubled(play: Play) -> None:
    play.deal((1, 3), "2h 9s 6d 3d 9c")
    play.key("draw")
    play.cards("4c")
    with pytest.raises(RejectedError, match="has 3 cards"):
        play.key("double")


# Insurance and giving up


@rule("BAL05-080", "ARA02-059", "EUS96-076", "GAL07-069")
def test_insurance_until_the_first_third_card(play: Play) -> None:
    assert only(play.deal((1, 3), "Th 9s Ad 3d 9c"), Insurance).offered
    assert not of_kind(play.key("draw"), Insurance)
    assert whats(play.card("2c"))[0] == "insurance"
    play.key("stand")
    play.key("stand")
    result = only(play.cards("Kc"), RoundResult)
    assert "insurance_wins" in outcome_of(result).marks
    assert outcomes(result)["dealer"] == (21, "blackjack", None)


@rule("BAL05-080", "GAL07-069")
def test_insurance_loses_where_the_dealer_has_no_black_jack(play: Play) -> None:
    play.deal((1, 3), "Th 9s Ad 8d 9c")
    play.key("stand")
    play.key("stand")
    result = only(play.cards("6c"), RoundResult)
    assert "insurance_loses" in outcome_of(result).marks
    assert [event.offered for event in of_kind(play.events, Insurance)] == [True, False]


@rule("ARA02-059", "EUS96-076")
def test_no_insurance_against_a_ten(play: Play) -> None:
    play.deal((1, 3), "Th 9s Kd 8d 9c")
    assert not of_kind(play.events, Insurance)


@rule("BAL05-081", "GAL07-070")
@pytest.mark.parametrize("decree", ["BAL05", "GAL07"])
def test_any_hand_gives_up_before_the_first_third_card(decree: str) -> None:
    play = Play(decree)
    play.open()
    play.deal((1, 2, 3), "Th 9s 5c Kd 3d 7c 9c")
    play.key("surrender", "box:2")
    play.key("draw")
    assert play.state.expected == "box:1"
    play.cards("2c")
    with pytest.raises(RejectedError, match="third card was dealt"):
        play.key("surrender", "box:3")
    play.key("stand")
    play.key("stand")
    assert outcomes(only(play.cards("9d"), RoundResult))["box:2"] == (16, "surrender", "lose")


@rule("EUS96-077")
def test_in_euskadi_a_hand_gives_up_before_its_own_third_card_where_the_casino_has_it() -> None:
    play = Play("EUS96", surrender=True)
    play.open()
    play.deal((1, 2), "Th 9s Kd 3d 7c")
    play.key("draw")
    play.cards("2c")
    with pytest.raises(RejectedError, match="box:1 has acted"):
        play.key("surrender")
    play.key("stand")
    play.key("surrender")
    assert play.state.expected == "dealer"


@rule("BAL05-081", "GAL07-070", "EUS96-077")
@pytest.mark.parametrize("decree", ["BAL05", "EUS96", "GAL07"])
def test_no_hand_gives_up_against_an_ace(decree: str) -> None:
    play = Play(decree, surrender=decree == "EUS96")
    play.open()
    play.deal((1, 2), "Th 9s Ad 3d 7c")
    with pytest.raises(RejectedError, match="against the dealer’s ace"):
        play.key("surrender")


@rule("EUS96-077")
@pytest.mark.parametrize("decree", ["ARA02", "EUS96"])
def test_no_hand_gives_up_where_there_is_no_such_thing(decree: str) -> None:
    play = Play(decree)
    play.open()
    play.deal((1, 2), "Th 9s Kd 3d 7c")
    with pytest.raises(RejectedError, match="this table has no surrender"):
        play.key("surrender")
    if decree == "ARA02":
        with pytest.raises(ValueError, match="surrender: the decree does not have it"):
            Play(decree, surrender=True)


@rule("BAL05-081", "GAL07-070")
def test_a_hand_still_gives_up_while_another_was_split_and_has_no_card() -> None:
    play = Play("GAL07")
    play.open()
    play.deal((1, 2), "8h 9s 5c 8d 7c")
    play.key("split")
    play.key("surrender", "box:2")
    with pytest.raises(RejectedError, match="box:1 has acted"):
        play.key("surrender", "box:1")
    play.cards("2c")
    play.key("stand")
    play.cards("3c")
    play.key("stand")
    assert play.state.expected == "dealer"


@rule("BAL05-081", "GAL07-070")
@pytest.mark.parametrize("decree", ["BAL05", "GAL07"])
def test_a_black_jack_or_a_hand_without_a_dealer_gives_nothing_up(decree: str) -> None:
    play = Play(decree)
    play.open()
    play.boxes(1, 2)
    play.cards("Ah 9s")
    with pytest.raises(RejectedError, match="box:1 may not surrender now"):
        play.key("surrender", "box:1")
    play.cards("5c Kd 7c")
    with pytest.raises(RejectedError, match="box:1 may not surrender now"):
        play.key("surrender", "box:1")


@rule("EUS96-077")
def test_a_hand_of_a_pair_that_was_split_gives_nothing_up() -> None:
    play = Play("EUS96", surrender=True)
    play.open()
    play.deal((1, 2), "8h 9s 5c 8d 7c")
    play.key("split")
    play.cards("2c")
    with pytest.raises(RejectedError, match="box:1 has acted"):
        play.key("surrender")
