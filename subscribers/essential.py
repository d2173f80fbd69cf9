"""How a service ends: within limited time at a signal, even if something hangs; and when a task
ends that it cannot work correctly without, so that its unit restarts it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator
from typing import Any

from common.command_line import stop_signals
from common.log import structlog

END_TIMEOUT_SECONDS = 10.0
"""Time allowed for the rest of a process to end once an essential task has."""
STOP_TIMEOUT_SECONDS = 9.0
"""Time allowed for a process to end at a signal: less than ``TimeoutStopSec=`` of every unit."""


class TaskEndedError(Exception):
    """An essential task has ended without an exception. The message names it."""


async def essential(
    name: str, work: Coroutine[Any, Any, object], stop: asyncio.Event | None = None
) -> None:
    """Run a task that its service cannot work without. If it ends before ``stop`` is set, log this
    and raise the cause: its exception, or :class:`TaskEndedError` if it returned or if something
    other than this task's cancellation cancelled it.
    """
    task = asyncio.current_task()
    ended: Exception
    try:
        await work
    except asyncio.CancelledError:
        if task is None or task.cancelling():
            raise
        ended = TaskEndedError(f"{name}: cancelled")
    except Exception as error:
        ended = error
    else:
        if stop is not None and stop.is_set():
            return
        ended = TaskEndedError(f"{name}: returned")
    structlog.get_logger().error(
        "essential task ended: the process ends", task=name, reason=repr(ended)
    )
    raise ended


NamedWork = Iterable[tuple[str, Coroutine[Any, Any, object]]]
"""Tasks to start, with their names."""


async def run_together(receiving: NamedWork, showing: NamedWork, stop: asyncio.Event) -> None:
    """Run essential tasks until ``stop`` is set or one ends. Then those that show something end by
    themselves: what they show last stays. Raises the exception of a task.
    """
    receivers = [asyncio.create_task(essential(name, work)) for name, work in receiving]
    shows = [asyncio.create_task(essential(name, work, stop)) for name, work in showing]
    await asyncio.wait((*receivers, *shows), return_when=asyncio.FIRST_COMPLETED)
    stop.set()
    await asyncio.wait(shows)
    for task in receivers:
        task.cancel()
    for ended in await asyncio.gather(*receivers, *shows, return_exceptions=True):
        if isinstance(ended, Exception):
            raise ended


@contextlib.contextmanager
def ending_process() -> Iterator[None]:
    """On an exception in the block, end the process with status 1 within
    :data:`END_TIMEOUT_SECONDS`, even if a thread (on a slow disk or database) does not return.
    """
    try:
        yield
    except BaseException:
        timer = threading.Timer(END_TIMEOUT_SECONDS, os._exit, (1,))
        timer.daemon = True
        timer.start()
        raise


def end_at_signal(end: Callable[[], None]) -> None:
    """Call ``end`` in the running loop at SIGTERM or SIGINT. If the process still runs
    :data:`STOP_TIMEOUT_SECONDS` later, because a thread on a slow disk or database does not return,
    end it with status 1.
    """
    loop = asyncio.get_running_loop()

    def stop(*_: object) -> None:  # outside the loop, which may hang
        timer = threading.Timer(STOP_TIMEOUT_SECONDS, _end_now)
        timer.daemon = True
        timer.start()
        with contextlib.suppress(RuntimeError):  # the loop is closed already
            loop.call_soon_threadsafe(end)

    for number in stop_signals():
        signal.signal(number, stop)


def _end_now() -> None:
    with contextlib.suppress(Exception):  # nothing may keep the process from ending
        structlog.get_logger().error(
            "not ended in time: the process ends without waiting any longer",
            seconds=STOP_TIMEOUT_SECONDS,
            threads=sorted(thread.name for thread in threading.enumerate()),
        )
    os._exit(1)
