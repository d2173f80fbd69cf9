"""The pace of long work in a thread: it takes a share of the time, and can be ended. Two threads
of Python cannot work at once, so one that never pauses would hold up the tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from threading import Event
from typing import TypeVar

from devices import clock
from devices.errors import NovamasError

MAX_WORK_SHARE = 0.2
"""Share of the time that the work may take."""
MAX_PAUSE_SECONDS = 1.0
BATCH_ENTRIES = 200
"""Entries between two pauses."""

_Item = TypeVar("_Item")


class EndedError(NovamasError):
    """The work was to end before it was done."""


class Throttle:
    """``pause`` and ``paced`` are for the thread that works, ``end`` for any."""

    def __init__(self) -> None:
        self._ended = Event()
        self._since = clock.monotonic()

    def end(self) -> None:
        """End the work at its next pause."""
        self._ended.set()

    def pause(self) -> None:
        """Let others work. Raises :class:`EndedError`."""
        spent = clock.monotonic() - self._since
        if self._ended.wait(min(spent * (1 / MAX_WORK_SHARE - 1), MAX_PAUSE_SECONDS)):
            raise EndedError("it was to end")
        self._since = clock.monotonic()

    def paced(self, entries: Iterable[_Item]) -> Iterator[_Item]:
        """The same entries, with a pause after every ``BATCH_ENTRIES`` of them."""
        self._since = clock.monotonic()
        for number, entry in enumerate(entries, 1):
            yield entry
            if number % BATCH_ENTRIES == 0:
                self.pause()
