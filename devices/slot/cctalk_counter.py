"""The event counter of a ccTalk acceptor, and the events between two readings of it.

The counter is 0 only after a reset; each event adds one, and 255 is followed by 1. It is sent with
the last five events, newest first. Events that the counter proves lost are reported; an event that
cannot be proved is never reported. Source: the generic specification of ccTalk, part 2, header 229.
"""

from __future__ import annotations

import msgspec

BUFFERED_EVENTS = 5
"""Number of events that the acceptor stores."""
COUNTER_VALUES = 255
"""Number of values of the counter other than 0."""
NO_EVENT = (0, 0)

Event = tuple[int, int]
"""A coin's position and its sorter path, or 0 and an error code."""


class EventBuffer(msgspec.Struct, frozen=True):
    """The content of one answer: the counter and the events, newest first."""

    counter: int
    events: tuple[Event, ...]

    def shows_before(self, change: BufferChange) -> bool:
        """Return whether an event from before the change is still visible."""
        return any(event != NO_EVENT for event in self.events[len(change.events) :])


class BufferChange(msgspec.Struct, frozen=True):
    """What happened between two answers. ``events``: oldest first; ``missed``: number of lost
    events, None if unknown; ``reset``: the counter restarted from 0; ``proved``: the earlier events
    are still in their expected places.
    """

    events: tuple[Event, ...] = ()
    missed: int | None = 0
    reset: bool = False
    proved: bool = True


def read_buffer(data: bytes) -> EventBuffer:
    """Parse the data of an answer to header 229."""
    pairs = data[1 : 1 + 2 * BUFFERED_EVENTS]
    return EventBuffer(data[0], tuple(zip(pairs[::2], pairs[1::2], strict=True)))


def compare(before: EventBuffer, after: EventBuffer) -> BufferChange:
    """Return what happened between two answers of the same acceptor.

    The earlier events must still be there, shifted by as many places as the counter has advanced.
    If none is visible, or they differ, the continuity is not proved.
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
    """Whether the buffer contains exactly the counted events, as after a reset."""
    return buffer.counter == 0 or all(
        (event == NO_EVENT) == (place >= buffer.counter) and buffer.counter < BUFFERED_EVENTS
        for place, event in enumerate(buffer.events)
    )
