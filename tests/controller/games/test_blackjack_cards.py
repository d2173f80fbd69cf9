"""Wrong cards, silences and nullity at a table of black jack: what people decide."""

from __future__ import annotations

import re
from typing import Any

import pytest

from common.contract.events import (
    AlertCleared,
    AlertRaised,
    CardDealt,
    CardRemoved,
    CardsBurned,
    Irregularity,
    RoundResult,
    RoundVoid,
)
from common.contract.refusals import RejectedError
from common.readings import LinkGap, LinkLost, LinkStale, LinkUp, ShoeFault, ShoeReset
from tests.support.games.blackjack_play import PAIRS, Play, dealing, outcomes
from tests.support.games.outcomes import history
from tests.support.games.play import confidential, of_kind, only

rule = pytest.mark.rule


@pytest.fixture(params=PAIRS, ids="-".join)
def play(request: pytest.FixtureRequest) -> Play:
    game, decree = request.param
    return Play(decree, game)


# Wrong cards


@rule("BAL05-074", "ARA02-067", "GAL07-054", "EUS96-057")
def test_a_card_face_up_in_the_shoe_goes_to_no_hand(play: Play) -> None:
    play.open()
    play.boxes(1, 3)
    play.card("8h")
    events = play.card("9s", exposed=True)
    removed = only(events, CardRemoved)
    assert (removed.card, removed.why, removed.law) == (
        "9s",
        "card_exposed",
        play.game.book.laws["card_exposed"].rule,
    )
    assert [event.to for event in of_kind(play.card("2s"), CardDealt)] == ["box:3"]


@rule("BAL05-074", "ARA02-067", "GAL07-054", "EUS96-057")
def test_a_face_up_card_that_a_person_saw_is_withdrawn(play: Play) -> None:
    dealing(play)
    play.key("draw")
    play.card("Tc")
    assert only(play.decide("remove"), CardRemoved).card == "Tc"
    assert play.state.expected == "box:1"
    play.card("2c")
    assert play.shown["hands"]["box:1"] == {
        "cards": ["8h", "4d", "2c"],
        "points": 14,
    }
    play.decide("remove")
    with pytest.raises(RejectedError, match="there is no card to remove"):
        play.decide("remove")


def test_a_face_up_card_among_the_first_five_is_not_one_of_the_five(play: Play) -> None:
    play.open(burned=False)
    assert only(play.card("2c", exposed=True), Irregularity).what == "card_exposed"
    assert only(play.decide("exposed"), CardRemoved).card == "2c"
    assert not of_kind(play.cards("3c 4c 5c 6c"), CardsBurned)
    only(play.cards("7c"), CardsBurned)


def test_a_shoes_report_publishes_no_burned_card(play: Play) -> None:
    play.open(burned=False)
    asked = only(play.card("2c", exposed=True), Irregularity)
    assert (asked.what, asked.asks) == ("card_exposed", ("card.decide",))
    assert not of_kind(play.cards("3c 4c 5c"), CardsBurned)
    assert not of_kind(play.decide("accept"), CardsBurned), (
        "it is one of the five, as are those that waited with it"
    )
    assert only(play.card("6c"), CardsBurned).count == 5
    assert not re.search(r"[2-6]c", str(play.events) + str(play.shown["hands"]))


def test_a_burned_card_that_is_taken_away_is_not_named_and_another_may_be_read(play: Play) -> None:
    play.open(burned=False)
    play.card("2c", exposed=True)
    assert only(play.decide("remove"), CardRemoved).card is None
    play.card("3c", exposed=True)
    with pytest.raises(RejectedError, match="is not a card"):
        play.decide("exposed", card="Zz")
    assert only(play.decide("exposed", card="9d"), CardRemoved).card == "9d"
    with pytest.raises(RejectedError, match="no card needs a decision"):
        play.decide("exposed")
    assert not re.search(r"[23]c", str(play.events))
    assert not of_kind(play.cards("4c 5c 6c 7c"), CardsBurned)
    only(play.card("8c"), CardsBurned)


def test_an_unrequested_card_waits_unseen_whatever_the_shoe_reports(play: Play) -> None:
    dealing(play)
    said = play.card("5s", exposed=True)
    assert only(said, Irregularity).what == "card_exposed"
    assert not of_kind(said, CardRemoved)
    play.key("draw")
    assert "5s" not in str(play.events)
    assert [event.card for event in of_kind(play.decide("accept"), CardDealt)] == ["5s"]


@rule("ARA02-068")
def test_an_unread_card_stops_the_table_until_a_person_reads_it(play: Play) -> None:
    play.open()
    play.boxes(1, 3)
    said = only(play.card(None), Irregularity)
    assert (said.what, said.asks) == ("card_unread", ("card.decide", "round.void"))
    assert not of_kind(play.cards("9s Kd"), CardDealt)
    with pytest.raises(RejectedError, match="croupier is not allowed"):
        play.send("card.decide", role="croupier", action="read", card="8h")
    with pytest.raises(RejectedError, match="the card was not read"):
        play.decide("accept")
    with pytest.raises(RejectedError, match="is not a card"):
        play.decide("read", card="1x")
    said_read = play.decide("read", card="8h")
    assert [(event.to, event.card) for event in of_kind(said_read, CardDealt)] == [
        ("box:1", "8h"),
        ("box:3", "9s"),
        ("dealer", "Kd"),
    ]
    assert play.state.shoe is not None
    assert (play.state.shoe.drawn, play.state.shoe.unread) == (8, 0)


def test_two_unread_cards_are_requested_one_by_one(play: Play) -> None:
    play.open()
    play.boxes(1, 3)
    play.card(None)
    play.card(None)
    assert [event.what for event in of_kind(play.decide("read", card="8h"), Irregularity)] == [
        "card_unread"
    ]
    assert not of_kind(play.decide("read", card="9h"), Irregularity)


def test_an_unread_card_that_is_removed_takes_no_place(play: Play) -> None:
    play.open()
    play.boxes(1, 3)
    play.card(None)
    assert only(play.decide("remove"), CardRemoved).card is None
    assert [event.to for event in of_kind(play.card("9s"), CardDealt)] == ["box:1"]


@rule("ARA02-048", "ARA02-068")
def test_a_card_that_is_there_too_often_or_is_none_of_the_game(play: Play) -> None:
    play.open()
    play.boxes(1, 3)
    said = only(play.card("Xx"), Irregularity)
    assert said.what == "card_foreign"
    play.decide("read", card="6c")
    play.cards("6c 6c 6c 6c")
    play.key("stand")
    play.key("stand")
    said = only(play.card("6c"), Irregularity)
    assert said.what == "card_too_many"
    assert [event.to for event in of_kind(play.decide("accept"), CardDealt)] == ["dealer"]


@rule("ARA02-053")
def test_a_card_that_the_shoe_itself_is_not_sure_of(play: Play) -> None:
    dealing(play)
    play.key("draw")
    assert only(play.card("2c", unsure=True), Irregularity).what == "card_unsure"
    only(play.decide("accept"), CardDealt)


@rule("ARA02-068")
def test_the_person_in_charge_assigns_a_card_to_a_hand(play: Play) -> None:
    dealing(play)
    play.card("2c")
    with pytest.raises(RejectedError, match="box:2 has no hand in play"):
        play.decide("for", who="box:2")
    with pytest.raises(RejectedError, match="who must be one of"):
        play.decide("accept")
    events = play.decide("for", who="box:3")
    assert [(event.to, event.index) for event in of_kind(events, CardDealt)] == [("box:3", 3)]
    play.key("draw")
    play.card("Th")
    play.card("5h")
    with pytest.raises(RejectedError, match="takes no more cards"):
        play.decide("for", who="box:1")
    play.decide("for", who="dealer")
    play.key("stand")
    result = only(play.cards("2h"), RoundResult)
    assert result.confirmed_by == "M. Lasa (table_head)"
    assert outcomes(result)["dealer"][0] == 17


def test_commands_of_other_games_are_refused(play: Play) -> None:
    dealing(play)
    for action in ("next_round", "read", "accept", "for"):
        with pytest.raises(RejectedError, match="no card needs a decision"):
            play.decide(action)
    with pytest.raises(RejectedError, match="basket is not possible here"):
        play.decide("basket")
    with pytest.raises(RejectedError, match=r"has no command cards-turn"):
        play.send("cards.turn")


# Null


def test_the_person_in_charge_declares_a_round_null(play: Play) -> None:
    dealing(play)
    play.card("2c")
    with pytest.raises(RejectedError, match="croupier is not allowed"):
        play.send("round.void", role="croupier", reason="misdeal")
    event = only(play.send("round.void", reason="misdeal"), RoundVoid)
    assert event.law == play.game.book.void["misdeal"].rule
    assert history(play)[-1]["kind"] == "void"
    play.deal((2,), "Th")
    with pytest.raises(RejectedError, match="is not in progress"):
        play.send("round.void", reason="misdeal", round=1)


# Silences


def test_after_a_silence_a_person_states_the_cards(play: Play) -> None:
    dealing(play)
    play.key("draw")
    said = only(play.take(LinkStale(at=play.now(), device="shoe", age=5.0)), Irregularity)
    assert (said.what, said.asks) == ("silence", ("card.decide", "round.void"))
    with pytest.raises(RejectedError, match="the shoe is silent"):
        play.decide("accept")
    assert [
        (event.to, event.card) for event in of_kind(play.decide("read", card="2c"), CardDealt)
    ] == [("box:1", "2c")]
    play.take(LinkUp(at=play.now(), device="shoe"))
    play.card("7h")
    play.decide("accept")
    play.key("stand")
    said_last = play.key("stand")
    assert outcomes(only(said_last, RoundResult))["box:1"] == (14, None, "lose")
    assert play.state.shoe is not None
    assert play.state.shoe.left is None, "nothing is counted after a silence"


@pytest.mark.parametrize(
    "given", [LinkGap(at=1.0, lost=1), ShoeReset(at=1.0)], ids=["gap", "reset"]
)
def test_after_a_gap_and_a_reset_a_person_states_the_cards(play: Play, given: Any) -> None:
    dealing(play)
    play.take(given)
    assert "card.decide" in play.shown["asks"]
    play.decide("accept")
    assert play.shown["asks"] == []


def test_late_cards_are_not_acted_upon(play: Play) -> None:
    dealing(play)
    play.key("draw")
    assert only(play.card("2c", late=True), Irregularity).what == "silence"
    assert [event.to for event in of_kind(play.decide("accept"), CardDealt)] == ["box:1"]


def test_a_silence_between_rounds_loses_only_the_count(play: Play) -> None:
    play.open()
    assert not play.take(LinkStale(at=play.now(), device="shoe", age=5.0))
    play.take(LinkUp(at=play.now(), device="shoe"))
    assert not of_kind(play.deal((1, 2), "8h"), Irregularity)
    assert play.state.shoe is not None
    assert play.state.shoe.left is None


@pytest.mark.parametrize("why", ["void", "cut"])
def test_a_silent_shoe_does_not_stop_a_table_that_waits_for_no_card(why: str) -> None:
    play = dealing(Play())
    if why == "cut":
        play.cut()
    play.take(LinkLost(at=play.now(), device="shoe", reason="unplugged"))
    play.send("round.void", reason="inspector")
    assert play.shown["asks"] == ["card.decide"]
    play.decide("accept")
    assert play.shown["asks"] == []
    if why == "void":
        events = play.boxes(1)
        assert only(events, Irregularity).what == "silence", (
            "in the next round a card may be missed again"
        )
        with pytest.raises(RejectedError, match="the shoe is silent"):
            play.decide("accept")


def test_a_silence_in_the_burn(play: Play) -> None:
    play.open(burned=False)
    play.cards("2c 3c")
    play.take(LinkGap(at=play.now(), lost=1))
    play.cards("4c")
    assert not confidential(play.game, play.state, LinkUp(at=0.0))
    assert only(play.decide("next_round"), CardsBurned).count == 2
    assert play.state.burn == 0


def test_the_first_sign_of_a_device_is_no_silence(play: Play) -> None:
    assert not play.take(LinkUp(at=0.0, device="shoe"))
    dealing(play)
    assert not play.take(LinkUp(at=0.0, device="shoe"))


def test_faults_of_the_shoe_are_alerts(play: Play) -> None:
    fault = ShoeFault(at=0.0, device="shoe", fault="timeout", active=True, detail="12")
    assert (only(play.take(fault), AlertRaised).alert, play.take(fault)) == ("shoe_timeout", [])
    only(play.take(ShoeFault(at=0.0, device="shoe", fault="timeout", active=False)), AlertCleared)


def test_while_a_silence_is_in_doubt_nothing_else_is_decided(play: Play) -> None:
    dealing(play)
    play.take(LinkGap(at=play.now(), lost=1))
    play.card("2c")
    for action, why in (
        ("for", "waits for a person to decide about silence"),
        ("next_round", "already waits for the next round"),
    ):
        with pytest.raises(RejectedError, match=why):
            play.decide(action, who="box:1")
