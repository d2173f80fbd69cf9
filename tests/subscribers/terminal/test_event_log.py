"""The events of a table: each counts once, missing ones are counted, and the notes are of the
session.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from subscribers.terminal.event_log import EventLog
from subscribers.terminal.words import note
from tests.support.subscribers.terminal import Narrator, roulette


def test_doubles_are_dropped_and_gaps_counted() -> None:
    log, narrator = EventLog(), Narrator()
    again = narrator.result(6)
    assert log.add(again)
    assert not log.add(again)
    narrator.seq += 3
    assert log.add(narrator.result(8))
    assert (log.results, log.missed) == (2, 3)
    assert log.add(Narrator("b2").result(6)), "another boot counts from one again"


def test_an_event_that_was_overtaken_is_new_once() -> None:
    log, narrator = EventLog(), Narrator()
    assert log.add(narrator.result(5))
    before = narrator.result(6)
    assert log.add(narrator.result(7))
    assert log.missed == 1
    assert log.add(before)
    assert not log.add(before)
    assert (log.missed, log.results) == (0, 3)


def test_notes_have_their_article_and_a_new_session_has_none() -> None:
    play, screen = roulette()
    [log] = screen.watch.logs.values()
    assert [(each.round, each.kind, each.what) for each in log.notes] == [
        (3, "void", "bad_launch"),
        (4, "unresolved", "silence"),
    ]
    assert log.notes[0].article
    play.say("session.close", by="M. Lasa", role="director")
    play.say("session.open", minimum=500, currency="EUR", by="M. Lasa", role="director")
    assert list(log.notes) == []


def test_a_correction_is_noted() -> None:
    log, narrator = EventLog(), Narrator()
    of = {"round": 5, "by": "M. Lasa"}
    log.add(narrator.event("result.corrected", was=2, outcome={"number": 1}, **of))
    log.add(narrator.event("result.corrected", was="banker", outcome={"winner": "player"}, **of))
    log.add(narrator.event("result.corrected", outcome={"hands": [], "marks": []}, **of))
    assert [note(each, "en") for each in log.notes] == [
        "2 corrected to 1 by M. Lasa",
        "banker corrected to player by M. Lasa",
        "round 5 corrected by M. Lasa",
    ]


def test_events_of_a_newer_release_are_new_too() -> None:
    log, narrator = EventLog(), Narrator()
    assert log.add(narrator.event("jackpot.won", amount=5))
    assert log.add(narrator.event("irregularity", round={"number": 5}, what=["a list"]))
    assert list(log.notes) == []
    assert not log.add(b'{"type": "round.opened"}')
    assert not log.add(b"[")


@given(seqs=st.lists(st.integers(1, 40), max_size=80))
def test_a_result_is_counted_once_however_often_it_comes(seqs: list[int]) -> None:
    log, narrator = EventLog(), Narrator()
    taken = []
    for seq in seqs:
        narrator.seq = seq - 1
        if log.add(narrator.result(seq)):
            taken.append(seq)
    once = [seq for seq in dict.fromkeys(seqs) if seq >= seqs[0]]
    assert taken == once
    assert log.results == len(once)
