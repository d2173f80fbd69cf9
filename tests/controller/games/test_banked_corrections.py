"""Published results of trijoker, texas against the house and pai gow that a person corrects."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from common.contract.events import AwardQualified, ResultCorrected
from common.contract.refusals import RejectedError
from tests.support.for_each import for_each
from tests.support.games.banked_play import Play
from tests.support.games.outcomes import history, outcome_of
from tests.support.games.play import of_kind

TRIJOKER = "Ah 2c Kd Ac 3c 9d 7h 8s"
"""Box 1 has aces, box 2 nothing; the common cards are the king and the nine of diamonds."""


def trijoker(cards: str = TRIJOKER) -> Play:
    play = Play("trijoker", "BAL05")
    play.open(1, 2)
    play.bets()
    play.cards(cards)
    play.act("box:2", "withdraw")
    play.turn("common:1", "common:2", "box:1", "box:2")
    return play


def texas(cards: str = "Ah 2c Ks As 7c Kd Tc 4d 9h 4c 6s", *, second: str = "go") -> Play:
    play = Play("texas-house")
    play.open(1, 2)
    play.send("bets.open", "croupier")
    play.send("bet.place", "croupier", who="box:1", bet="txb")
    play.send("bets.close", "croupier")
    deal = cards.split()
    play.cards(" ".join(deal[:9]))
    play.act("box:1", "go")
    play.act("box:2", second)
    play.cards(" ".join(deal[9:]))
    play.turn("dealer", "box:1", *(["box:2"] if second == "go" else []))
    return play


def pai_gow(low: str = "Kc Kd") -> Play:
    play = Play("pai-gow")
    play.open(1)
    play.bets()
    play.send("dice.tell", values=[5, 5, 5])
    play.packet(7)
    play.packet(7)
    play.send("deck.check", cards=39)
    play.act("box:1", "set")
    play.send(
        "cards.show",
        who="dealer",
        cards=["Qc", "Qd", "9h", "8s", "7c", "Jd", "Th"],
        low=["Jd", "Th"],
    )
    play.send(
        "cards.show", who="box:1", cards=["Kc", "Kd", "2h", "3s", "5c", "Ah", "4d"], low=low.split()
    )
    return play


def correct(play: Play, **hands: str) -> list[Any]:
    """Correct hands to these cards: ``box1`` for ``box:1``, ``box1_low`` for its low hand."""
    named = {
        who.replace("box", "box:").replace("_low", ".low"): cards.split()
        for who, cards in hands.items()
    }
    return [*play.send("result.correct", round=1, hands=named)]


def corrected(events: list[Any]) -> ResultCorrected:
    [event] = of_kind(events, ResultCorrected)
    return event


def awards(events: list[Any]) -> list[tuple[str, str, bool]]:
    return [(event.box, event.hand, event.valid) for event in of_kind(events, AwardQualified)]


def test_trijoker_is_as_the_right_cards_would_have_made_it() -> None:
    play, other = trijoker(), trijoker(TRIJOKER.replace("Kd", "2d").replace("Ac", "2h"))
    now = corrected(correct(play, common="2d 9d", box1="Ah 2h 7h"))
    assert outcome_of(now).hands == outcome_of(other.result()).hands
    assert history(play)[-1] == {
        **history(other)[-1],
        "corrected": True,
    }


def test_texas_is_as_the_right_cards_would_have_made_it_and_its_bonus_too() -> None:
    play = texas()
    other = texas("Ah 2c Qh Qs 7c Jd Tc 4d 9h 4c 6s")
    events = correct(play, box1="Ah Qs", dealer="Qh Jd")
    now, then = corrected(events), other.result()
    assert (outcome_of(now).hands, outcome_of(now).marks) == (
        outcome_of(then).hands,
        outcome_of(then).marks,
    )
    assert awards(play.events) == [("box:1", "pair", True), ("box:1", "pair", False)]
    assert awards(correct(play, box1="Ah As")) == [("box:1", "pair", True)]
    assert awards(correct(play, box1="Ah Ad")) == [
        ("box:1", "pair", False),
        ("box:1", "pair", True),
    ], "of other cards"


def test_pai_gow_is_as_the_right_hands_would_have_made_it() -> None:
    play, other = pai_gow(), pai_gow("Ah 4d")
    assert (
        outcome_of(corrected(correct(play, box1_low="Ah 4d"))).hands
        == outcome_of(other.result()).hands
    )
    play.again()
    assert (
        outcome_of(corrected(correct(play, box1_low="Kd Kc"))).hands
        != outcome_of(other.result()).hands
    )


def test_a_hand_reported_as_wrongly_set() -> None:
    play = pai_gow("Kc")
    [hand] = [each for each in outcome_of(play.result()).hands if each.who == "box:1"]
    assert (hand.kind, hand.outcome) == ("wrongly_set", "lose")
    now = corrected(correct(play, box1_low="Kc Kd"))
    assert [
        (each.kind, each.low_kind, each.outcome)
        for each in outcome_of(now).hands
        if each.who == "box:1"
    ] == [("straight", "pair", "win")]
    back = corrected(correct(play, box1_low="5c Ah 4d"))
    assert [each.kind for each in outcome_of(back).hands if each.who == "box:1"] == ["wrongly_set"]


@for_each(
    ("hands", "why"),
    [
        ({}, "hands is required; name each wrong hand with its right cards"),
        (
            {"box1": "Kc Kd 2h 3s 5c Ah 4c"},
            "hands must name box:1.low: which of the cards are the low hand",
        ),
        ({"box1_low": "Qc Kd"}, "hands must name box:1.low: which of the cards are the low hand"),
        ({"box1_low": "Kd Kd"}, "hands must name box:1.low: which of the cards are the low hand"),
        ({"box2_low": "Kc Kd"}, "box:2 was not face up in round 1; face up were: dealer, box:1"),
        ({"dealer": "Qc Qd 9h 8s Jd Th"}, "dealer has 7 cards, not 6; name as many"),
        ({"dealer": "Qc Qd 9h 8s Kc Jd Th"}, "a card would be in the round twice; name each once"),
        ({"dealer": "Qc Qd 9h 8s Zz Jd Th"}, "not in this deck: Zz"),
        (
            {"dealer": "Qd Qc 9h 8s 7c Jd Th", "box1_low": "Kd Kc"},
            "the hands of round 1 are already as sent",
        ),
    ],
)
def test_what_may_not_be_corrected(hands: dict[str, str], why: str) -> None:
    play = pai_gow("Ah 4d") if "box1" in hands else pai_gow()
    state = play.state
    with pytest.raises(RejectedError, match=why):
        correct(play, **hands)
    assert play.state is state


def test_cards_that_lay_face_down_are_neither_stored_nor_requested() -> None:
    play = texas(second="pass")
    kept = msgspec.json.encode([play.state.entries, play.state.played]).decode()
    assert '"As"' in kept
    assert not [card for card in ("2c", "7c") if f'"{card}"' in kept]
    with pytest.raises(
        RejectedError, match="box:2 was not face up in round 1; face up were: dealer, board, box:1"
    ):
        correct(play, box2="2c 7d")
    assert outcome_of(corrected(correct(play, dealer="Ks 7c"))).hands, (
        "the card of a hand that gave up: not published"
    )


def test_only_the_person_in_charge_corrects() -> None:
    play = trijoker()
    with pytest.raises(
        RejectedError, match="role croupier is not allowed to do this; allowed: table_head,"
    ):
        play.send("result.correct", "croupier", round=1, hands={"box:1": ["Ah", "Ac", "7d"]})
    with pytest.raises(
        RejectedError, match="the result follows from the cards; leave out number, dice and winner"
    ):
        play.send("result.correct", round=1, winner="box:1")


def test_a_round_that_was_only_confirmed_is_not_settled() -> None:
    play = Play("texas-house")
    play.open(1)
    play.bets()
    play.cards("Ah 2c Ks As Tc 4d 9h")
    play.send("session.close")
    play.send("round.confirm", round=1)
    now = corrected(correct(play, board="Tc 4d 9s"))
    assert [(hand.who, hand.cards, hand.settled) for hand in outcome_of(now).hands] == [
        ("board", ("Tc", "4d", "9s"), ())
    ]


def test_a_published_bonus_is_withdrawn_with_a_null_round() -> None:
    play = texas_bonus()
    assert awards(play.events) == [("box:1", "pair", True)]
    assert awards(play.send("round.void", reason="misdeal")) == [("box:1", "pair", False)]
    touched = texas_bonus()
    assert awards(touched.send("deal.error", error="touched", who="box:1", fault="player")) == [
        ("box:1", "pair", False)
    ]


def texas_bonus() -> Play:
    """Both go, and box 1 shows a pair of aces before turn and river."""
    play = Play("texas-house")
    play.open(1, 2)
    play.send("bets.open", "croupier")
    play.send("bet.place", "croupier", who="box:1", bet="txb")
    play.send("bets.close", "croupier")
    play.cards("Ah 2c Ks As 7c Kd Tc 4d 9h")
    play.act("box:1", "go")
    play.act("box:2", "go")
    play.turn("box:1")
    return play
