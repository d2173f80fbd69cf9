"""A device's silence at house poker, a person's decisions about a round, and published cards."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from common.contract.events import (
    AnyEvent,
    CardDealt,
    Irregularity,
    RoundResult,
    RoundUnresolved,
    RoundVoid,
)
from common.contract.refusals import RejectedError
from common.readings import LinkLost
from tests.support.games.outcomes import history, outcome_of
from tests.support.games.play import of_kind
from tests.support.games.poker_play import Play, box, dealt, singly, table

ONE, BANK = "As Ad Kc 2d 3h", "Ah Kd 5s 4s 9h"


def half_dealt() -> Play:
    play = table()
    play.bets(1)
    play.cards("As Ah Ad")
    return play


def test_a_silence_in_the_deal_stops_it() -> None:
    play = half_dealt()
    [irregular] = of_kind(play.gap(), Irregularity)
    assert (irregular.what, irregular.asks) == (
        "silence",
        ("cards.deal", "card.decide", "round.void"),
    )
    assert of_kind(play.gap(), Irregularity) == [], "it is reported once"
    assert of_kind(play.cards("Kd"), CardDealt) == [], "its owner is unknown"


def test_a_person_states_that_no_card_was_missed() -> None:
    play = half_dealt()
    play.gap()
    play.cards("Kd")
    assert [
        event.to for event in of_kind(play.send("card.decide", action="accept"), CardDealt)
    ] == ["dealer"]
    play.cards("Kc 5s 2d 4s 3h 9h")
    play.act(1, "go")
    play.turn()
    assert box(play.events).cards == ("As", "Ad", "Kc", "2d", "3h")


def test_a_person_reports_the_cards_dealt_in_the_silence() -> None:
    play = half_dealt()
    play.gap()
    play.cards("Kd")
    play.send("cards.deal", count=3)
    assert play.shown["phase"] == "decision"
    play.send("cards.deal", count=4)
    assert play.shown["phase"] == "decisions"
    play.act(1, "go")
    assert play.shown["asks"][0] == "cards.show", "only some of the cards are known"
    play.show("dealer", BANK)
    assert box(play.show("box:1", ONE)).kind == "pair"


@pytest.mark.parametrize("kind", ["card", "packet"])
def test_late_readings_are_never_acted_upon(kind: str) -> None:
    play = half_dealt()
    events = play.cards("Kd", late=True) if kind == "card" else play.packets(1, late=True)
    assert [event.what for event in of_kind(events, Irregularity)] == ["silence"]
    assert of_kind(events, CardDealt) == []
    play.cards("Kc", late=True)
    assert play.state.current is not None
    assert play.state.held == ()


def test_a_device_that_is_silent_when_bets_close() -> None:
    play = table()
    play.send("bets.open")
    play.send("boxes.set", boxes=[1])
    play.take(LinkLost(at=play.now(), device="shoe", reason="unplugged"))
    assert play.shown["asks"] == []
    assert [event.what for event in of_kind(play.send("bets.close"), Irregularity)] == ["silence"]


def test_a_device_that_returns_before_bets_close() -> None:
    play = table()
    play.gap()
    play.bets(1)
    assert play.shown["phase"] == "dealing"


def test_a_silence_of_the_coin_slots_hides_no_card() -> None:
    play = table()
    play.send("bets.open")
    play.send("boxes.set", boxes=[1])
    play.coin(1)
    play.send("bets.close")
    assert play.gap("slots") == []
    assert [event.what for event in of_kind(play.gap(), Irregularity)] == ["silence"]


def test_a_silence_when_no_card_is_to_come_hides_none() -> None:
    play = table()
    dealt(play, ONE, BANK)
    assert play.gap() == []
    play.act(1, "go")
    assert of_kind(play.turn(), RoundResult) != []


def test_a_silence_while_the_round_waits_for_something_else() -> None:
    play = half_dealt()
    play.cards("As")
    play.gap()
    events = play.send("card.decide", action="remove")
    assert [event.what for event in of_kind(events, Irregularity)] == ["silence"]


def test_a_session_that_closes_in_a_round_leaves_it_to_a_person() -> None:
    play = table()
    dealt(play, ONE, BANK)
    [left] = of_kind(play.send("session.close"), RoundUnresolved)
    assert (left.round, left.why, left.candidate) == (1, "undecided", None)
    assert play.evidence(left) == [f"frame {n}" for n in range(5, 15)], "of every card"
    [result] = of_kind(play.send("round.confirm"), RoundResult)
    assert (result.confirmed_by, [hand.cards for hand in outcome_of(result).hands]) == (
        "M. Lasa (table_head)",
        [("9h",)],
    )
    with pytest.raises(
        RejectedError, match="round 1 already has a result; send result-correct to replace it"
    ):
        play.send("round.void", round=1, reason="inspector")


def test_bets_that_are_open_when_the_session_closes_are_no_round() -> None:
    play = table()
    play.send("bets.open")
    assert of_kind(play.send("session.close"), RoundUnresolved) == []


def test_an_unresolved_round_may_be_null() -> None:
    play = table()
    dealt(play, ONE, BANK)
    play.send("session.close")
    [void] = of_kind(play.send("round.void", reason="device_fault"), RoundVoid)
    assert (void.round, void.reason) == (1, "device_fault")
    assert [line["kind"] for line in history(play)] == ["void"]


def test_a_person_confirms_a_round_whose_hands_are_unknown() -> None:
    play = table(dealt="packets")
    play.bets(1, 2)
    play.packets(5, 5, 5)
    with pytest.raises(
        RejectedError, match="round 1 is not over; not every hand has its cards and its decision"
    ):
        play.send("round.confirm")
    play.act(1, "go")
    play.act(2, "go")
    play.show("dealer", BANK)
    play.show("box:1", "Ks Kc 3h 6d 7d")
    [result] = of_kind(play.send("round.confirm"), RoundResult)
    assert [(hand.who, hand.outcome) for hand in outcome_of(result).hands] == [
        ("box:1", "win"),
        ("box:2", None),
        ("dealer", None),
    ]
    assert (outcome_of(result).marks, result.confirmed_by) == (
        ("dealer_qualifies",),
        "M. Lasa (table_head)",
    )


@pytest.mark.parametrize("reason", ["inspector", "misdeal", "device_fault"])
def test_the_person_in_charge_declares_a_round_null(reason: str) -> None:
    play = half_dealt()
    with pytest.raises(
        RejectedError, match="role croupier is not allowed to do this; allowed: table_head"
    ):
        play.send("round.void", role="croupier", reason=reason)
    with pytest.raises(
        RejectedError, match="ball_out is not a reason to void a round here; allowed: wrong_count,"
    ):
        play.send("round.void", reason="ball_out")
    assert [
        event.reason for event in of_kind(play.send("round.void", reason=reason), RoundVoid)
    ] == [reason]


def test_a_table_continues_from_its_saved_state() -> None:
    play, other = half_dealt(), half_dealt()
    steps: list[Callable[[Play], list[AnyEvent]]] = [
        lambda play: play.cards("Kd Kc 5s 2d 4s 3h 9h"),
        lambda play: play.act(1, "go"),
        lambda play: play.show("box:1", "As Ad Kc 2d 4h"),
        lambda play: play.show("box:1", ONE),
        lambda play: play.turn("dealer"),
    ]
    for step in steps:
        other.again()
        assert step(play) == step(other)
    assert of_kind(play.events, RoundResult) != []


# Published cards


def test_every_card_of_the_deal_is_sealed_but_the_exposed_one() -> None:
    play = table()
    dealt(play, ONE, BANK)
    assert len(play.sealed) == 9
    play.act(1, "go")
    play.turn("dealer")
    play.show("box:1", ONE)
    assert len(play.sealed) == 9, "showing a hand publishes only its open cards"


def test_wrongly_shown_cards_are_sealed() -> None:
    play = table()
    dealt(play, ONE, BANK)
    play.act(1, "go")
    play.turn("dealer")
    before = len(play.sealed)
    play.show("box:1", "As Ad Kc 2d 4h")
    assert len(play.sealed) == before + 1


@pytest.mark.rule("BAL09-082")
def test_discarded_and_folded_cards_are_never_published() -> None:
    play = table("poker-draw-house", "EUS96")
    dealt(play, "Ts Td 4c 6c 7s", "Ks Kd 4d 6d 7d", "8s 8d Ac 3h 2s")
    play.act(1, "go")
    play.act(2, "pass")
    play.act(1, "discard", count=2)
    play.cards("Th 9s")
    play.turn("dealer")
    play.cards("9c 5h")
    play.show("box:1", "Ts Td 7s Th 9s")
    told = {card for event in play.events for card in [getattr(event, "card", None)] if card}
    assert not told & {"Ks", "Kd", "4d", "6d", "7d", "4c", "6c"}
    assert play.state.current is None


def test_a_round_of_unread_cards_is_played_from_the_shown_hands() -> None:
    play = table()
    play.bets(1)
    play.cards(singly("- - - - -", "- - - - 9h"))
    play.act(1, "go")
    play.show("dealer", BANK)
    assert box(play.show("box:1", ONE)).outcome == "win"
