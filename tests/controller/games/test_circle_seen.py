"""A reader reports a card face up that has to lie face down: it is not published before a person
has looked.
"""

from __future__ import annotations

import re

import pytest

from common.contract.events import (
    AnyEvent,
    CardDealt,
    CardExpected,
    CardRemoved,
    Irregularity,
    RoundResult,
    RoundVoid,
)
from common.contract.notation import write
from common.contract.refusals import RejectedError
from common.readings import LinkGap
from tests.support.for_each import for_each
from tests.support.games.circle_play import PAIRS, Play, half_dealt, shuffled, table, whats
from tests.support.games.play import of_kind

CARD = re.compile(r'"[2-9TJQKA][cdhs]"')
COVERED = (
    *PAIRS,
    *(
        (decree, game)
        for decree in ("BAL09", "EUS96")
        for game in ("seven-card-stud", "circle-draw")
    ),
)


def named(play: Play, events: list[AnyEvent]) -> list[str]:
    return CARD.findall(
        "".join(write(event).decode() for event in events) + str(play.shown).replace("'", '"')
    )


def waiting(decree: str = "EUS96") -> Play:
    """Hold'em: five cards are dealt, the sixth is reported face up."""
    play = half_dealt(decree)
    play.cards("Ks", exposed=True)
    return play


@for_each(("decree", "game"), COVERED)
def test_a_card_that_a_reader_reports_face_up_is_not_published(decree: str, game: str) -> None:
    play = table(decree, game)
    play.bets()
    to = play.state.expected
    events = play.cards("As", exposed=True)
    [asked] = of_kind(events, Irregularity)
    assert (asked.what, asked.detail, asked.asks) == (
        "deal_exposed",
        to,
        ("card.decide", "round.void"),
    )
    assert asked.law == play.game.book.laws["deal_exposed"].rule
    shown = play.shown
    assert (shown["phase"], shown["asks"], shown["expected"]) == (
        "decision",
        ["card.decide", "round.void"],
        None,
    )
    events += play.cards("Kh Qh")
    assert of_kind(events, CardDealt) == []
    events += play.accept()
    assert next((event.to, event.card) for event in of_kind(events, CardDealt)) == (to, None)
    assert len(of_kind(events, CardDealt)) == 3, "the cards after it follow"
    assert named(play, events) == []


def test_a_card_that_lies_face_down_after_all_is_known_when_it_is_turned() -> None:
    play = waiting()
    play.again()
    play.accept()
    play.cards("Qs Js")
    assert play.current.open
    assert [card.card for card in play.current.cards_of("seat:3")] == ["Kh", "Ks"]


@pytest.mark.rule("EUS96-203")
@pytest.mark.parametrize(("named_as", "message"), [(None, "Ks"), ("2c", "2c")])
def test_only_a_card_that_does_lie_face_up_is_an_irregularity(
    named_as: str | None, message: str
) -> None:
    play = waiting()
    events = play.send("card.decide", action="exposed", card=named_as)
    assert [event.card for event in of_kind(events, CardDealt)] == [message]
    assert [event.reason for event in of_kind(events, RoundVoid)] == ["card_exposed"]
    assert "Ks" not in str(events) or message == "Ks"


def test_a_person_may_find_another_card_and_the_reading_stays_the_evidence() -> None:
    play = waiting("BAL09")
    play.send("card.decide", action="exposed", card="2c")
    play.accept()
    play.cards("Qs Js")
    [card] = [card for card in play.current.cards_of("seat:1") if card.up]
    assert card.card == "2c"
    assert play.readings[(card.reading or 0) - 1].frame == "frame Ks"
    assert "Ks" not in str(play.events)


def test_a_removed_card_is_not_named() -> None:
    play = waiting()
    play.cards("Qs")
    said = play.send("card.decide", action="remove")
    [removed] = of_kind(said, CardRemoved)
    assert (removed.why, removed.card, removed.to) == ("exposed", None, "seat:3")
    assert [(event.to, event.card) for event in of_kind(said, CardDealt)] == [("seat:3", None)], (
        "the next takes its place"
    )
    assert "Ks" not in str(play.events)
    play.cards("Js 2d")
    assert play.current.open
    assert play.current.used == 9


def test_cards_are_checked_one_after_the_other() -> None:
    play = waiting()
    play.cards("Qs", exposed=True)
    assert [event.detail for event in of_kind(play.accept(), Irregularity)] == ["seat:2"]
    assert of_kind(play.accept(), Irregularity) == []
    play.cards("Js")
    assert play.current.open


def test_an_unread_card_is_requested_when_it_lies_open() -> None:
    play = half_dealt("BAL09")
    play.cards("-", exposed=True)
    events = play.send("card.decide", action="exposed")
    assert [event.what for event in of_kind(events, Irregularity)] == [
        "card_unread",
        "deal_exposed",
    ]
    play.accept()
    play.cards("Qs Js")
    play.show(1, "9c", index=2)
    assert play.current.cards_of("seat:1")[1].face == "9c"


def test_the_round_waits_for_the_decision() -> None:
    play = waiting()
    for name, fields in (
        ("cards.deal", {"count": 1}),
        ("hand.act", {"who": "seat:1", "action": "fold"}),
        ("cards.turn", {"who": "seat:1"}),
        ("cards.show", {"who": "seat:1", "cards": ["Kh"], "index": 1}),
        ("deal.error", {"error": "exposed", "who": "seat:1"}),
        ("betting.close", {}),
        ("round.confirm", {"winner": "seat:1"}),
    ):
        with pytest.raises(
            RejectedError,
            match="a card that a reader reported face up is waiting; send card-decide or",
        ):
            play.send(name, **fields)
    for action, card in (("read", "Ks"), ("next_round", None), ("exposed", "Zz")):
        with pytest.raises(
            RejectedError,
            match=r"possible: accept, exposed, remove|is not a card",
        ):
            play.send("card.decide", action=action, card=card)
    said = play.send("round.void", reason="misdeal")
    assert of_kind(said, RoundVoid)
    assert "Ks" not in str(play.events)
    play.send("bets.open")


def test_where_more_cards_come_than_can_wait_a_person_states_their_places() -> None:
    play = waiting()
    assert "silence" not in whats(play.cards("- " * 52))
    assert whats(play.cards("-")) == ["silence"]


def test_a_silence_still_needs_a_person_when_the_card_is_decided() -> None:
    play = waiting()
    play.take(LinkGap(at=play.now(), lost=1))
    play.accept()
    assert [trouble.what for trouble in play.state.doubts] == ["silence"]
    play.accept()
    play.cards("Qs Js")
    assert play.current.open


def test_the_last_card_is_announced_once() -> None:
    play = table("BAL09", "seven-card-stud")
    play.bets()
    cards = shuffled(play, 1)
    while not (
        play.current.street == 4
        and play.current.due
        and not play.current.due[0].up
        and play.current.due[0].to != "burn"
    ):
        if play.current.open:
            play.close()
        else:
            play.cards(cards.pop())
    play.cards(cards.pop(), exposed=True)
    play.accept()
    assert sum(event.announcement is not None for event in of_kind(play.events, CardExpected)) == 1


def test_a_card_that_is_dealt_face_up_is_published_as_always() -> None:
    play = table("EUS96", "five-card-stud")
    play.bets()
    while not play.current.due[0].up:
        play.packet(1)
    events = play.cards("As", exposed=True)
    assert [event.card for event in of_kind(events, CardDealt)] == ["As"]
    assert of_kind(events, Irregularity) == []
    assert of_kind(events, RoundResult) == []
