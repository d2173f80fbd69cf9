"""How the daemon ends: within a limited time once it begins to end, whatever hangs.

What does not end by itself is ended here, by a thread of its own; the service manager can then
start the daemon again.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
import traceback
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Thread

from controller.service import logs
from devices.errors import NovamasError
from devices.log import structlog

SOFTWARE = 70
"""Exit status of a daemon that ended because of a defect (EX_SOFTWARE). The service manager
restarts it.
"""
STOP = 15.0
"""Seconds that a stop may take: less than the service manager allows (``TimeoutStopSec=``)."""
DEATH = 5.0
"""Seconds allowed for the rest to end once an essential task has died."""


class TaskDiedError(NovamasError):
    """An essential task of the daemon has ended unexpectedly. The message names it; the log has the
    cause.
    """


def error_fields(error: BaseException | None, confidential: bool) -> dict[str, object]:
    """The fields of a log line about an error: everything, or only its type and place if its text
    may contain a face-down card.
    """
    if error is None:
        return {"reason": "it returned"}
    if not confidential:
        return {"exc_info": error}
    return {
        "error": type(error).__name__,
        "where": "".join(traceback.format_tb(error.__traceback__)[-3:]),
    }


class Deadline:
    """Ends the process at the earliest time it was given, unless lifted before."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._times: SimpleQueue[float | None] = SimpleQueue()  # a signal handler may put into it
        Thread(target=self._watch, name="deadline", daemon=True).start()

    def within(self, seconds: float) -> None:
        """End the process after this many seconds. May be called from a signal handler."""
        self._times.put(time.monotonic() + seconds)

    def lift(self) -> None:
        """Cancel the deadline: the process ends by itself."""
        self._times.put(None)

    def names_tasks_of(self, loop: asyncio.AbstractEventLoop) -> None:
        """The loop whose tasks are listed in the log if something hangs."""
        self._loop = loop

    def _watch(self) -> None:
        earliest = self._times.get()
        while earliest is not None:
            try:
                given = self._times.get(timeout=max(0.0, earliest - time.monotonic()))
            except Empty:
                self._end()
                return
            earliest = None if given is None else min(given, earliest)

    def _end(self) -> None:
        with suppress(Exception):  # nothing may keep the process from ending
            names = {
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
                threads=list(names.values()),
            )
            logs.drain()
        os._exit(SOFTWARE)
