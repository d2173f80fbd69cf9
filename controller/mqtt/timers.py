"""Timers of one connection."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class ConnectionTimers:
    """Calls that are repeated until :meth:`cancel`."""

    def __init__(self) -> None:
        self._handles: dict[Callable[[], object], asyncio.TimerHandle] = {}

    def every(self, seconds: float, call: Callable[[], object]) -> None:
        """Call ``call`` every ``seconds``, first after that time."""
        self._handles[call] = asyncio.get_running_loop().call_later(
            seconds, self._repeat, seconds, call
        )

    def _repeat(self, seconds: float, call: Callable[[], object]) -> None:
        self.every(seconds, call)
        call()

    def once(self, seconds: float, call: Callable[[], object]) -> None:
        """Call ``call`` once, after ``seconds``."""
        self._handles[call] = asyncio.get_running_loop().call_later(seconds, call)

    def cancel(self) -> None:
        """Cancel all calls."""
        for handle in self._handles.values():
            handle.cancel()
