"""The fence: a process whose right to serve has ended, ends; whatever hangs in it, and before it
writes anything more.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from threading import Condition, Thread

from devices.log import structlog

FENCED = 75
"""Exit status of a daemon whose lease ended while it served (EX_TEMPFAIL). The service manager
starts it again, and it waits.
"""
LOOK = 0.05
"""The most seconds between two looks at the clock: a wait does not count while the machine
sleeps.
"""
FAREWELL = 0.1
"""Seconds for the last line of the log."""


def boottime() -> float:
    """Seconds of the clock that goes on while the machine sleeps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Fence:
    """Ends the process at the time that it was last given, from a thread of its own. ``drain``:
    writes the last lines of the log, and may hang.
    """

    def __init__(
        self,
        drain: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = boottime,
        leave: Callable[[int], None] = os._exit,
    ) -> None:
        self._drain, self._clock, self._leave = drain, clock, leave
        self._until: float | None = None
        self._given = Condition()
        Thread(target=self._watch, name="fence", daemon=True).start()

    def extend(self, until: float) -> None:
        """From now on the right ends at ``until``."""
        with self._given:
            self._until = until
            self._given.notify()

    def lift(self) -> None:
        """The lease was given back: nothing may be written any more, and the process ends by
        itself.
        """
        with self._given:
            self._until = None

    def hold(self) -> None:
        """Return if the right lasts; otherwise end the process. To be asked directly before
        anything is written that only one may write.
        """
        until = self._until
        if until is None or self._clock() >= until:
            self.end("the lease is over")

    def end(self, why: str) -> None:
        """End the process at once."""

        def tell() -> None:
            with suppress(Exception):
                structlog.get_logger().error("the daemon serves no longer", reason=why)
                self._drain()

        farewell = Thread(target=tell, daemon=True)
        with suppress(Exception):  # nothing may keep the process from ending
            farewell.start()
            farewell.join(FAREWELL)
        self._leave(FENCED)

    def _watch(self) -> None:
        while True:
            with self._given:
                until = self._until
                left = None if until is None else until - self._clock()
                if left is None or left > 0:
                    self._given.wait(LOOK if left is None else min(left, LOOK))
                    continue
            self.end("the lease could not be renewed in time")
