"""Throttles long work in a thread to a share of the time, and ends it on request. Two threads of
Python cannot run at once, so one that never pauses would delay the tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from threading import Event
from typing import TypeVar

from common import clock
from common.errors import NovamasError

MAX_WORK_SHARE = 0.2
"""Maximum share of the time that the work uses."""
MAX_PAUSE_SECONDS = 1.0
BATCH_ENTRIES = 200
"""Entries between two pauses."""

_Item = TypeVar("_Item")


class EndedError(NovamasError):
    """The work was ended before it was complete."""


class Throttle:
    """The thread that works calls ``pause`` or ``paced``; any thread may call ``end``."""

    def __init__(self) -> None:
        self._ended = Event()
        self._since = clock.monotonic()

    def end(self) -> None:
        """End the work at its next pause."""
        self._ended.set()

    def pause(self) -> None:
        """Pause, so that other threads run. Raises :class:`EndedError`."""
        spent = clock.monotonic() - self._since
        if self._ended.wait(min(spent * (1 / MAX_WORK_SHARE - 1), MAX_PAUSE_SECONDS)):
            raise EndedError("the work was ended")
        self._since = clock.monotonic()

    def paced(self, entries: Iterable[_Item]) -> Iterator[_Item]:
        """Yield these entries, with a pause after every ``BATCH_ENTRIES`` of them."""
        self._since = clock.monotonic()
        for number, entry in enumerate(entries, 1):
            yield entry
            if number % BATCH_ENTRIES == 0:
                self.pause()
