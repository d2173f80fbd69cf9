"""A reader that sends only when it reads is received again with the first card of a deal: the
table's question, and what it believes.
"""

from __future__ import annotations

import pytest

from common.contract.events import AnyEvent, Irregularity, RoundResult
from common.contract.refusals import RejectedError
from common.readings import CardDrawn, LinkLost, LinkUp
from tests.support.games.circle_play import Play, table
from tests.support.games.outcomes import outcome_of

STREETS = ("2c 3c 4c 9d", "2d Td", "2h 7d")


def draw(play: Play, cards: str) -> list[AnyEvent]:
    events: list[AnyEvent] = []
    for card in cards.split():
        events += play.take(
            CardDrawn(at=play.now(), device="shoe", frame=f"frame {card}", card=card)
        )
    return events


def silences(events: list[AnyEvent]) -> list[Irregularity]:
    return [
        event for event in events if isinstance(event, Irregularity) and event.what == "silence"
    ]


def deal(play: Play) -> None:
    play.send("bets.open")
    play.send("bets.close")


def restarted() -> Play:
    """The daemon was restarted between two rounds; the deal has begun, and its first card comes."""
    play = table()
    play.take(LinkLost(at=play.now(), device="shoe", reason="restart"))
    deal(play)
    [asked] = silences(play.take(LinkUp(at=play.now(), device="shoe")))
    assert asked.asks == ("card.decide", "round.void")
    assert (asked.detail or "").startswith("8 cards are due, the next to seat:4;")
    return play


def to_the_showdown(play: Play) -> None:
    for cards in STREETS:
        play.close()
        draw(play, cards)
    play.close()


def test_one_command_answers_the_question_of_a_restart() -> None:
    play = restarted()
    draw(play, "Ah Kh")
    play.accept()
    draw(play, "Qh Jh As Ks Qs Js")
    to_the_showdown(play)
    [result] = [
        event for event in play.turn() if isinstance(event, RoundResult)
    ]  # the reader reported all cards that were due
    assert (outcome_of(result).winner, len(silences(play.events))) == ("seat:4", 1)
    assert {*play.evidence(result)} >= {"frame Ah", "frame As"}


def test_after_an_unseen_card_the_reader_is_believed_of_no_place() -> None:
    play = restarted()
    draw(
        play, "Kh Qh Jh As Ks Qs Js"
    )  # not the ace of hearts: each of these is reported one place too early
    play.accept()
    assert not play.current.open
    play.send("cards.deal", count=1)
    assert play.current.open
    assert {each.card for each in play.current.cards} == {None}
    to_the_showdown(play)
    with pytest.raises(RejectedError, match="not every card of seat:4 is known; send cards-show"):
        play.turn(4)
    play.show(4, "Ah As")
    assert play.shown["hands"]["seat:4"] == ["Ah", "As"]


def test_a_card_reported_before_the_answer_makes_the_reader_disbelieved() -> None:
    play = restarted()
    play.send("cards.deal", count=1)
    draw(play, "Kh")
    play.accept()
    draw(play, "Qh Jh As Ks Qs Js")
    assert {each.card for each in play.current.cards} == {None}


def test_a_fold_while_a_card_may_be_missing_makes_the_reader_disbelieved() -> None:
    play = table("EUS96", "seven-card-stud")
    deal(play)
    for cards in (
        "Ah Kh Qh Jh As Ks Qs Js 2c 3c 4c 5c",
        "2d 3d 4d 5d",
        "2h 3h 4h 5h",
        "2s 3s 4s 5s",
    ):
        draw(play, cards)
        if cards.startswith("2s"):
            play.take(LinkLost(at=play.now(), device="shoe", reason="restart"))
        play.close()
    play.take(LinkUp(at=play.now(), device="shoe"))
    draw(play, "6d 6h 6s")
    play.accept()
    # reported late; or the first of these went unseen, and each belongs to the next
    play.act(1, "fold")
    assert play.current.open
    lasts = [play.current.by_index(seat.who).get(7) for seat in play.current.seats]
    assert {each.card for each in lasts if each is not None} == {None}


def test_in_the_middle_of_a_deal_one_answer_will_do_when_the_next_card_is_read() -> None:
    play = table()
    deal(play)
    draw(play, "Ah Kh")
    assert len(silences(play.take(LinkLost(at=play.now(), device="shoe", reason="restart")))) == 1
    assert not silences(play.take(LinkUp(at=play.now(), device="shoe")))  # it was asked already
    draw(play, "Qh")
    play.accept()
    draw(play, "Jh As Ks Qs Js")
    assert play.current.open
    assert [each.card for each in play.current.cards_of("seat:4")] == ["Ah", "As"]
