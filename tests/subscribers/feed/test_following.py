"""The events of a table, each once and in order, whatever is lost, repeated or overtaken."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from subscribers.feed.following import (
    EventGap,
    Followed,
    FollowedEvent,
    FollowedRuns,
    RunPosition,
    TableFollower,
)
from tests.conftest import cases

LIMIT = 3
"""Events that a reply has."""


def event(boot: str, seq: int) -> FollowedEvent:
    return FollowedEvent(RunPosition(boot, seq), f"{boot}{seq}".encode())


class Journal:
    """The daemon's side: its events in order, and its answers as ``JournalReader.events_since``."""

    def __init__(self) -> None:
        self.events: list[FollowedEvent] = []
        self.boot, self.seq = "a", 0

    def restart(self) -> None:
        self.boot, self.seq = chr(ord(self.boot) + 1), 0

    def add(self) -> FollowedEvent:
        self.seq += 1
        self.events.append(event(self.boot, self.seq))
        return self.events[-1]

    def since(self, boot: str, first: int) -> list[FollowedEvent]:
        ours = [index for index, each in enumerate(self.events) if each.at.boot == boot]
        before = [index for index in ours if self.events[index].at.seq < first]
        start = before[-1] + 1 if before else ours[0] if ours else 0
        return self.events[start : start + LIMIT]


def recall(follower: TableFollower, journal: Journal) -> list[Followed]:
    """Ask until nothing is missing."""
    items: list[Followed] = []
    for _ in range(200):
        request = follower.recall()
        if request is None:
            return items
        items += follower.on_reply(
            request, journal.since(request.fields["boot"], request.fields["from"])
        )
    raise AssertionError("it asks for ever")


def answer(follower: TableFollower, *events: FollowedEvent) -> list[Followed]:
    """Answer the recall that it wants."""
    request = follower.recall()
    assert request is not None
    return [*follower.on_reply(request, events)]


def fields(follower: TableFollower) -> dict[str, Any]:
    request = follower.recall()
    assert request is not None
    return request.fields


def positions(followed: Iterable[Followed]) -> list[str]:
    """The events, none of which is missing."""
    items = [*followed]
    assert not any(isinstance(each, EventGap) for each in items), items
    return [each.body.decode() for each in items if isinstance(each, FollowedEvent)]


def test_the_next_event_is_passed_on_at_once() -> None:
    follower = TableFollower()
    follower.on_state("a", 4)
    assert follower.recall() is None
    assert positions(follower.on_event(event("a", 5))) == ["a5"]
    assert positions(follower.on_event(event("a", 5))) == []
    assert follower.recall() is None


def test_a_missing_event_is_recalled_from_the_last_one_that_was_passed_on() -> None:
    follower = TableFollower(FollowedRuns(RunPosition("a", 4)))
    assert positions(follower.on_event(event("a", 6))) == []
    assert fields(follower) == {"boot": "a", "from": 4, "onward": True}
    reply = [event("a", 4), event("a", 5), event("a", 6)]
    assert positions(answer(follower, *reply)) == ["a5", "a6"]
    assert follower.recall() is None


def test_a_run_without_events_is_no_reason_to_ask_twice() -> None:
    follower = TableFollower(FollowedRuns(RunPosition("a", 4)))
    for boot in "bcd":
        follower.on_state(boot, 0)
        assert fields(follower) == {"boot": "a", "from": 4, "onward": True}
        assert positions(answer(follower, event("a", 4))) == []
        assert follower.recall() is None
    assert positions(follower.on_event(event("d", 1))) == []
    assert positions(answer(follower, event("a", 4), event("d", 1))) == ["d1"]


def test_a_journal_that_does_not_know_the_last_event_is_a_gap_and_not_its_whole_content() -> None:
    follower = TableFollower(FollowedRuns(RunPosition("a", 4)))
    follower.on_state("z", 2)
    gap = EventGap(RunPosition("a", 4), RunPosition("z", 1))
    assert answer(follower, event("x", 1), event("x", 2), event("x", 3)) == [gap]
    assert fields(follower) == {"boot": "z", "from": 1, "onward": True}
    assert positions(answer(follower, event("z", 1), event("z", 2))) == ["z1", "z2"]


def test_what_the_daemon_no_longer_has_is_a_gap() -> None:
    follower = TableFollower(FollowedRuns(RunPosition("a", 4)))
    assert positions(follower.on_event(event("a", 9))) == []
    assert answer(follower, event("a", 8), event("a", 9)) == [
        EventGap(RunPosition("a", 4), RunPosition("a", 8)),
        event("a", 8),
        event("a", 9),
    ]


def test_an_event_that_is_in_no_journal_follows_a_gap() -> None:
    follower = TableFollower(FollowedRuns(RunPosition("a", 4)))
    assert positions(follower.on_event(event("a", 9))) == []
    gap = EventGap(RunPosition("a", 4), RunPosition("a", 9))
    assert answer(follower, event("a", 4)) == [gap, event("a", 9)]


def test_an_event_that_came_after_the_recall_is_no_gap() -> None:
    follower = TableFollower(FollowedRuns(RunPosition("a", 4)))
    follower.on_state("b", 0)
    request = follower.recall()
    assert request is not None
    assert positions(follower.on_event(event("b", 1))) == []
    assert positions(follower.on_reply(request, [event("a", 4)])) == []
    assert positions(answer(follower, event("a", 4), event("b", 1))) == ["b1"]
    assert positions(follower.on_reply(request, [event("x", 1)])) == []


def test_an_earlier_run_that_continues_is_passed_on_as_it_comes() -> None:
    follower = TableFollower(FollowedRuns(RunPosition("b", 1), {"a": 4}))
    assert positions(follower.on_event(event("a", 4))) == []
    assert positions(follower.on_event(event("a", 5))) == ["a5"]
    gap = EventGap(RunPosition("a", 5), RunPosition("a", 7))
    assert list(follower.on_event(event("a", 7))) == [gap, event("a", 7)]
    assert follower.recall() is None


def test_what_no_daemon_returns_is_a_gap_before_what_waits() -> None:
    follower = TableFollower(FollowedRuns(RunPosition("a", 4)))
    for waiting in (event("a", 9), event("a", 7), event("a", 8), event("b", 1)):
        assert positions(follower.on_event(waiting)) == []
    assert list(follower.give_up()) == [
        EventGap(RunPosition("a", 4), RunPosition("a", 7)),
        *(event("a", 7), event("a", 8), event("a", 9)),
        EventGap(RunPosition("a", 9), RunPosition("b", 1)),
        event("b", 1),
    ]
    assert not follower.is_missing


@settings(max_examples=cases(150, 3000), deadline=None)
@given(st.data())
def test_every_event_comes_once_and_in_order(data: st.DataObject) -> None:
    journal = Journal()
    for _ in range(data.draw(st.integers(0, 3))):
        journal.add()
    known = len(journal.events)
    follower = TableFollower()
    follower.on_state(journal.boot, journal.seq)
    if not known:  # a run without an event cannot be asked for later
        journal.add()
    items: list[Followed] = []
    in_flight: list[FollowedEvent] = []
    steps = st.sampled_from(("add", "add", "lose", "deliver", "repeat", "state", "ask", "restart"))
    for step in data.draw(st.lists(steps, max_size=40)):
        match step:
            case "add":
                in_flight.append(journal.add())
            case "lose" if in_flight:
                in_flight.pop(data.draw(st.integers(0, len(in_flight) - 1)))
            case "deliver" if in_flight:
                index = data.draw(st.integers(0, len(in_flight) - 1))
                items += follower.on_event(in_flight.pop(index))
            case "repeat" if journal.events[known:]:
                index = data.draw(st.integers(known, len(journal.events) - 1))
                items += follower.on_event(journal.events[index])
            case "state":
                follower.on_state(journal.boot, journal.seq)
            case "ask":
                items += recall(follower, journal)
            case "restart":
                journal.restart()
                # the program may end too, and begins with what it has stored
                if data.draw(st.booleans()):
                    follower = TableFollower(follower.runs)
    follower.on_state(journal.boot, journal.seq)
    items += recall(follower, journal)
    assert positions(items) == positions(journal.events[known:])
