"""The fence: ends the process when its right to serve has ended, before it can write anything more
and even if some part of it hangs.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from threading import Condition, Thread

from common import clock
from common.log import structlog

FENCED_EXIT_STATUS = 75
"""Exit status of a daemon whose lease ended while it served (EX_TEMPFAIL). The service manager
restarts it, and it waits for the lease.
"""
CLOCK_CHECK_SECONDS = 0.05
"""Maximum time between two checks of the clock. It is short because a timed wait does not count
the time during which the machine sleeps.
"""
LAST_LOG_SECONDS = 0.1
"""Maximum time for writing the last line of the log."""


class Fence:
    """Ends the process at the time of the last :meth:`extend`, from its own thread. ``drain``
    writes the last lines of the log and may hang.
    """

    def __init__(
        self,
        drain: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = clock.boottime,
        leave: Callable[[int], None] = os._exit,
    ) -> None:
        self._drain, self._clock, self._leave = drain, clock, leave
        self._until: float | None = None
        self._changed = Condition()
        Thread(target=self._watch, name="fence", daemon=True).start()

    def extend(self, until: float) -> None:
        """Set the end of the right to serve to ``until``."""
        with self._changed:
            self._until = until
            self._changed.notify()

    def lift(self) -> None:
        """Stop watching: the lease was released. Writing is no longer allowed; the process ends by
        itself.
        """
        with self._changed:
            self._until = None

    def check(self) -> None:
        """Return if the right to serve is valid, else end the process. Call it directly before each
        write that only the serving daemon may make.
        """
        until = self._until
        if until is None or self._clock() >= until:
            self.end("the lease is over")

    def end(self, why: str) -> None:
        """End the process at once."""

        def log_end() -> None:
            with suppress(Exception):
                structlog.get_logger().error("the daemon serves no longer", reason=why)
                self._drain()

        logger = Thread(target=log_end, daemon=True)
        with suppress(Exception):  # nothing may delay the end of the process
            logger.start()
            logger.join(LAST_LOG_SECONDS)
        self._leave(FENCED_EXIT_STATUS)

    def _watch(self) -> None:
        while True:
            with self._changed:
                until = self._until
                remaining = None if until is None else until - self._clock()
                if remaining is None or remaining > 0:
                    self._changed.wait(
                        CLOCK_CHECK_SECONDS
                        if remaining is None
                        else min(remaining, CLOCK_CHECK_SECONDS)
                    )
                    continue
            self.end("the lease could not be renewed in time")
