"""How the daemon ends: within so many seconds from when it begins to, whatever hangs.

What does not end by itself is ended here, from a thread of its own: the service manager can then
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

import structlog

from controller.service import logs
from devices.errors import NovamasError

SOFTWARE = 70
"""Exit status of a daemon that a defect has ended (EX_SOFTWARE). The service manager starts it
again.
"""
STOP = 15.0
"""Seconds that a stop may take: less than the service manager waits for it
(``TimeoutStopSec=``).
"""
DEATH = 5.0
"""Seconds that the rest may take once an essential task has died."""


class TaskDiedError(NovamasError):
    """An essential task of the daemon has ended, which it must not. The log has its cause; the
    message names it.
    """


def told(error: BaseException | None, confidential: bool) -> dict[str, object]:
    """What a log line says of an error: all, or only its kind and its place where a card that lies
    face down may be in it.
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
    """Ends the process at the earliest time that it was given, unless it is lifted before."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._times: SimpleQueue[float | None] = (
            SimpleQueue()
        )  # which a signal handler may put something into
        Thread(target=self._watch, name="deadline", daemon=True).start()

    def within(self, seconds: float) -> None:
        """The process has to end by then. May be called from a signal handler."""
        self._times.put(time.monotonic() + seconds)

    def lift(self) -> None:
        """The process ends by itself."""
        self._times.put(None)

    def names_tasks_of(self, loop: asyncio.AbstractEventLoop) -> None:
        """Whose tasks are told where something hangs."""
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
        with suppress(Exception):  # whatever it is, it must not keep the process
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
                "the end hangs, and the process is ended", tasks=tasks, threads=list(names.values())
            )
            logs.drain()
        os._exit(SOFTWARE)
