"""A subscriber's view of a table's messages."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from subscribers.terminal.table_view import MAX_SPINS, TableView
from subscribers.terminal.words import note
from tests.support.subscribers.table import BLACK, RED, Narrator, played, state


def test_the_course_of_a_table() -> None:
    view, _ = played()
    assert [(spin.round, spin.kind, spin.number, spin.colour) for spin in view.spins] == [
        (1, "result", "1", "red"),
        (2, "result", "0", "green"),
        (3, "void", None, None),
        (4, "unresolved", "12", None),
        (5, "result", "2", "black"),
    ]
    assert (view.phase, view.calls, view.round) == ("bets_closed", ("no va más", "prou apostes"), 6)
    assert view.last is not None
    assert view.last.chances == (
        ("colour", "black"),
        ("parity", "even"),
        ("half", "falta"),
        ("dozen", "1"),
        ("column", "2"),
    )
    assert [(note.kind, note.what) for note in view.notes] == [
        ("void", "bad_launch"),
        ("unresolved", "silence"),
    ]
    assert (view.results, view.missed) == (3, 0)


def test_doubles_are_dropped_and_gaps_counted() -> None:
    view, narrator = played()
    again = narrator.event("round.result", round=6, outcome={"number": 1, **RED})
    assert view.event(again)
    assert not view.event(again)
    narrator.seq += 3
    assert view.event(narrator.event("round.result", round=8, outcome={"number": 1, **RED}))
    assert (view.results, view.missed) == (5, 3)
    assert view.event({**again, "boot": "b2", "seq": 1})  # another boot counts from one again


def test_an_overtaken_event_is_put_in_its_place() -> None:
    view, narrator = played()
    before = narrator.event("round.result", round=6, outcome={"number": 1, **RED})
    assert view.event(narrator.event("round.result", round=7, outcome={"number": 3, **RED}))
    assert view.event(narrator.event("round.opened", round=8))
    assert view.missed == 1
    assert view.event(before)
    assert not view.event(before)
    assert (view.missed, view.phase, view.round) == (0, "bets_open", 8)
    assert [(spin.round, spin.number) for spin in list(view.spins)[-2:]] == [(6, "1"), (7, "3")]
    assert view.results == 5


def test_an_overtaken_result_does_not_undo_its_correction() -> None:
    view, narrator = played()
    before = narrator.event("round.result", round=6, outcome={"number": 1, **RED})
    view.event(narrator.event("result.corrected", round=6, was=1, outcome={"number": 3, **RED}))
    assert view.event(before)
    assert view.last is not None
    assert (view.last.number, view.last.corrected) == ("3", True)


def test_a_corrected_result_takes_the_place_of_the_first() -> None:
    view, narrator = played()
    view.event(
        narrator.event(
            "result.corrected", round=5, was=2, by="M. Lasa", outcome={"number": 1, **RED}
        )
    )
    assert view.last is not None
    assert (view.last.number, view.last.colour, view.last.corrected) == ("1", "red", True)
    assert note(view.notes[-1], "en") == "2 corrected to 1 by M. Lasa"
    assert len(view.spins) == 5


def test_an_unresolved_round_that_is_confirmed() -> None:
    view, narrator = played()
    view.event(
        narrator.event(
            "round.result", round=4, confirmed_by="M. Lasa", outcome={"number": 12, **BLACK}
        )
    )
    assert [spin.kind for spin in view.spins] == ["result", "result", "void", "result", "result"]


def test_a_new_session_starts_with_nothing() -> None:
    view, narrator = played()
    view.event(narrator.event("session.closed", by="x", role="director"))
    assert view.phase == "closed"
    view.event(narrator.event("session.opened", by="x", role="director", session=2))
    assert (view.phase, view.session, list(view.spins), list(view.notes)) == ("waiting", 2, [], [])


def test_a_late_subscriber_has_it_from_the_retained_topics() -> None:
    view = TableView("ruleta-1")
    view.retained(
        "state", state("decision", status="waiting", round=9, asks=["round.confirm", "round.void"])
    )
    view.retained("result", {"type": "round.result", "round": 8, "outcome": {"number": 1, **RED}})
    results = [
        {"round": 6, "kind": "unresolved", "candidate": 5},
        {"round": 7, "kind": "void", "reason": "ball_out", "article": "art. 3"},
        {"round": 8, "kind": "result", "outcome": {"number": 1, **RED}, "corrected": False},
    ]
    view.retained("history", {"results": results})
    assert (view.phase, view.round, view.asks) == ("decision", 9, ("round.confirm", "round.void"))
    assert [spin.kind for spin in view.spins] == ["unresolved", "void", "result"]
    assert view.last is not None
    assert view.last.chances[-1] == ("column", "1")
    assert [(note.round, note.kind, note.what, note.article) for note in view.notes] == [
        (7, "void", "ball_out", "art. 3")
    ]
    view.retained("history", {"results": results})
    assert len(view.notes) == 1


def test_events_know_the_phase_better_than_the_state_that_follows_them() -> None:
    view, narrator = played()
    view.event(narrator.event("round.result", round=6, outcome={"number": 1, **RED}))
    view.retained("state", state("waiting", round=6))
    assert view.phase == "result"
    view.retained("state", state("closed", status="closed"))
    assert view.phase == "closed"


def test_alerts_come_and_go() -> None:
    view, narrator = played()
    view.event(narrator.event("alert.raised", alert="wheel-link", what="link.lost", device="wheel"))
    view.retained(
        "alert/wheel-link",
        {"alert": "wheel-link", "what": "link.lost", "acknowledged_by": "M. Lasa"},
    )
    view.retained("alert/sensor", {"alert": "sensor", "what": "sensor"})
    assert view.alerts["wheel-link"]["acknowledged_by"] == "M. Lasa"
    view.event(narrator.event("alert.cleared", alert="wheel-link"))
    view.retained("alert/sensor", None)
    assert view.alerts == {}


def test_only_the_latest_spins_are_kept() -> None:
    view, narrator = TableView("t"), Narrator()
    for number in range(1, 31):
        view.event(narrator.event("round.result", round=number, outcome={"number": 1, **RED}))
    assert [spin.round for spin in view.spins] == list(range(31 - MAX_SPINS, 31))


def test_unknown_messages_are_ignored() -> None:
    view, narrator = played()
    assert view.event(narrator.event("jackpot.won", amount=5))
    view.retained("shoe", {"cards": 5})
    view.retained("state", None)
    view.retained("result", None)
    assert len(view.spins) == 5


@given(seqs=st.lists(st.integers(1, 40), max_size=80))
def test_a_result_is_counted_once_however_often_it_comes(seqs: list[int]) -> None:
    view, narrator = TableView("t"), Narrator()
    taken = []
    for seq in seqs:
        narrator.seq = seq - 1
        if view.event(narrator.event("round.result", round=seq, outcome={"number": 1, **RED})):
            taken.append(seq)
    once = [seq for seq in dict.fromkeys(seqs) if seq >= seqs[0]]
    assert taken == once
    assert view.results == len(once)
    assert [spin.round for spin in view.spins] == sorted(once)[-MAX_SPINS:]
