"""Cards that should not have come, or not so: the table stops, cites the rule and asks; a person
decides.
"""

from __future__ import annotations

from typing import Any

import pytest

from common.contract.events import (
    AlertCleared,
    AlertRaised,
    CardDealt,
    CardRemoved,
    CardTurned,
    Irregularity,
    ResultCorrected,
    RoundOpened,
    RoundResult,
    RoundUnresolved,
    RoundVoid,
)
from common.contract.notation import write
from common.contract.refusals import RejectedError
from common.readings import CardDrawn, ShoeFault
from tests.support.for_each import for_each
from tests.support.games.decrees import by_decree
from tests.support.games.outcomes import history, outcome_of
from tests.support.games.play import confidential, of_kind, only
from tests.support.games.punto_banca_play import DECREES, Play, expected

every = pytest.mark.parametrize("decree", DECREES)
ASKS = ("card.decide", "round.void")


def table(decree: str = "ARA02", **settings: Any) -> Play:
    play = Play(decree, **settings)
    play.open()
    return play


def stopped(said: list[Any], what: str, asks: tuple[str, ...] = ASKS) -> Irregularity:
    """The only irregularity, which published no card."""
    irregularity = only(said, Irregularity)
    assert (irregularity.what, irregularity.asks, irregularity.frames) == (what, asks, ())
    return irregularity


# Too early, too many, out of place


@pytest.mark.parametrize("decree", by_decree("BAL05-105", "ARA02-074", "EUS96-119", "GAL07-094"))
def test_a_card_before_no_more_bets(decree: str) -> None:
    play = table(decree)
    play.send("bets.open")
    irregularity = stopped(play.cards("7h"), "card_before_close")
    assert irregularity.law == play.game.book.laws["card_before_close"].rule
    [dealt] = of_kind(play.send("card.decide", action="accept"), CardDealt)
    assert (dealt.to, dealt.index, dealt.card) == ("player", 1, None)
    assert expected(play.send("bets.close")) == ["banker"]


@pytest.mark.parametrize("decree", by_decree("BAL05-101", "ARA02-080", "EUS96-123", "GAL07-098"))
def test_a_card_after_the_round_is_of_no_round(decree: str) -> None:
    play = table(decree)
    play.coup("Kc Qd 7h 6s")
    stopped(play.cards("2h"), "card_out_of_round", ("card.decide",))
    with pytest.raises(RejectedError, match="a card needs a decision"):
        play.send("bets.open")
    with pytest.raises(
        RejectedError, match="no round in progress; send card-decide remove or next_round"
    ):
        play.send("card.decide", action="accept")
    removed = only(play.send("card.decide", action="remove"), CardRemoved)
    assert (removed.why, removed.card) == ("decided", None)
    assert play.shown["asks"] == []


@pytest.mark.parametrize("decree", by_decree("BAL05-101", "ARA02-080", "EUS96-123", "GAL07-098"))
def test_a_fifth_card_before_the_four_are_turned(decree: str) -> None:
    play = table(decree)
    play.bets()
    play.cards("Kc Qd 4h 6s")
    stopped(play.cards("2h"), "card_before_turn")
    with pytest.raises(RejectedError, match="send cards-turn first"):
        play.send("card.decide", action="accept")
    assert expected(play.send("cards.turn")) == []
    [dealt] = of_kind(play.send("card.decide", action="accept"), CardDealt)
    assert (dealt.to, dealt.index) == ("player", 3)


@pytest.mark.parametrize("decree", by_decree("BAL05-099", "ARA02-077", "EUS96-120", "GAL07-088"))
def test_a_card_after_a_natural(decree: str) -> None:
    play = table(decree)
    play.bets()
    play.cards("Kc Qd 8h 6s")
    play.send("cards.turn", who="player")
    stopped(play.cards("2h"), "card_after_end")
    assert (
        of_kind(play.send("cards.turn", who="banker"), RoundResult) == []
    )  # it waits with the card
    with pytest.raises(RejectedError, match="no card may come now"):
        play.send("card.decide", action="accept")
    events = play.send("card.decide", action="remove")
    result = only(events, RoundResult)
    assert (outcome_of(result).winner, result.confirmed_by) == ("player", "M. Lasa (table_head)")


@for_each("decree", by_decree("BAL05-097", "ARA02-075", "EUS96-119", "GAL07-087 GAL07-095"))
@for_each("claim", [{"to": "player"}, {"to": "banker", "index": 2}, {"index": 3}, {"to": "burn"}])
def test_a_card_that_the_shoe_places_elsewhere(decree: str, claim: dict[str, Any]) -> None:
    play = table(decree)
    play.bets()
    assert of_kind(play.cards("Kc", to="player", index=1), Irregularity) == []
    irregularity = stopped(play.cards("Qd", **claim), "card_misplaced")
    assert irregularity.detail is not None
    assert irregularity.detail.startswith("banker 1 expected, the shoe says")
    with pytest.raises(RejectedError, match="the next card goes to banker"):
        play.send("card.decide", action="for", who="player")
    with pytest.raises(RejectedError, match="who must be one of"):
        play.send("card.decide", action="for")
    [dealt] = of_kind(play.send("card.decide", action="for", who="banker"), CardDealt)
    assert (dealt.to, dealt.index) == ("banker", 1)


def test_cards_behind_one_that_waits_follow_in_their_order() -> None:
    play = table()
    play.bets()
    play.cards("Kc")
    play.cards("Qd", unsure=True)
    assert play.cards("7h 6s") == []
    events = play.send("card.decide", action="accept")
    assert [(event.to, event.index) for event in of_kind(events, CardDealt)] == [
        ("banker", 1),
        ("player", 2),
        ("banker", 2),
    ]
    assert outcome_of(only(play.send("cards.turn"), RoundResult)).winner == "player"


def test_a_second_wrong_card_stops_the_table_again() -> None:
    play = table()
    play.bets()
    play.cards("Kc", unsure=True)
    play.cards("Qd", to="banker", index=2)
    play.cards("7h")
    events = play.send("card.decide", action="accept")
    stopped(events, "card_misplaced")
    assert [event.to for event in of_kind(events, CardDealt)] == ["player"]
    events = play.send("card.decide", action="accept")
    assert [event.to for event in of_kind(events, CardDealt)] == ["banker", "player"]


def test_more_cards_than_can_wait_are_not_followed() -> None:
    play = table()
    play.bets()
    play.cards("Kc", unsure=True)
    play.cards("Qd 5h 6s " + "2c 3c 4c 5c 6c 7c 8c 9c Tc Jc Qc")
    assert play.state.shoe is not None
    assert (len(play.state.held), play.state.shoe.drawn) == (12, 17)
    events = play.send("card.decide", action="accept")
    assert len(of_kind(events, CardDealt)) == 4
    stopped(events, "card_before_turn")
    play.send("cards.turn")
    events = play.send(
        "card.decide", action="accept"
    )  # five and two: the third card of the player, seven
    play.send("cards.turn")
    while play.state.held:
        events = play.send("card.decide", action="remove")
    assert outcome_of(only(events, RoundResult)).hands
    play = table(rounds="shoe", turn="when_complete")
    play.cards("Kc", unsure=True)
    play.cards("Qd 7h 6s 2c 3c 6d 4d Kd Qh 7s 6h As")
    events = play.send("card.decide", action="accept")
    assert [event.round for event in of_kind(events, RoundResult)] == [1, 2, 3]
    assert only(play.cards("2h"), RoundUnresolved).round == 4  # one card of it could not wait


@pytest.mark.rule("GAL07-060")
@every
def test_a_card_that_is_removed_takes_no_place(decree: str) -> None:
    play = table(decree)
    play.bets()
    play.cards("Kc")
    stopped(play.cards("Qd", exposed=True), "card_exposed")
    removed = only(play.send("card.decide", action="remove"), CardRemoved)
    assert (removed.why, removed.card) == ("exposed", None)
    assert "Qd" not in str(play.events), "neither a device's report nor a removal names a card"
    [dealt] = of_kind(play.cards("3d"), CardDealt)
    assert (dealt.to, dealt.index) == ("banker", 1)


def test_a_card_may_be_the_first_of_the_next_round() -> None:
    play = table()
    play.coup("Kc Qd 7h 6s")
    play.cards("2h")
    play.send("card.decide", action="next_round")
    events = play.bets()
    assert [(event.to, event.index) for event in of_kind(events, CardDealt)] == [("player", 1)]
    assert expected(events)[-1] == "banker"
    play.cards("3h 7s 3d")
    assert outcome_of(only(play.send("cards.turn"), RoundResult)).winner == "player"


def test_without_keys_such_a_card_opens_the_next_round() -> None:
    play = table(rounds="shoe", turn="when_complete")
    play.cards("Kc Qd 7h 6s")
    play.cards("2h", unsure=True)
    events = play.send("card.decide", action="next_round")
    assert only(events, RoundOpened).round == 2
    assert [(event.to, event.index) for event in of_kind(events, CardDealt)] == [("player", 1)]


def test_without_keys_such_a_card_is_dealt_before_the_next() -> None:
    play = table(rounds="shoe", turn="when_complete")
    play.cards("Kc Qd")
    play.cards("2h", unsure=True)
    play.send("card.decide", action="next_round")
    play.cards("7h 6s")
    events = play.cards("9d")
    assert only(events, RoundOpened).round == 2
    assert [(event.to, event.index) for event in of_kind(events, CardDealt)] == [
        ("player", 1),
        ("banker", 1),
    ]
    events = play.cards("5c Kd")
    assert outcome_of(only(events, RoundResult)).hands[0].cards == ("2h", "5c")


# Unread, foreign, too often


@every
def test_an_unread_card_keeps_its_place_and_a_person_reads_it(decree: str) -> None:
    play = table(decree)
    play.bets()
    events = play.cards("Kc -")
    assert stopped(events, "card_unread").detail == "banker 1"
    assert of_kind(play.cards("7h 6s"), CardDealt)[-1].to == "banker"
    events = play.send("cards.turn")
    assert [event.card for event in of_kind(events, CardTurned)] == ["Kc", "7h", "6s"]
    assert of_kind(events, RoundResult) == []
    with pytest.raises(
        RejectedError, match="a card was not read; send card-decide read with the card"
    ):
        play.send("card.decide", action="accept")
    for wrong in (None, "7", "Xx"):
        with pytest.raises(RejectedError, match=r"(is not a card|no card is named)"):
            play.send("card.decide", action="read", card=wrong)
    events = play.send("card.decide", action="read", card="Qd")
    assert [(event.to, event.index, event.card) for event in of_kind(events, CardTurned)] == [
        ("banker", 1, "Qd")
    ]
    result = only(events, RoundResult)
    assert (outcome_of(result).winner, result.confirmed_by) == ("player", "M. Lasa (table_head)")


def test_a_persons_reading_of_a_card_face_down_is_not_published() -> None:
    play = table()
    play.bets()
    play.cards("Kc - 7h 6s")
    play.sealed.clear()
    assert play.send("card.decide", action="read", card="Qd", who="banker") == []
    assert play.sealed == ["Qd"]
    assert outcome_of(only(play.send("cards.turn"), RoundResult)).winner == "player"


@pytest.mark.rule("BAL05-007", "ARA02-071", "EUS96-054", "EUS96-116", "GAL07-040")
@every
def test_a_foreign_card_and_one_too_often(decree: str) -> None:
    play = table(decree)
    play.bets()
    stopped(play.cards("Xx"), "card_foreign")
    play.send("card.decide", action="remove")
    [dealt] = of_kind(play.cards("Kc"), CardDealt)
    assert dealt.to == "player"
    play = table(decree, turn="when_complete")
    for _ in range(3):
        play.bets()
        play.cards("Kc 4d Kc 5s")
    play.bets()
    irregularity = stopped(play.cards("Kc"), "card_too_many")
    assert irregularity.detail is None
    [dealt] = of_kind(play.send("card.decide", action="read", card="Ks"), CardDealt)
    assert dealt.to == "player"
    assert play.state.shoe is not None
    assert (play.state.shoe.seen["Kc"], play.state.shoe.seen["Ks"]) == (6, 1)


def test_the_reading_of_a_card_that_was_read_otherwise_is_evidence_too() -> None:
    play = table()
    play.bets()
    play.cards("Xx")
    play.send("card.decide", action="read", card="Kc")
    play.cards("Qd 7h 6s")
    result = only(play.send("cards.turn"), RoundResult)
    assert len(play.evidence(result)) == 4
    assert outcome_of(result).winner == "player"


# Null rounds and who may declare them


@every
def test_the_person_who_directs_the_game_may_declare_a_round_null(decree: str) -> None:
    play = table(decree)
    play.bets()
    play.cards("Kc Qd", unsure=True)
    with pytest.raises(RejectedError, match="role croupier is not allowed to do this"):
        play.send("round.void", role="croupier", reason="misdeal")
    with pytest.raises(
        RejectedError, match="ball_out is not a reason to void a round here; allowed: cards_stuck"
    ):
        play.send("round.void", reason="ball_out")
    void = only(play.send("round.void", reason="cards_stuck"), RoundVoid)
    assert (void.reason, void.last_number, void.by) == ("cards_stuck", None, "M. Lasa")
    assert history(play)[0]["kind"] == "void"
    assert play.shown["asks"] == []
    with pytest.raises(RejectedError, match="round 1 is already void"):
        play.send("round.void", reason="misdeal", round=1)
    play.coup("Kc Qd 7h 6s")
    with pytest.raises(RejectedError, match="round 2 already has a result"):
        play.send("round.void", reason="misdeal", round=2)
    with pytest.raises(RejectedError, match="no round is in progress and none is unresolved"):
        play.send("round.void", reason="misdeal")


def test_the_roles_that_may_decide() -> None:
    play = table()
    play.bets()
    play.cards("Kc", unsure=True)
    with pytest.raises(
        RejectedError,
        match="role croupier is not allowed to do this; allowed: table_head, inspector, director",
    ):
        play.send("card.decide", role="croupier", action="accept")
    with pytest.raises(RejectedError, match="role technician is not allowed"):
        play.send("cards.turn", role="technician")
    with pytest.raises(RejectedError, match="this game has no command hand"):
        play.send("hand.stand")
    play.send("card.decide", action="accept")
    with pytest.raises(RejectedError, match="no card needs a decision"):
        play.send("card.decide", action="accept")


@every
def test_a_published_result_may_be_corrected(decree: str) -> None:
    play = table(decree)
    play.coup("Kc Qd 7h 6s")
    for wrong, why in (
        ({"winner": "player"}, "is already player"),
        ({}, "winner must be one of"),
        ({"winner": "bank"}, "winner must be one of"),
    ):
        with pytest.raises(RejectedError, match=why):
            play.send("result.correct", round=1, **wrong)
    with pytest.raises(RejectedError, match="round 2 is not among the remembered rounds"):
        play.send("result.correct", round=2, winner="tie")
    corrected = only(play.send("result.correct", round=1, winner="tie"), ResultCorrected)
    assert (corrected.round, outcome_of(corrected).winner, corrected.was, corrected.by) == (
        1,
        "tie",
        "player",
        "M. Lasa",
    )
    assert history(play) == [
        {
            "round": 1,
            "kind": "result",
            "outcome": {"family": "baccarat", "winner": "tie", "hands": [], "marks": ["tie"]},
            "corrected": True,
        }
    ]
    play.bets()
    play.send("round.void", reason="inspector")
    with pytest.raises(RejectedError, match="round 2 has no result to correct"):
        play.send("result.correct", round=2, winner="tie")


# Complaints of the shoe


@pytest.mark.parametrize("decree", by_decree("BAL05-004", "EUS96-051", "GAL07-044", "ARA02-071"))
def test_one_card_at_a_time(decree: str) -> None:
    play = table(decree)
    play.bets()
    stopped(play.cards("Kc", unsure=True), "card_unsure")
    play.send("card.decide", action="accept")
    events = play.take(
        ShoeFault(at=play.now(), device="shoe", fault="overdraw", active=True, detail="7h")
    )
    assert only(events, Irregularity).law == play.game.book.laws["overdraw"].rule
    alert = only(events, AlertRaised)
    assert (alert.alert, alert.detail) == ("shoe_overdraw", None)
    events = play.take(ShoeFault(at=play.now(), device="shoe", fault="overdraw", active=False))
    assert only(events, AlertCleared).alert == "shoe_overdraw"


def test_a_card_in_a_fault_is_not_published() -> None:
    play = table()
    fault = ShoeFault(
        at=1.0, device="shoe", fault="card_code", active=True, detail="7h", frame="code 7h"
    )
    assert confidential(play.game, play.state, fault)
    assert b"7h" not in b"".join(map(write, play.take(fault)))
    jam = ShoeFault(at=1.0, device="shoe", fault="alarm", active=True, detail="E12")
    assert not confidential(play.game, play.state, jam)
    assert only(play.take(jam), AlertRaised).detail == "E12"
    assert play.take(jam) == []


def test_no_irregularity_names_a_card() -> None:
    play = table()
    play.send("bets.open")
    events = play.take(CardDrawn(at=1.0, device="shoe", frame="the 7h", card="7h"))
    assert b"7h" not in b"".join(map(write, events))
