"""Covered poker with discards: who may open the pot, and who has to prove that he might."""

from __future__ import annotations

import pytest

from common.contract.events import (
    CardRemoved,
    CardTurned,
    HandDecided,
    Irregularity,
    RoundOpened,
)
from common.contract.refusals import RejectedError
from tests.support.games.circle_draw_play import (
    DEAL,
    HANDS,
    covered,
    discard,
    irregularities,
    opened,
    played,
    results,
)
from tests.support.games.circle_play import table
from tests.support.games.play import of_kind

rule = pytest.mark.rule


@rule("BAL09-060")
def test_the_opening_goes_up_from_jacks_to_aces_over_blank_hands() -> None:
    play = table("BAL09", "circle-draw")
    asked = []
    for _ in range(6):
        play.bets()
        play.cards(DEAL)
        asked.append(play.shown["opening"])
        assert results(play.close()) == [(None, ("blank",))]
    assert asked == ["J", "Q", "K", "A", "A", "A"]
    assert play.shown["last_winner"] is None
    play.bets()
    play.cards(DEAL)
    play.act(3, "open")
    play.close(winner=4)
    assert play.shown["opening"] == "J"


@rule("BAL09-060")
def test_a_match_begins_with_jacks() -> None:
    play = covered()
    play.close()
    assert play.shown["opening"] == "Q"
    play.send("session.close")
    play.open()
    assert play.shown["opening"] == "J"


def test_a_null_round_is_no_blank_hand_and_ends_none() -> None:
    play = covered()
    play.close()
    play.bets()
    play.send("round.void", reason="inspector")
    assert play.shown["opening"] == "Q"
    assert of_kind(play.bets(), RoundOpened)[0].relaunch


def test_no_bet_is_made_in_a_pot_that_is_not_open() -> None:
    play = covered()
    for action in ("bet", "raise", "call", "all_in"):
        with pytest.raises(
            RejectedError, match="nobody has opened the pot; for the first bet send action open"
        ):
            play.act(4, action)
    play.act(4, "check")
    events = play.act(3, "open")
    assert [event.decision for event in of_kind(events, HandDecided)] == ["open"]
    with pytest.raises(RejectedError, match="no pot is to be opened"):
        play.act(1, "open")
    play.act(1, "raise")
    play.close()
    assert play.current.opener == 3


@rule("BAL09-061")
def test_an_opener_who_kept_his_opening_has_proved_it() -> None:
    play = played()
    events = play.show(3, "Jc Jd Ad Ah As")
    assert irregularities(events) == []
    assert results(events) == [("seat:3", ())]


@rule("BAL09-061")
def test_an_opener_who_discarded_his_opening_shows_his_discards() -> None:
    play = played(cards="Ad Ah As")
    events = play.show(3, "Kc 8s Ad Ah As")
    [asked] = of_kind(events, Irregularity)
    assert (asked.what, asked.asks) == (
        "opening_unproven",
        ("cards.show", "cards.turn", "round.confirm", "deal.error"),
    )
    assert results(events) == []
    events = play.turn("discards")
    assert [(event.to, event.card) for event in of_kind(events, CardTurned)] == [
        ("discards", card) for card in ("Jc", "Jd", "Qc")
    ]
    assert results(events) == [("seat:3", ())]


@rule("BAL09-061")
def test_an_opener_who_cannot_prove_his_opening_does_not_win() -> None:
    play = played(opener=4, cards="Ad Ah As")
    events = play.show(4, "9s Ac Ad Ah As")
    assert irregularities(events) == ["opening_unproven"]
    events = play.show("discards", "7c 7d 8h")
    assert irregularities(events) == ["deal_false_opening"]
    assert [(event.why, event.to, event.card) for event in of_kind(events, CardRemoved)] == [
        ("false_opening", "seat:4", None)
    ]
    assert results(events) == [("seat:3", ())]


def test_an_opener_who_is_beaten_proves_nothing() -> None:
    play = played(opener=4, cards="Th Kh Qd")
    events = play.show(4, "9s Ac Th Kh Qd")
    assert irregularities(events) == []
    play = opened(opener=1)
    for seat in (1, 2, 3, 4):
        discard(play, seat, 0)
    play.close()
    assert results(play.turn()) == [("seat:3", ())]


@rule("BAL09-061")
def test_the_opener_proves_his_opening_even_if_all_others_give_up() -> None:
    play = covered()
    play.act(3, "open")
    events = play.close(winner=3)
    assert irregularities(events) == ["opening_unproven"]
    assert "cards.show" in play.asks
    play.again()
    assert results(play.turn(3)) == [("seat:3", ("no_showdown",))]


@rule("BAL09-061")
def test_a_false_opening_that_nobody_called_leaves_the_pot_for_the_next_round() -> None:
    play = covered()
    play.act(2, "open")
    play.close(winner=2)
    events = play.turn(2)
    assert irregularities(events) == ["deal_false_opening"]
    assert results(events) == [(None, ("false_opening", "pot_stays"))]


def test_a_person_confirms_the_opening_or_declares_it_false() -> None:
    play = covered()
    play.act(3, "open")
    play.close(winner=3)
    assert results(play.send("round.confirm", winner="seat:3"))[0][0] == "seat:3"
    play = covered()
    play.act(3, "open")
    with pytest.raises(
        RejectedError, match="seat:3 opened the pot; leave out who, or name that seat"
    ):
        play.error("false_opening", 1)
    play.act(1, "call")
    events = play.error("false_opening", 3)
    assert irregularities(events) == ["deal_false_opening"]
    assert "seat:3" not in play.shown["counts"]
    with pytest.raises(RejectedError, match="seat:3 does not play"):
        play.error("false_opening")
    play.close()
    assert [place.to for place in play.current.due] == ["seat:4", "seat:1", "seat:2"]


def test_where_the_kept_cards_were_not_read_a_possible_opening_is_enough() -> None:
    play = table("BAL09", "circle-draw")
    play.bets()
    for _ in range(4):
        play.packet(5)
    play.act(3, "open")
    play.close()
    for seat in (3, 4, 1, 2):
        discard(play, seat, 1 if seat == 3 else 0)
        if seat == 3:
            play.packet(1)
    play.close()
    for seat in (1, 2, 4):
        play.show(seat, HANDS[seat])
    events = play.show(3, "Jc Jd Qc Kc As")
    assert irregularities(events) == ["opening_unproven"]
    assert results(play.show("discards", "8s")) == [("seat:3", ())]
