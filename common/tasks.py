"""Ends tasks of asyncio."""

from __future__ import annotations

import asyncio
from typing import Any

CANCEL_RETRY_SECONDS = 0.5
"""Seconds before a cancelled task that still runs is cancelled again."""


async def end_tasks(*tasks: asyncio.Task[Any]) -> None:
    """Cancel the tasks and wait until they have ended; their results are not looked at.

    A task that still runs after a while is cancelled again: ``asyncio.wait_for`` of Python 3.11,
    which libraries use, loses a cancellation that arrives together with its result.
    """
    running = set(tasks)
    while running:
        for task in running:
            task.cancel()
        _, running = await asyncio.wait(running, timeout=CANCEL_RETRY_SECONDS)
