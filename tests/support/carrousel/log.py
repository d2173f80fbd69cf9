"""A log of a pair of controllers in memory."""

from __future__ import annotations

from common.standby.errors import OvertakenError
from common.standby.log import LogBounds, MissingLogError


class MemoryStream:
    """A stream as JetStream has it. ``first``: the sequence of its oldest entry."""

    def __init__(self) -> None:
        self.entries: list[bytes] | None = None
        self.first = 1

    @property
    def last(self) -> int:
        """The sequence of the last entry; 0 if there is none."""
        return self.first - 1 + len(self.entries or ())

    async def bounds(self) -> LogBounds | None:
        """See :class:`common.standby.log.LogStream`."""
        return None if self.entries is None else LogBounds(self.first, self.last)

    async def get(self, sequence: int) -> bytes | None:
        """See :class:`common.standby.log.LogStream`."""
        entries = self.entries or []
        return entries[sequence - self.first] if self.first <= sequence <= self.last else None

    async def append(self, body: bytes, last: int) -> int:
        """See :class:`common.standby.log.LogStream`."""
        if self.entries is None:
            raise MissingLogError("there is no stream yet")
        if last != self.last:
            raise OvertakenError("another machine has appended an entry")
        self.entries.append(body)
        return self.last

    async def create(self) -> None:
        """See :class:`common.standby.log.LogStream`."""
        self.entries = self.entries or []

    def trim(self, count: int) -> None:
        """Remove the oldest entries."""
        assert self.entries is not None
        del self.entries[:count]
        self.first += count
