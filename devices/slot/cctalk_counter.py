"""The event counter of a ccTalk acceptor, and what can be known from one buffer to the next.

It is 0 after a reset only; each event adds one, and after 255 comes 1. With it come the last five
events, the newest first. What the counter proves lost is told; an event that cannot be proved is
never one. Source: the generic specification of ccTalk, part 2, header 229.
"""

from __future__ import annotations

import msgspec

BUFFERED_EVENTS = 5
"""Events that the acceptor keeps."""
COUNTER_VALUES = 255
"""Values of the counter besides 0."""
NO_EVENT = (0, 0)

Event = tuple[int, int]
"""A coin's position and its sorter path, or 0 and the code of an error."""


class EventBuffer(msgspec.Struct, frozen=True):
    """What an acceptor shows at once: its counter and its events, the newest first."""

    counter: int
    events: tuple[Event, ...]

    def shows_before(self, news: BufferChange) -> bool:
        """Whether an event that was known before the news can still be seen."""
        return any(event != NO_EVENT for event in self.events[len(news.events) :])


class BufferChange(msgspec.Struct, frozen=True):
    """What happened between two looks. ``events``: the oldest first; ``missed``: how many events
    were lost, None if nobody can know; ``reset``: it has counted from 0 since; ``proved``: the
    events before are still there, where they must be.
    """

    events: tuple[Event, ...] = ()
    missed: int | None = 0
    reset: bool = False
    proved: bool = True


def read_buffer(data: bytes) -> EventBuffer:
    """The data of an answer to header 229."""
    pairs = data[1 : 1 + 2 * BUFFERED_EVENTS]
    return EventBuffer(data[0], tuple(zip(pairs[::2], pairs[1::2], strict=True)))


def compare(before: EventBuffer, after: EventBuffer) -> BufferChange:
    """What happened between two looks at the same acceptor.

    The events that were known before must still be there, moved by as many places as the counter
    has gone on. If none is left to see, or they differ, it is not proved that the buffer follows.
    """
    if after == before:
        return BufferChange()
    counted = (after.counter - before.counter) % COUNTER_VALUES if before.counter else after.counter
    if 0 < counted < BUFFERED_EVENTS and after.counter:
        if after.events[counted:] == before.events[: BUFFERED_EVENTS - counted]:
            return BufferChange(_oldest_first(after, counted))
    elif counted >= BUFFERED_EVENTS and after.counter and not _is_after_reset(after):
        return BufferChange(
            _oldest_first(after, BUFFERED_EVENTS), counted - BUFFERED_EVENTS, proved=False
        )
    if _is_after_reset(after):
        return BufferChange(_oldest_first(after, after.counter), None, reset=True, proved=False)
    return BufferChange((), None, proved=False)


def _oldest_first(buffer: EventBuffer, count: int) -> tuple[Event, ...]:
    return buffer.events[:count][::-1]


def _is_after_reset(buffer: EventBuffer) -> bool:
    """Whether it shows as many events as it has counted and none before them, or counted none."""
    return buffer.counter == 0 or all(
        (event == NO_EVENT) == (place >= buffer.counter) and buffer.counter < BUFFERED_EVENTS
        for place, event in enumerate(buffer.events)
    )
