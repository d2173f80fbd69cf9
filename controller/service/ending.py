"""Ends the daemon within a limited time, even if a part of it hangs.

A separate thread ends the process, and the service manager can then restart the daemon.
"""

from __future__ import annotations

import asyncio
import os
import sys
import traceback
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Thread

from common import clock
from common.errors import NovamasError
from common.log import structlog
from controller.service import logs

EXIT_SOFTWARE = 70
"""Exit status after a bug (EX_SOFTWARE). The service manager restarts the daemon."""
STOP_TIMEOUT_SECONDS = 15.0
"""Maximum seconds for a stop: less than the service manager allows (``TimeoutStopSec=``)."""
FAILURE_TIMEOUT_SECONDS = 5.0
"""Seconds allowed for the rest to end after an essential task has ended."""
CLEAN_STOP_SECONDS = 5.0
"""Seconds allowed at a clean stop to store pending data, and again to publish it."""


class TaskDiedError(NovamasError):
    """An essential task of the daemon has ended unexpectedly. The message names it; the log has the
    cause.
    """


async def cancel_all(*tasks: asyncio.Task[None], within: float = CLEAN_STOP_SECONDS) -> None:
    """Cancel tasks, and wait at most ``within`` seconds for their end."""
    for task in tasks:
        task.cancel()
    if tasks:  # a task that hangs must not keep the others from ending
        await asyncio.wait(tasks, timeout=within)


class Deadline:
    """Ends the process at the earliest of the given times, unless lifted before."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._times: SimpleQueue[float | None] = SimpleQueue()  # safe for a signal handler
        Thread(target=self._watch, name="deadline", daemon=True).start()

    def within(self, seconds: float) -> None:
        """End the process after this many seconds. Safe to call from a signal handler."""
        self._times.put(clock.monotonic() + seconds)

    def lift(self) -> None:
        """Cancel the deadline: the process ends normally."""
        self._times.put(None)

    def names_tasks_of(self, loop: asyncio.AbstractEventLoop) -> None:
        """Set the loop whose tasks are logged if something hangs."""
        self._loop = loop

    def _watch(self) -> None:
        earliest = self._times.get()
        while earliest is not None:
            try:
                requested = self._times.get(timeout=max(0.0, earliest - clock.monotonic()))
            except Empty:
                self._end()
                return
            earliest = None if requested is None else min(requested, earliest)

    def _end(self) -> None:
        with suppress(Exception):  # nothing may prevent the process from ending
            stacks = {
                thread: "".join(traceback.format_stack(frame))
                for thread, frame in sys._current_frames().items()  # noqa: SLF001
            }
            tasks = (
                []
                if self._loop is None
                else sorted(task.get_name() for task in asyncio.all_tasks(self._loop))
            )
            structlog.get_logger().error(
                "the daemon did not stop in time; the process is ended",
                tasks=tasks,
                threads=list(stacks.values()),
            )
            logs.drain()
        os._exit(EXIT_SOFTWARE)
