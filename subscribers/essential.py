"""Tasks without which a service would run and be wrong: it ends with them, and its unit restarts
it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections.abc import Coroutine, Iterator
from typing import Any

from devices.log import structlog

END_TIMEOUT_SECONDS = 10.0
"""Time allowed for the rest of a process to end once an essential task has."""


class TaskEndedError(Exception):
    """An essential task has ended without an exception. The message names it."""


async def essential(
    name: str, work: Coroutine[Any, Any, object], stop: asyncio.Event | None = None
) -> None:
    """Run a task that its service cannot do without. If it ends before ``stop`` is set, the log
    says so, and what ended it is raised: its exception, or :class:`TaskEndedError` if it returned
    or was cancelled by no one.
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


@contextlib.contextmanager
def ending_process() -> Iterator[None]:
    """End the process with status 1 within :data:`END_TIMEOUT_SECONDS` of an exception in the
    block, even while a thread (of a slow disk or database) does not return.
    """
    try:
        yield
    except BaseException:
        timer = threading.Timer(END_TIMEOUT_SECONDS, os._exit, (1,))
        timer.daemon = True
        timer.start()
        raise
