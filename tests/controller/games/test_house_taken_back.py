"""A decision that was reported for the wrong hand is withdrawn, as long as nothing has followed
from it; else the refusal states the reason.
"""

from __future__ import annotations

from typing import Any

import pytest

from common.contract.events import AnyEvent, BetPlaced, CardDealt, CardExpected, HandDecided
from common.contract.refusals import RejectedError
from tests.support.games import banked_play, circle_play
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import of_kind
from tests.support.games.poker_play import box, dealt, result, singly, table

ONE, TWO, BANK = "Ts Td Tc 6c 7s", "As Ac 5d 8c Jh", "Ah Kd 5s 4s 9h"
LOW = "7c 5d 4h 3s 2c"
"""A hand without value: the bank does not play with it."""


def back(play: Any, number: int, action: str, **fields: Any) -> list[AnyEvent]:
    """Withdraw the decision of a box."""
    events: list[AnyEvent] = play.send(
        "hand.act", role="croupier", who=f"box:{number}", action=action, valid=False, **fields
    )
    return events


def decided(events: list[AnyEvent]) -> list[tuple[str, str, bool]]:
    return [(event.who, event.decision, event.valid) for event in of_kind(events, HandDecided)]


# Poker against the house


def test_a_hand_wrongly_reported_as_given_up_plays_on_with_its_cards() -> None:
    play = table()
    dealt(play, ONE, TWO, BANK)
    play.act(1, "pass")
    events = back(play, 1, "pass")
    assert decided(events) == [("box:1", "pass", False)]
    assert [event.announcement for event in of_kind(events, HandDecided)] == [None], (
        "nothing is called for it"
    )
    assert play.shown["undecided"] == ["box:1", "box:2"]
    play.again()
    play.act(1, "go")
    play.act(2, "pass")
    play.turn("dealer")
    events = play.turn("box:1")
    assert [(hand.who, hand.outcome) for hand in outcome_of(result(events)).hands] == [
        ("box:1", "win"),
        ("box:2", "lose"),
        ("dealer", None),
    ]
    assert box(events).cards == tuple(ONE.split())


def test_a_hand_wrongly_reported_as_going_is_undecided_again() -> None:
    play = table()
    dealt(play, ONE, TWO, BANK)
    play.act(1, "go")
    play.act(2, "go")
    assert play.shown["phase"] == "dealer"
    back(play, 2, "go")
    assert (play.shown["phase"], play.shown["undecided"]) == ("decisions", ["box:2"])
    with pytest.raises(RejectedError, match="dealer cannot be turned now"):
        play.turn("dealer")


@pytest.mark.parametrize(
    ("said", "action", "reason"),
    [
        ((), "go", "is not the last action of box:1; only that can be withdrawn"),
        (("go",), "pass", "is not the last action of box:1; only that can be withdrawn"),
        (
            ("buy", "card", "go"),
            "buy",
            "buy is not the last action of box:1; only that can be withdrawn",
        ),
    ],
)
def test_only_the_last_decision_is_withdrawn(
    said: tuple[str, ...], action: str, reason: str
) -> None:
    play = table()
    dealt(play, ONE, TWO, BANK)
    for event in said:
        if event == "card":
            play.cards("2h")
        else:
            play.act(1, event)
    with pytest.raises(RejectedError, match=reason):
        back(play, 1, action)


def test_a_decision_is_replaced_only_after_it_was_withdrawn() -> None:
    play = table()
    dealt(play, ONE, BANK)
    play.act(1, "go")
    with pytest.raises(
        RejectedError, match="box:1 has already decided go; to change it, send go first with valid"
    ):
        play.act(1, "pass")


@pytest.mark.parametrize("who", ["dealer", "box:1"])
def test_nothing_is_withdrawn_once_hands_lie_open(who: str) -> None:
    play = table()
    dealt(play, ONE, TWO, BANK)
    play.act(1, "go")
    play.act(2, "go")
    play.turn(who)
    with pytest.raises(
        RejectedError, match="cards are already face up, so no decision can be withdrawn; if the"
    ):
        back(play, 2, "go")


@pytest.mark.parametrize("exposed", ["first", "last"])
def test_the_banks_exposed_card_prevents_no_withdrawal(exposed: str) -> None:
    play = table(exposed=exposed)
    dealt(play, ONE, TWO, BANK)
    play.act(1, "go")
    assert decided(back(play, 1, "go")) == [("box:1", "go", False)]


@pytest.mark.parametrize("decree", ["BAL05", "EUS96"])
def test_a_card_is_not_bought_by_the_wrong_box(decree: str) -> None:
    play = table(decree=decree)
    dealt(play, ONE, TWO, BANK)
    play.act(1, "buy")
    events = back(play, 1, "buy")
    assert [event.to for event in of_kind(events, CardExpected)] == [None]
    play.act(2, "buy")
    assert [event.to for event in of_kind(play.cards("2h"), CardDealt)] == ["box:2"]
    with pytest.raises(
        RejectedError, match="box:2 has received a card for it, so it cannot be withdrawn; if the"
    ):
        back(play, 2, "buy")
    play.act(1, "go")
    play.act(2, "go")
    assert decided(back(play, 2, "go")) == [("box:2", "go", False)], (
        "decisions after the card may be withdrawn"
    )
    assert play.shown["hands"]["box:2"]["bought"]


def test_a_number_of_discards_is_corrected_before_new_cards_come() -> None:
    play = table("poker-draw-house", "EUS96")
    dealt(play, ONE, "As Ac 6d 8c Jh", LOW)
    play.act(1, "go")
    play.act(2, "go")
    play.act(1, "discard", count=1)
    assert play.shown["expected"] == "box:1"
    back(play, 1, "discard")
    assert (play.shown["expected"], play.shown["phase"]) == (None, "discards")
    assert play.shown["hands"]["box:1"]["discards"] is None
    play.act(1, "discard", count=2)
    play.cards("2h")
    with pytest.raises(
        RejectedError, match="box:1 has received a card for it, so it cannot be withdrawn; if the"
    ):
        back(play, 1, "discard")
    play.cards("3h")
    play.act(2, "discard", count=0)
    assert decided(back(play, 2, "discard")) == [("box:2", "discard", False)], (
        "for none no card came"
    )
    assert decided(back(play, 2, "go")) == [("box:2", "go", False)]


def test_a_pending_decision_comes_before_a_withdrawal() -> None:
    play = table()
    play.bets(1)
    play.cards(singly(ONE, BANK))
    play.act(1, "buy")
    play.cards("Ts")
    with pytest.raises(
        RejectedError, match="card_duplicate is not decided yet; the table is waiting for:"
    ):
        back(play, 1, "buy")


def test_a_withdrawn_decision_publishes_no_card() -> None:
    play = table()
    dealt(play, ONE, TWO, BANK)
    before = play.shown["hands"]
    play.act(1, "pass")
    back(play, 1, "pass")
    assert play.shown["hands"] == before
    assert before["box:1"]["cards"] == [None] * 5


# Trijoker


def trijoker() -> banked_play.Play:
    play = banked_play.Play("trijoker", "BAL05")
    play.open(1, 2)
    play.bets()
    play.cards("Ts As 2c Td Ac 3d Tc 5d")
    return play


def test_a_bet_wrongly_reported_as_withdrawn_is_back() -> None:
    play = trijoker()
    play.act("box:1", "withdraw")
    events = back(play, 1, "withdraw")
    assert decided(events) == [("box:1", "withdraw", False)]
    assert [(event.who, event.bet, event.withdrawn) for event in of_kind(events, BetPlaced)] == [
        ("box:1", "bet_1", False)
    ]
    assert play.shown["withdrawn"] == {}, "as before"
    play.act("box:2", "withdraw")
    play.turn("common:1", "common:2", "box:1", "box:2")
    outcomes = {
        who: banked_play.bets_of(play.result(), who)["bet_1"][0] for who in ("box:1", "box:2")
    }
    assert outcomes == {"box:1": "win", "box:2": "void"}


def test_a_bet_wrongly_reported_as_left_may_still_be_withdrawn() -> None:
    play = trijoker()
    play.act("box:1", "go")
    with pytest.raises(
        RejectedError, match="is not the last action of box:1; only that can be withdrawn"
    ):
        back(play, 1, "withdraw")
    back(play, 1, "go")
    play.act("box:1", "withdraw")
    assert play.shown["withdrawn"] == {"box:1": ["bet_1"]}


def test_the_turned_card_closes_a_decision_at_trijoker() -> None:
    play = trijoker()
    play.act("box:1", "withdraw")
    play.turn("common:1")
    with pytest.raises(
        RejectedError, match="is not the last action of box:1; only that can be withdrawn"
    ):
        back(play, 1, "withdraw")
    play.act("box:1", "withdraw")
    back(play, 1, "withdraw")
    assert play.shown["withdrawn"] == {"box:1": ["bet_1"]}, "the first one stays"
    play.turn("common:2")
    with pytest.raises(
        RejectedError, match="is not the last action of box:1; only that can be withdrawn"
    ):
        back(play, 1, "withdraw")


# Texas against the house


def texas() -> banked_play.Play:
    play = banked_play.Play("texas-house")
    play.open(1, 2)
    play.bets()
    play.cards("Ah 2c Ks As 7c Kd Tc 4d 9h")
    return play


def test_a_player_of_texas_wrongly_reported_as_giving_up_plays_on() -> None:
    play = texas()
    play.act("box:1", "pass")
    assert decided(back(play, 1, "pass")) == [("box:1", "pass", False)]
    assert play.shown["spoke"] == {}
    play.act("box:1", "go")
    play.act("box:2", "pass")
    assert play.shown["expected"] == "board"
    with pytest.raises(
        RejectedError, match="go is not the last action of box:2; only that can be withdrawn"
    ):
        back(play, 2, "go")
    events = back(play, 2, "pass")
    assert [event.to for event in of_kind(events, CardExpected)] == [None], (
        "the turn card is no longer due"
    )
    play.act("box:2", "pass")
    play.cards("4c 6s")
    play.turn("dealer", "box:1")
    assert [hand.outcome for hand in outcome_of(play.result()).hands] == [
        None,
        None,
        "win",
        "lose",
    ]


@pytest.mark.parametrize("follows", ["turn", "hand"])
def test_the_turn_card_or_a_hand_closes_the_decision_at_texas(follows: str) -> None:
    play = texas()
    play.act("box:1", "go")
    play.act("box:2", "go")
    if follows == "turn":
        play.cards("4c")
    else:
        play.turn("box:1")
    with pytest.raises(
        RejectedError, match="cards are already face up, so no decision can be withdrawn; if the"
    ):
        back(play, 2, "go")


# Pai gow


def test_a_hand_wrongly_reported_as_set_is_not_set() -> None:
    play = banked_play.Play("pai-gow")
    play.open(1, 2)
    play.bets()
    play.dice(1, 1, 6)
    for _ in range(3):
        play.packet(7)
    with pytest.raises(
        RejectedError, match="set is not the last action of box:1; only that can be withdrawn"
    ):
        back(play, 1, "set")
    play.act("box:1", "set")
    play.act("box:2", "set")
    assert decided(back(play, 1, "set")) == [("box:1", "set", False)]
    with pytest.raises(RejectedError, match="not every hand is set; still to set: box:1"):
        play.send(
            "cards.show",
            who="dealer",
            cards=["As", "Ks", "Qs", "Js", "9s", "2d", "3d"],
            low=["2d", "3d"],
        )
    play.act("box:1", "set")
    play.send(
        "cards.show",
        who="dealer",
        cards=["As", "Ks", "Qs", "Js", "9s", "2d", "3d"],
        low=["2d", "3d"],
    )
    with pytest.raises(
        RejectedError, match="cards are already face up, so no decision can be withdrawn; if the"
    ):
        back(play, 1, "set")


def test_a_circle_withdraws_no_word() -> None:
    """It has ``hand.act in`` for a hand that was reported as folded."""
    play = circle_play.table()
    with pytest.raises(
        RejectedError, match="an action cannot be withdrawn here; to bring back a folded hand, send"
    ):
        play.send("hand.act", who="seat:1", action="fold", valid=False)
