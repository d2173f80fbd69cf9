"""The errors of the banker and of the player at chemin de fer, one by one, each with the law that
decides it.
"""

from __future__ import annotations

import pytest

from common.contract.events import (
    CardDealt,
    CardRemoved,
    CardTurned,
    HandDecided,
    Irregularity,
    RoundResult,
)
from common.contract.refusals import RejectedError
from tests.support.games.chemin_play import at_table, points, result_of, rules
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import of_kind, only, whats

DECREES = ("BAL05", "ARA02", "EUS96", "GAL07")
every = pytest.mark.parametrize("decree", DECREES)


# The banker


@rules("ARA02-099", "BAL05-119", "EUS96-144", "GAL07-105")
def test_a_fifth_card_is_the_banks_if_the_hand_asks_for_none(decree: str) -> None:
    play = at_table(decree)
    play.dealt("2h 3c 4d 4s")
    assert whats(play.cards("2c")) == ["fifth_card"]
    events = play.stand()
    assert [(event.who, event.decision) for event in of_kind(events, HandDecided)] == [
        ("player", "stand"),
        ("banker", "draw"),
    ]
    assert [(event.to, event.index, event.card) for event in of_kind(events, CardDealt)] == [
        ("banker", 3, "2c")
    ]
    play = at_table(decree)
    play.dealt("2h 3c 2d 4s")
    play.cards("2c")
    assert [(event.to, event.card) for event in of_kind(play.draw(), CardDealt)] == [
        ("player", "2c")
    ]
    play = at_table(decree)
    play.dealt("4h 3c 4d 4s")
    play.cards("2c")
    removed = only(play.turn("player"), CardRemoved)
    assert (removed.why, removed.card) == ("fifth_card", None)


@rules("ARA02-100", "BAL05-117", "EUS96-145", "GAL07-106")
def test_a_banker_with_more_than_two_first_cards_has_zero(decree: str) -> None:
    play = at_table(decree)
    play.dealt("2h 3c 4d 4s")
    play.cards("2c")
    events = play.decide("for", who="banker")
    assert whats(events) == ["card.dealt", "bank_overdealt"]
    assert only(events, CardDealt).card is None
    play.stand()
    play.draw("banker")
    play.cards("5h")
    assert result_of(play.turn()) == {
        "player": (("2h", "4d"), 6, None, "win"),
        "banker": (("3c", "4s", "2c", "5h"), 5, None, "lose"),
    }


@every
def test_a_card_given_later_is_placed_after_those_of_the_hand(decree: str) -> None:
    play = at_table(decree)
    play.dealt("2h 3c 4d 4s")
    play.cards("2c 5h")
    play.decide("for", who="banker")
    events = play.stand()
    assert [(event.to, event.index, event.card) for event in of_kind(events, CardDealt)] == [
        ("banker", 4, "2c")
    ]
    assert play.shown["hands"]["banker"] == [None, None, None, "2c"]


@every
def test_a_second_card_of_the_banks_in_the_middle_of_the_deal(decree: str) -> None:
    play = at_table(decree)
    play.dealt("2h 3c 4d")
    events = play.decide("for", who="banker")
    assert [(event.to, event.was, event.card) for event in of_kind(events, CardDealt)] == [
        ("banker", "player", None)
    ]
    assert play.state.expected == "player"
    play.cards("5h")
    play.stand()
    play.stand()
    assert result_of(play.turn())["player"][0] == ("2h", "5h")


@rules("ARA02-101", "BAL05-118", "EUS96-146", "GAL07-107")
def test_of_two_third_cards_the_hand_has_the_better_and_the_bank_the_worse(decree: str) -> None:
    play = at_table(decree)
    play.dealt("2h 3c 2d 3s")
    play.draw()
    play.cards("Ac 5c")
    events = play.decide("for", who="player")
    assert only(events, Irregularity).asks == (
        "card.decide",
        "cards.turn",
        "round.confirm",
        "round.void",
    )
    assert (
        only(play.decide("accept", card="5c"), CardRemoved).card == "Ac"
    )  # a person states which one counts
    play.cards("2c 3h")  # and he does it again, to himself
    play.decide("for", who="banker")
    assert (
        only(play.turn("banker"), CardRemoved).card == "3h"
    )  # or the cards show it, when they are turned
    assert result_of(play.turn("player")) == {
        "player": (("2h", "2d", "5c"), 9, None, "win"),
        "banker": (("3c", "3s", "2c"), 8, None, "lose"),
    }


@every
def test_a_third_card_that_was_discarded_is_none_of_two(decree: str) -> None:
    play = at_table(decree)
    play.dealt("7d Ad 3d Ac")
    play.draw()
    play.cards("2s 9s")
    play.decide("remove")
    play.cards("Td 5h")
    play.decide("for", who="banker")
    assert only(play.turn("banker"), CardRemoved).card == "5h"


@every
def test_the_wrong_one_of_two_third_cards_is_found_when_the_hand_is_turned(decree: str) -> None:
    play = at_table(decree)
    play.dealt("2h 3c 2d 3s")
    play.draw()
    play.cards("Ac 5c")
    play.decide("for", who="player")
    with pytest.raises(RejectedError, match="name which of the two third cards counts"):
        play.send("round.confirm")
    play.decide("accept", card="Ac")
    play.stand("banker")
    assert only(play.turn(), Irregularity).what == "two_third_cards"
    assert points(play.send("round.confirm")) == {"player": (5, "lose"), "banker": (6, "win")}


@every
def test_a_person_states_which_of_the_banks_two_cards_counts_after_the_hands(decree: str) -> None:
    play = at_table(decree)
    play.dealt("2h 3c 2d 3s")
    play.draw()
    play.cards("Ac 5c")
    play.decide("for", who="player")
    play.decide("accept", card="5c")
    play.cards("2c 3h")
    play.decide("for", who="banker")
    with pytest.raises(RejectedError, match="send card-decide accept with the card"):
        play.decide("accept", card="5c")
    play.decide("accept", card="2c")
    assert points(play.turn()) == {"player": (9, "win"), "banker": (8, "lose")}


@rules("ARA02-102", "BAL05-120", "EUS96-147", "GAL07-108")
def test_a_card_of_the_hands_in_the_basket_makes_nine(decree: str) -> None:
    play = at_table(decree)
    play.dealt("2h 3c")
    said = play.decide("basket", who="player", index=1, fault="banker")
    assert only(said, CardRemoved).card is None
    play.cards("4s")
    assert result_of(play.turn()) == {
        "player": ((), 9, "natural_nine", "win"),
        "banker": (("3c", "4s"), 7, None, "lose"),
    }
    play = at_table(decree)
    play.dealt("2h 3c 2d 4s")
    play.draw()
    play.cards("Kd")
    play.decide("basket", who="player", index=3, fault="banker")
    play.cards("2c")
    said = play.turn()
    assert only(said, Irregularity).what == "bank_word"  # he has seven
    play.decide("remove")
    result = only(play.events, RoundResult)
    assert [(hand.who, hand.points, hand.kind) for hand in outcome_of(result).hands] == [
        ("player", 9, "nine"),
        ("banker", 7, None),
    ]


@rules("ARA02-104", "GAL07-109")
def test_a_banker_who_shows_a_card_shows_his_own(decree: str) -> None:
    play = at_table(decree)
    play.dealt("2h 4c 2d Ks")
    play.decide("exposed", who="player", index=1, fault="banker")
    with pytest.raises(RejectedError, match="the bank must first show its card 1"):
        play.draw()
    assert [event.card for event in of_kind(play.turn("banker", index=1), CardTurned)] == ["4c"]
    play.decide("exposed", who="player", index=2, fault="banker")
    play.turn("banker", index=2)
    play.draw()
    play.cards("6s")
    events = play.stand("banker")  # the table is his now: four against six
    assert only(events, Irregularity).what == "bank_word"


@rules("ARA02-106", "BAL05-121", "GAL07-119")
def test_a_card_of_the_banks_in_the_basket_unseen_loses_him_the_round(decree: str) -> None:
    play = at_table(decree)
    play.dealt("2h 4c 2d 4s")
    play.decide("basket", who="banker", index=2, fault="banker")
    assert result_of(play.turn("player"))["player"] == (("2h", "2d"), 4, None, "win")


@every
def test_a_third_card_stays_with_a_hand_of_which_another_card_is_in_the_basket(
    decree: str,
) -> None:
    play = at_table(decree)
    play.dealt("2h 4c 2d 4s")
    play.stand()
    play.draw("banker")
    play.cards("Kd")
    play.decide("basket", who="banker", index=1, fault="banker")
    assert play.shown["hands"]["banker"] == [None, "Kd"]
    assert not play.shown["asks"]


@every
def test_a_bank_that_has_lost_gives_no_card(decree: str) -> None:
    play = at_table(decree)
    play.dealt("2h 4c 2d 4s")
    play.draw()
    play.decide("basket", who="banker", index=1, fault="banker")
    assert points(play.turn("player")) == {"player": (4, "win"), "banker": (0, "lose")}


@every
def test_who_lays_down_before_the_hand_has_spoken(decree: str) -> None:
    play = at_table(decree)
    play.dealt("2h 4c 2d 4s")
    events = play.turn("banker")
    assert [event.what for event in of_kind(events, Irregularity)] == ["bank_before_hands"]
    assert points(play.turn("player")) == {"player": (4, "lose"), "banker": (8, "win")}


@every
def test_a_banker_who_gives_a_card_may_no_longer_lay_down(decree: str) -> None:
    play = at_table(decree)
    play.dealt("2h 4c 2d 4s")
    play.draw()
    play.cards("5c")
    play.stand("banker")
    events = play.turn()
    assert outcome_of(only(events, RoundResult)).winner == "player"
    assert [hand.kind for hand in outcome_of(only(events, RoundResult)).hands] == [None, None]


# The player


@every
def test_a_wrong_word_lets_the_banker_give_or_deny_the_card(decree: str) -> None:
    play = at_table(decree)
    play.dealt("Kh 3c 3d 4s")
    play.stand()
    play.stand()
    event = only(play.turn(), Irregularity)
    assert (event.what, event.asks) == (
        "player_word",
        ("hand.draw", "card.decide", "round.confirm", "round.void"),
    )
    play.draw("player")
    assert result_of(play.cards("6c"))["player"] == (("Kh", "3d", "6c"), 9, None, "win")
    play = at_table(decree)
    play.dealt("Kh 3c 7d 4s")
    play.draw()
    play.cards("2c")
    play.stand()
    play.turn()
    events = play.decide("remove")
    assert points(events) == {"player": (7, "tie"), "banker": (7, "tie")}
    assert only(events, CardRemoved).card == "2c"


@every
def test_to_a_hand_with_zero_the_card_may_not_be_denied(decree: str) -> None:
    play = at_table(decree)
    play.dealt("Kh 3c Jd 4s", banco=True)
    play.stand()
    play.stand()
    play.turn()
    with pytest.raises(RejectedError, match="may not be denied a card"):
        play.send("round.confirm")
    play.draw("player")
    assert points(play.cards("6c"))["player"] == (6, "lose")


@every
def test_who_plays_alone_for_the_bank_bears_his_error(decree: str) -> None:
    play = at_table(decree)
    play.dealt("Kh 3c 3d 4s", banco=True)
    play.stand()
    play.stand()
    events = play.turn()
    assert [event.what for event in of_kind(events, Irregularity)] == ["player_word"]
    assert points(events)["player"] == (3, "lose")


@every
def test_nine_forgotten_loses_to_eight_laid_down(decree: str) -> None:
    play = at_table(decree)
    play.dealt("5h 4c 4d 4s")
    play.stand()
    play.turn("banker")
    events = play.turn("player")
    assert "natural_forgotten" in whats(events)
    assert points(events) == {"player": (9, "lose"), "banker": (8, "win")}


@every
def test_a_card_asked_for_with_a_natural_is_the_bankers_to_decide(decree: str) -> None:
    play = at_table(decree)
    play.dealt("5h 3c 4d 4s")
    play.draw()
    play.cards("2c")
    play.stand()
    assert only(play.turn(), Irregularity).asks == ("card.decide", "round.confirm", "round.void")
    result = only(play.send("round.confirm"), RoundResult)
    assert (outcome_of(result).winner, result.confirmed_by) == ("banker", "M. Lasa (inspector)")


@rules("GAL07-120")
def test_a_player_who_throws_his_cards_away_unseen_has_lost(decree: str) -> None:
    play = at_table(decree)
    play.dealt("5h 3c 4d Ks")
    play.decide("basket", who="player", fault="player")
    hands = result_of(play.turn("banker"))
    assert hands["player"] == ((), 0, "loses", "lose")
