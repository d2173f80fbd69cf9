"""A flag on which a task waits for a bounded time, at the cost of a timer."""

from __future__ import annotations

import asyncio


class Wakeup:
    """As ``asyncio.Event``, for one waiting task. ``asyncio.timeout`` around the wait of an event
    would cancel the task at each end, and catch that: too much for loops that mostly time out.
    """

    def __init__(self) -> None:
        self._is_set = False
        self._waiter: asyncio.Future[None] | None = None

    def set(self) -> None:
        """Wake the task."""
        self._is_set = True
        if self._waiter is not None:
            _end(self._waiter)

    def clear(self) -> None:
        """Let the next :meth:`wait` wait."""
        self._is_set = False

    async def wait(self, seconds: float | None) -> bool:
        """Wait until it is set, for at most ``seconds`` (None: without a bound). Return whether it
        is set.
        """
        if self._is_set:
            return True
        loop = asyncio.get_running_loop()
        self._waiter = waiter = loop.create_future()
        timer = None if seconds is None else loop.call_later(seconds, _end, waiter)
        try:
            await waiter
        finally:
            self._waiter = None
            if timer is not None:
                timer.cancel()
        return self._is_set


def _end(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)
