"""Bytes that the devices of one table sent and that are not yet in the journal: its ``bytes``
entries.

They are stored with the reading that they led to, or on their own once a minute; nothing waits for
them.
"""

from __future__ import annotations

from typing import NamedTuple

from devices.calls import AnyCall, BytesReceived, CallsMissed, write_calls

FLUSH_INTERVAL_SECONDS = 60.0
"""Seconds between two flushes of bytes that led to no reading."""
MAX_BUFFERED_BYTES = 262_144
"""Maximum bytes buffered for one device between two entries: more than a saturated line of 9600
baud sends in a minute.
"""


class ByteCounts(NamedTuple):
    """Bytes received, and how many of them were dropped."""

    received: int
    dropped: int


class ByteTrace:
    """Bounded buffer of the calls to one device's watch that are not stored yet, in order.
    ``compact``: encode them as compactly as possible; not where the length could reveal a card.
    """

    def __init__(self, device: str, *, compact: bool = False) -> None:
        self._device = device
        self._compact = compact
        self._calls: list[AnyCall] = []
        self._size = 0
        self._missed = 0
        self._latest = 0.0
        self._sent = 0
        self._dropped = 0

    def add(self, call: AnyCall) -> None:
        """Add a call; if the buffer is full, only count its bytes."""
        self._latest = call.at
        size = len(call.data) if isinstance(call, BytesReceived) else 64
        self._sent += size
        if self._missed or self._size + size > MAX_BUFFERED_BYTES:
            self._missed += size
            self._dropped += size
            return
        self._calls.append(call)
        self._size += size

    def pop_counts(self) -> ByteCounts:
        """Return the counts of bytes since the last call."""
        counts, self._sent, self._dropped = ByteCounts(self._sent, self._dropped), 0, 0
        return counts

    def pop_entry(self) -> bytes | None:
        """Return the body of the next entry and empty the buffer; None if it is empty."""
        calls, missed = self._calls, self._missed
        self._calls, self._size, self._missed = [], 0, 0
        if missed:
            calls.append(CallsMissed(self._latest, missed))
        return write_calls(self._device, calls, compact=self._compact) if calls else None

    def mark_lost(self) -> None:
        """Record that the last body could not be stored."""
        self._missed = max(self._missed, 1)
