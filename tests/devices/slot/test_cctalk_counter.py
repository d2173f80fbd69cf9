"""The event counter: every reported event happened, and lost events are detected."""

from __future__ import annotations

from collections import deque

from hypothesis import given
from hypothesis import strategies as st

from devices.slot.cctalk_counter import (
    BUFFERED_EVENTS,
    COUNTER_VALUES,
    NO_EVENT,
    BufferChange,
    Event,
    EventBuffer,
    compare,
    read_buffer,
)
from tests.support.for_each import for_each

NONE = (NO_EVENT,) * BUFFERED_EVENTS
events = st.tuples(st.integers(0, 16), st.integers(1, 40))


class Shown:
    """The counter and the events of an acceptor, and all that happened to it."""

    def __init__(self) -> None:
        self.counter = 0
        self.kept: deque[Event] = deque(NONE, BUFFERED_EVENTS)
        self.all: list[Event] = []

    def note(self, happened: list[Event]) -> None:
        for event in happened:
            self.counter = self.counter % COUNTER_VALUES + 1
            self.kept.appendleft(event)
            self.all.append(event)

    def reset(self) -> None:
        self.counter = 0
        self.kept.extend(NONE)

    def look(self) -> EventBuffer:
        return EventBuffer(self.counter, tuple(self.kept))


@given(st.lists(events, max_size=300), st.lists(events, max_size=BUFFERED_EVENTS - 1))
def test_up_to_four_events_are_proved_by_those_before(
    before: list[Event], since: list[Event]
) -> None:
    shown = Shown()
    shown.note(before)
    first = shown.look()
    shown.note(since)
    assert compare(first, shown.look()) == BufferChange(tuple(since))


@given(
    st.lists(events, max_size=300),
    st.lists(events, min_size=BUFFERED_EVENTS, max_size=COUNTER_VALUES - 1),
)
def test_of_more_the_last_five_are_reported_and_how_many_were_lost(
    before: list[Event], since: list[Event]
) -> None:
    shown = Shown()
    shown.note(before)
    first = shown.look()
    shown.note(since)
    expected = BufferChange(
        tuple(since[-BUFFERED_EVENTS:]), len(since) - BUFFERED_EVENTS, proved=False
    )
    assert compare(first, shown.look()) == expected


@given(st.lists(events, min_size=1, max_size=300), st.lists(events, max_size=BUFFERED_EVENTS - 1))
def test_after_a_reset_its_count_is_new_and_earlier_coins_are_unknown(
    before: list[Event], since: list[Event]
) -> None:
    """Unless those after the reset look as if they followed those before it: then fewer are
    reported, but none is made up.
    """
    shown = Shown()
    shown.note(before)
    first = shown.look()
    shown.reset()
    shown.note(since)
    news = compare(first, shown.look())
    if news.reset:
        assert news == BufferChange(tuple(since), None, reset=True, proved=False)
    else:
        assert news.proved
        assert news.events == tuple(since[len(since) - len(news.events) :])


@given(st.lists(st.lists(events, max_size=12) | st.none(), max_size=40))
def test_no_event_is_ever_reported_that_did_not_happen(course: list[list[Event] | None]) -> None:
    """Looks between any numbers of events and resets (None): the reported events are always the
    last ones since the previous look, in their order.
    """
    shown, last = Shown(), EventBuffer(0, NONE)
    for step in course:
        begin = len(shown.all)
        if step is None:
            shown.reset()
        else:
            shown.note(step)
        look = shown.look()
        news = compare(last, look)
        happened = shown.all[begin:]
        assert news.events == tuple(happened[len(happened) - len(news.events) :])
        if news.missed == 0:
            assert len(news.events) == len(happened)
        last = look


@for_each("place", range(2, 11))
def test_an_event_that_changed_is_not_believed_at_once(place: int) -> None:
    shown = Shown()
    shown.note([(1, 1), (2, 1), (3, 1), (4, 1), (5, 1)])
    first = shown.look()
    data = bytearray((first.counter, *(part for event in first.events for part in event)))
    data[place] ^= 0x40
    assert read_buffer(bytes(data)) != first
    assert compare(first, read_buffer(bytes(data))) == BufferChange((), None, proved=False)


def test_after_255_comes_1() -> None:
    before = EventBuffer(255, ((6, 1),) * BUFFERED_EVENTS)
    after = EventBuffer(1, ((5, 1), *before.events[:4]))
    assert compare(before, after) == BufferChange(((5, 1),))
