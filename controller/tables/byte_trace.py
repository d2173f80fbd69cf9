"""What the devices of one table sent and the journal does not hold yet: the ``bytes`` entries.

They are stored with the reading that they led to, or by themselves once a minute; nothing waits for
them.
"""

from __future__ import annotations

from typing import NamedTuple

from devices.calls import AnyCall, Heard, Missed, write_calls

PERIOD = 60.0
"""Seconds after which bytes that led to no reading are stored."""
MOST = 262_144
"""Bytes kept of one device between two entries: more than a full line of 9600 baud sends in a
minute.
"""


class Sent(NamedTuple):
    """Bytes received, and how many of them were not kept."""

    all: int
    dropped: int


class ByteTrace:
    """The calls to one device's watch that are not stored yet, in order and bounded. ``compact``:
    they are stored in as few bytes as possible; not where the length must reveal no card.
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

    def note(self, call: AnyCall) -> None:
        """Keep a call; if too many wait, only count its bytes."""
        self._latest = call.at
        size = len(call.data) if isinstance(call, Heard) else 64
        self._sent += size
        if self._missed or self._size + size > MOST:
            self._missed += size
            self._dropped += size
            return
        self._calls.append(call)
        self._size += size

    def sent(self) -> Sent:
        """Bytes received since the last call."""
        sent, self._sent, self._dropped = Sent(self._sent, self._dropped), 0, 0
        return sent

    def take(self) -> bytes | None:
        """The body of the next entry, or None if nothing waits."""
        calls, missed = self._calls, self._missed
        self._calls, self._size, self._missed = [], 0, 0
        if missed:
            calls.append(Missed(self._latest, missed))
        return write_calls(self._device, calls, compact=self._compact) if calls else None

    def lose(self) -> None:
        """Count what was taken as lost: it could not be stored."""
        self._missed = max(self._missed, 1)
