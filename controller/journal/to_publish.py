"""The committed entries that wait to be published, in memory as far as they are recent."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Iterable
from itertools import islice
from operator import attrgetter

from common import clock
from common.chain.schema import Entry

RECENT_ENTRIES = 1024
"""Committed entries in memory for the publisher, which reads older ones from the file."""

PUBLISH_READ_TIMEOUT_SECONDS = 10.0
"""How long reading the entries to publish may fail before the file is abandoned."""

_position = attrgetter("position")


class EntriesToPublish:
    """The entries after the position ``head``. ``unpublished``: those of a file that was set aside,
    which come first.
    """

    def __init__(self, head: int, unpublished: list[Entry]) -> None:
        self._unpublished = unpublished
        self._recent: deque[Entry] = deque()
        self._recent_after = head
        """All entries to publish after this position are in ``_recent``."""
        self._unread_since: float | None = None

    def add(self, entries: Iterable[Entry]) -> None:
        """Add entries that were committed."""
        self._recent.extend(entries)
        while len(self._recent) > RECENT_ENTRIES:
            self._recent_after = self._recent.popleft().position

    def after(self, position: int, limit: int) -> list[Entry] | None:
        """Return the next entries; None if they must be read from the file."""
        if self._unpublished:
            self._unpublished = [entry for entry in self._unpublished if entry.position > position]
        if self._unpublished:
            return self._unpublished[:limit]
        if position < self._recent_after:
            return None
        first = bisect_right(self._recent, position, key=_position)
        return list(islice(self._recent, first, first + limit))

    def note_read(self) -> None:
        """Note that entries could be read from the file."""
        self._unread_since = None

    def note_unread(self, error: str) -> str | None:
        """Note that entries could not be read. Return what to report as damage, once that has
        lasted too long.
        """
        now = clock.monotonic()
        self._unread_since = self._unread_since or now
        if now - self._unread_since <= PUBLISH_READ_TIMEOUT_SECONDS:
            return None
        self._unread_since = None
        return (
            f"the entries to publish could not be read for {PUBLISH_READ_TIMEOUT_SECONDS:.0f} "
            f"s: {error}"
        )
