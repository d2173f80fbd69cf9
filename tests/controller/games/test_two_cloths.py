"""Baccarat at two cloths: the deal, the two hands against the bank, and its own errors."""

from __future__ import annotations

import pytest

from common.contract.events import (
    CardDealt,
    CardExpected,
    CardRemoved,
    HandDecided,
    Irregularity,
    RoundResult,
    RoundVoid,
    ShoeStarted,
)
from common.contract.refusals import RejectedError
from tests.support.games.chemin_play import Play, at_table, points, result_of, rules
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import of_kind, only, whats

DECREES = ("BAL05", "ARA02", "EUS96", "GAL07")
every = pytest.mark.parametrize("decree", DECREES)


def table(decree: str, deal: str = "", **settings: object) -> Play:
    """A table, and the deal: cloth 1, cloth 2 and bank, twice."""
    play = at_table(decree, "baccarat-two-cloths", **settings)
    if deal:
        play.dealt(deal)
    return play


# The round


@rules("ARA02-113 ARA02-114", "BAL05-111", "EUS96-136", "GAL07-101 GAL07-115")
def test_the_deal_and_the_words_go_from_cloth_to_cloth_and_then_to_the_bank(decree: str) -> None:
    play = table(decree)
    events = play.dealt("2h 3c 5h 2d Ks 4s")
    events += play.draw() + play.cards("2c") + play.draw() + play.cards("4c") + play.stand()
    dealt = [(event.to, event.index, event.card) for event in of_kind(events, CardDealt)]
    assert dealt == [
        *((who, 1, None) for who in ("cloth:1", "cloth:2", "bank")),
        *((who, 2, None) for who in ("cloth:1", "cloth:2", "bank")),
        *(("cloth:1", 3, "2c"), ("cloth:2", 3, "4c")),
    ]
    assert [event.who for event in of_kind(events, HandDecided)] == ["cloth:1", "cloth:2", "bank"]
    assert points(play.turn()) == {
        "cloth:1": (6, "lose"),
        "cloth:2": (7, "lose"),
        "bank": (9, "win"),
    }


@every
def test_both_hands_may_speak_before_the_cards_come(decree: str) -> None:
    play = table(decree, "2h 3c 5h 2d Ks 4s")
    play.draw()
    events = play.draw() + play.cards("2c 4c")
    assert [event.to for event in of_kind(events, CardDealt)] == ["cloth:1", "cloth:2"]
    assert [event.to for event in of_kind(events, CardExpected)] == ["cloth:2", "bank"]


@rules("ARA02-111 ARA02-112", "BAL05-110", "EUS96-131 EUS96-132")
def test_only_new_cards_are_used_and_ten_lie_behind_the_cut_card(decree: str) -> None:
    play = at_table(decree, "baccarat-two-cloths")
    play.send("shoe.end")
    events = play.send("shoe.start", shoe="8", new=False, cards=310, backs=(6,), index=True, cut=7)
    assert only(events, ShoeStarted).cut == 7
    wrong = {"shoe_count", "cards_backs", "cards_index", "cards_new", "cut_card"}
    assert {event.what for event in of_kind(events, Irregularity)} == wrong
    play.send("shoe.end")
    events = play.send("shoe.start", shoe="9", new=True, cards=312, backs=(3, 3), index=False)
    assert whats(events) == ["shoe.started"]
    assert only(events, ShoeStarted).cut == 10


@rules("GAL07-062")
def test_a_bank_that_continues_may_change_the_shoe(decree: str) -> None:
    play = table(decree, "9h 9c 2h Kd Ks 3s")
    assert points(play.turn())["bank"] == (5, "lose")
    assert whats(play.send("shoe.start", shoe="9")) == ["shoe.ended", "shoe.started"]
    play.dealt("9s 9d 2c Kh Kc 3d")
    assert only(play.turn(), RoundResult).round == 2


@rules("ARA02-086", "BAL05-110", "EUS96-131")
def test_at_chemin_de_fer_cards_may_be_used_again(decree: str) -> None:
    play = at_table(decree)
    play.send("shoe.end")
    assert whats(
        play.send("shoe.start", shoe="8", new=False, cards=312, backs=(3, 3), index=False)
    ) == ["shoe.started"]
    play.send("shoe.end")
    events = play.send("shoe.start", shoe="9", cards=260, backs=(6,), index=True)
    assert {event.what for event in of_kind(events, Irregularity)} == {
        "shoe_count",
        "cards_backs",
        "cards_index",
    }


@rules("ARA02-115", "BAL05-122", "EUS96-153", "GAL07-110")
def test_an_eight_of_two_cards_beats_an_eight_or_nine_of_three(decree: str) -> None:
    for third, made in (("3c", 8), ("4c", 9)):
        play = table(decree, "4h 3c 2h 4d 4s 3s")
        play.turn("cloth:1")
        play.stand("cloth:2")
        play.cards(third)
        assert points(play.turn()) == {
            "cloth:1": (8, "win"),
            "cloth:2": (7, "lose"),
            "bank": (made, None),
        }
    play = table(decree, "2h 3c 4h 2d 4s 4d")  # the bank's eight against a nine of three cards
    play.draw()
    play.stand()
    assert points(play.turn())["bank"] == (8, "win")


@every
def test_a_nine_of_two_cards_against_a_nine_of_three(decree: str) -> None:
    for settings, outcome in (({}, "win"), ({"natural_nine": "ties"}, "tie")):
        play = table(decree, "5h 3c 2h 4d 4s 3s", **settings)
        play.turn("cloth:1")
        play.stand("cloth:2")
        play.cards("4c")
        assert points(play.turn())["cloth:1"] == (9, outcome)


@every
def test_a_banker_who_plays_alone_is_free(decree: str) -> None:
    play = table(decree)
    play.dealt("2h 3c 4h 2d 3s Kd", banco=True)
    play.stand()
    play.stand()
    play.stand()
    assert not of_kind(play.turn(), Irregularity)


# What all errors share with chemin de fer


@rules("ARA02-116", "BAL05-107 BAL05-108 BAL05-109", "EUS96-133 EUS96-142 EUS96-143", "GAL07-117")
def test_early_cards_open_cards_cards_stuck_together_and_cards_on_the_floor(decree: str) -> None:
    play = table(decree)
    play.send("bets.open")
    assert whats(play.cards("9h")) == ["card_before_close"]
    role, other = ("inspector", "director") if decree == "EUS96" else ("director", "inspector")
    with pytest.raises(RejectedError, match=f"role {other} is not allowed"):
        play.decide("remove", role=other)
    assert (
        only(play.decide("remove", role=role), CardRemoved).article
        == play.book.laws["card_before_close"].article
    )
    play.send("bets.close")
    play.cards("2h")
    assert whats(play.cards("3h", exposed=True)) == ["card_exposed", "card.expected"]
    assert only(play.decide("exposed"), CardRemoved).card == "3h"
    assert play.state.expected == "cloth:2"
    assert whats(play.decide("floor", who="cloth:1", index=1)) == ["card_on_floor"]
    assert (
        only(play.send("round.void", reason="cards_stuck"), RoundVoid).article
        == play.book.void["cards_stuck"].article
    )


# Its own errors


@rules("ARA02-117", "BAL05-121", "EUS96-147", "GAL07-119")
def test_cards_that_fall_into_the_basket_are_null_for_their_cloth(decree: str) -> None:
    play = table(decree, "2h 3c 5h 2d")
    play.decide("basket", who="cloth:1", fault="banker")
    play.cards("4s 2s")
    play.stand("cloth:2")
    play.stand("bank")
    hands = result_of(play.turn())
    assert hands["cloth:1"] == ((), 0, "void", None)
    assert hands["cloth:2"][3] == "tie"
    play = table(decree, "2h 3c 5h 2d")
    void = only(play.decide("basket", who="bank", fault="banker"), RoundVoid)
    assert (void.reason, void.article) == ("misdeal", play.book.laws["basket_void"].article)


@every
def test_nothing_more_is_published_of_a_null_cloth(decree: str) -> None:
    play = table(decree, "7h 3c 5h 2d 4s")
    play.decide("basket", who="cloth:1", index=2, fault="croupier")
    play.cards("2s")
    play.stand("cloth:2")
    play.stand("bank")
    play.turn("cloth:2")
    assert result_of(play.turn("bank"))["cloth:1"] == ((), 0, "void", None)


@rules("ARA02-117", "BAL05-121", "EUS96-147", "GAL07-119")
def test_a_third_card_that_was_seen_is_recovered(decree: str) -> None:
    play = table(decree, "2h 3c 5h 2d 4s 2s")
    play.draw()
    play.cards("3h")
    assert whats(play.decide("basket", who="cloth:1", index=3, fault="banker")) == [
        "card_in_basket"
    ]
    play.stand()
    play.stand()
    assert points(play.turn())["cloth:1"] == (7, "tie")


@rules("BAL05-121", "EUS96-147", "GAL07-116")
def test_cards_thrown_away_unshown_count_as_zero(decree: str) -> None:
    play = table(decree, "2h 3c 5h 5d 4s 2s")
    play.stand()
    play.stand()
    play.decide("basket", who="bank", fault="banker")
    assert result_of(play.turn()) == {
        "cloth:1": (("2h", "5d"), 7, None, "win"),
        "cloth:2": (("3c", "4s"), 7, None, "win"),
        "bank": ((), 0, "zero", "lose"),
    }
    play = table(decree, "2h 3c 5h 5d 4s 2s")
    play.decide("basket", who="cloth:1", fault="player")
    play.stand("cloth:2")
    play.stand("bank")
    assert points(play.turn()) == {"cloth:1": (0, "lose"), "cloth:2": (7, "tie"), "bank": (7, None)}


def test_in_aragon_cards_thrown_away_are_for_the_inspector() -> None:
    play = table("ARA02", "2h 3c 5h 5d 4s 2s")
    assert only(play.decide("basket", who="cloth:1", fault="player"), Irregularity).asks == (
        "card.decide",
        "round.void",
    )


@rules("ARA02-119", "BAL05-123", "EUS96-138", "GAL07-122")
def test_a_card_that_the_first_cloth_should_have_had_goes_back_to_it(decree: str) -> None:
    play = table(decree, "2h 2c 5h Ad 2s 2d")
    play.stand("cloth:1")  # three: it had to draw
    play.draw("cloth:2")
    play.cards("5c 9c")  # the second cloth's, and the bank's
    events = play.turn("cloth:1")
    assert only(events, Irregularity).what == "restored"
    assert [(event.to, event.was, event.card) for event in of_kind(events, CardDealt)] == [
        ("cloth:1", "cloth:2", "5c"),
        ("cloth:2", "bank", "9c"),
    ]
    play.stand("bank")
    assert points(play.turn()) == {"cloth:1": (8, "win"), "cloth:2": (3, "lose"), "bank": (7, None)}


@rules("ARA02-119", "BAL05-123", "GAL07-123")
def test_a_card_that_the_first_cloth_should_not_have_had_goes_to_the_second_or_to_the_bank(
    decree: str,
) -> None:
    play = table(decree, "2h 2c Kh 4d 2s 2d")
    play.draw("cloth:1")  # six: it had to stand
    play.cards("5c")
    events = play.turn("cloth:1")
    assert only(events, Irregularity).what == "restored"
    assert [(event.to, event.card) for event in of_kind(play.draw("cloth:2"), CardDealt)] == [
        ("cloth:2", "5c")
    ]
    play = table(decree, "2h 2c Kh 4d 5s 2d")
    play.draw("cloth:1")
    play.cards("5c")
    play.turn("cloth:1")
    play.stand("cloth:2")
    events = play.draw("bank")  # it has two: it must draw against who stood
    assert [(event.to, event.card) for event in of_kind(events, CardDealt)] == [("bank", "5c")]
    play = table(decree, "2h 2c 3h 4d 5s 4s")
    play.draw("cloth:1")
    play.cards("5c")
    play.turn("cloth:1")
    play.stand("cloth:2")
    events = play.stand("bank")  # it has seven: it must stand
    assert [event.card for event in of_kind(events, CardRemoved)] == ["5c"]
    assert points(play.turn()) == {"cloth:1": (6, "lose"), "cloth:2": (7, "tie"), "bank": (7, None)}


@rules("ARA02-119")
def test_the_same_between_the_second_cloth_and_the_bank(decree: str) -> None:
    play = table(decree, "2h 2c Kh 4d 2s 2d")
    play.stand("cloth:1")
    play.stand("cloth:2")  # four: it had to draw
    play.cards("5c")  # the bank's
    events = play.turn("cloth:2")
    assert [(event.to, event.was) for event in of_kind(events, CardDealt)] == [("cloth:2", "bank")]
    assert play.state.expected == "bank"
    play.cards("3c")
    assert points(play.turn()) == {
        "cloth:1": (6, "win"),
        "cloth:2": (9, "win"),
        "bank": (5, "lose"),
    }


@every
def test_a_card_given_to_a_cloth_that_said_no_is_no_fault_of_the_bankers(decree: str) -> None:
    play = table(decree, "2h 2c Kh 4d 5s 2d")
    play.draw("cloth:1")
    play.cards("5c")
    said = play.stand("cloth:1")  # it had declined: the call was wrong
    assert only(said, Irregularity).what == "restored"
    play.stand("cloth:2")
    play.draw("bank")
    assert "bank" in {event.to for event in of_kind(play.events, CardDealt) if event.card == "5c"}


@rules("GAL07-124")
def test_with_five_the_first_of_two_words_counts(decree: str) -> None:
    for second, first_cards, word in (
        ("2s", "2h 2c Kh 3d", "draw"),
        ("2s", "2h 2c Kh 4d", "stand"),
    ):
        play = table(decree, f"{first_cards} {second} 2d")
        play.draw("cloth:1")
        event = only(play.stand("cloth:1"), Irregularity)
        assert (event.what, event.asks, event.law) == (
            "words_contradict",
            ("cards.turn", "round.void"),
            "GAL07-124",
        )
        play.turn("cloth:1")
        assert play.state.current is not None
        assert play.state.current.words["cloth:1"] == word


@every
def test_no_with_eight_or_nine_loses_the_right_to_lay_down(decree: str) -> None:
    play = table(decree, "4h 2c Kh 4d 5s 6d")
    play.stand("cloth:1")
    play.stand("cloth:2")
    play.stand("bank")
    events = play.turn()
    assert [event.what for event in of_kind(events, Irregularity)] == ["natural_forgotten"]
    assert result_of(events)["cloth:1"] == (("4h", "4d"), 8, None, "win")


@rules("GAL07-055", "BAL05-108", "EUS96-142", "ARA02-116")
def test_after_a_removed_third_card_the_next_one_goes_to_the_waiting_hand(decree: str) -> None:
    for restored in (False, True):
        play = table(decree, "2h 2c 5h 2d 5s Kd")
        play.draw("cloth:1")
        play.draw("cloth:2")
        play.cards("3c")
        if restored:
            play.stand("cloth:2")
            assert only(play.draw("cloth:2"), Irregularity).what == "restored"
        play.decide("for", who="cloth:2")  # where a person has put it
        assert [event.why for event in of_kind(play.decide("remove"), CardRemoved)] == [
            "card_exposed"
        ]
        for card, to in (("4c", "cloth:1"), ("6c", "cloth:2")):
            assert play.shown["expected"] == to
            assert [(event.to, event.card) for event in of_kind(play.cards(card), CardDealt)] == [
                (to, card)
            ]
        assert play.shown["expected"] == "bank"


@every
def test_the_banks_third_card_stays_when_that_of_a_cloth_is_discarded(decree: str) -> None:
    play = table(decree, "2h 2c 3h 2d 5s Kd")
    play.draw("cloth:1")
    play.cards("9s")
    play.draw("cloth:2")
    play.decide("for", who="cloth:2")
    play.cards("As")
    play.stand("cloth:2")  # the play is corrected, and the nine is for the hand that asks
    play.draw("bank")
    play.decide("remove")  # the ace came face up
    assert play.shown["hands"]["bank"] == [None, None, "9s"]
    assert play.state.expected == "cloth:1"


@rules("GAL07-122 GAL07-123", "BAL05-123", "ARA02-119")
def test_correcting_a_word_removes_the_card_that_a_person_had_placed(decree: str) -> None:
    play = table(decree, "2h 2c 5h 2d 5s Kd")
    play.draw("cloth:1")
    play.draw("cloth:2")
    play.cards("6c")
    play.decide("for", who="bank")
    play.cards("5c")
    events = of_kind(play.stand("cloth:2"), Irregularity)
    assert [(event.what, event.asks) for event in events] == [
        ("restored", ()),
        ("restored", ("hand.draw", "hand.stand", "round.void")),
    ]
    assert play.shown["hands"]["cloth:1"][2:] == ["5c"], "the hand before it keeps what it has"
    assert of_kind(play.draw("bank"), CardRemoved) == []
    assert (play.shown["hands"]["bank"][2:], play.shown["expected"]) == (["6c"], None)


@rules("GAL07-127")
def test_an_irregular_deal_is_corrected_or_null(decree: str) -> None:
    play = table(decree, "2h 2c 5h 2d 5s Kd")
    told = only(play.cards("9c"), Irregularity)
    assert (told.what, told.law, told.asks) == (
        "irregular_deal",
        "GAL07-127",
        ("card.decide", "round.void"),
    )
    assert only(play.send("round.void", reason="misdeal"), RoundVoid).law == "GAL07-127"
    play.dealt("2h 2c 5h 2d 5s Kd")
    play.cards("9c")
    play.decide("accept")
    assert [(event.to, event.card) for event in of_kind(play.draw("cloth:1"), CardDealt)] == [
        ("cloth:1", "9c")
    ]
    with pytest.raises(RejectedError, match="who must be one of"):
        play.stand("player")


@every
def test_a_person_states_an_unknown_result_for_each_cloth(decree: str) -> None:
    play = table(decree, "2h 2c 5h")
    play.send("session.close")
    with pytest.raises(RejectedError, match="give the winner as cloth:1,cloth:2"):
        play.send("round.confirm", winner="bank")
    told = outcome_of(only(play.send("round.confirm", winner="cloth:1,bank"), RoundResult))
    assert told.winner is None
    assert [(hand.who, hand.outcome) for hand in told.hands] == [
        ("cloth:1", "win"),
        ("cloth:2", "lose"),
    ]
