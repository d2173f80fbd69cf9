"""When the event loop last looked at its descriptors.

Bytes that lay in the operating system while the process was not scheduled carry no time of arrival.
But the loop knows when it last found a descriptor empty: what it reads now came after that. The
loop's clock stands still while the machine is suspended, and bytes may be older by that time.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from weakref import WeakKeyDictionary

TICK_SECONDS, MIN_TICK_SECONDS = 0.02, 0.005
"""Seconds between two looks of a loop that has nothing else to do: at the speed of a real device,
and at the least.
"""


MIN_SUSPENSION_SECONDS = 0.5
"""Seconds of suspension after which links are opened again."""
SAME_TIME_SECONDS = 0.01
"""Seconds: two clocks that are read within them are read at the same time."""


def tick(speed: float) -> float:
    """The seconds between two looks for a device that runs at that speed."""
    return max(TICK_SECONDS / max(speed, 1.0), MIN_TICK_SECONDS)


def normal_delay(speed: float) -> float:
    """Seconds: bytes that waited for no longer lay there between two looks, as always."""
    return 2.5 * tick(speed)


def suspended_seconds() -> float:
    """Seconds that the machine was suspended, since any fixed time."""
    while True:
        before, with_sleep = time.monotonic(), time.clock_gettime(time.CLOCK_BOOTTIME)
        if time.monotonic() - before < SAME_TIME_SECONDS:
            return with_sleep - before


class LoopWatch:
    """The looks of one event loop. It looks at all descriptors in each of its turns, and it has a
    turn at least every ``tick`` seconds while anybody wants to know.
    """

    def __init__(self) -> None:
        self.before = 0.0
        """A time of the loop: what had arrived until then was taken in an earlier turn than this
        one.
        """
        self.suspended_before = 0.0
        """:func:`suspended_seconds` at that time."""
        self._latest = self._latest_suspended = 0.0
        self._watching: list[tuple[float, Callable[[float], None]]] = []
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, tick: float, resumed: Callable[[float], None]) -> None:
        """Look so often, until :meth:`end`, and call ``resumed`` with the seconds that the machine
        was suspended, once it runs again. Call in the event loop.
        """
        self._watching.append((tick, resumed))
        if self._timer is None:
            self._latest = asyncio.get_running_loop().time()
            self._latest_suspended = suspended_seconds()
            self._look()

    def end(self, tick: float, resumed: Callable[[float], None]) -> None:
        """As called in :meth:`begin`."""
        self._watching.remove((tick, resumed))
        if not self._watching and self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        # A descriptor that was ready in this turn may be read after this call. So only the look
        # before this one is certain to be over.
        loop = asyncio.get_running_loop()
        self.before, self._latest = self._latest, loop.time()
        self.suspended_before, self._latest_suspended = self._latest_suspended, suspended_seconds()
        tick = min(each for each, _ in self._watching)
        self._timer = loop.call_at(self._latest + tick, self._look)
        slept = self._latest_suspended - self.suspended_before
        if slept > MIN_SUSPENSION_SECONDS:
            for _, resumed in list(self._watching):
                resumed(slept)


_watches: WeakKeyDictionary[asyncio.AbstractEventLoop, LoopWatch] = WeakKeyDictionary()


def loop_watch() -> LoopWatch:
    """Those of the running event loop."""
    return _watches.setdefault(asyncio.get_running_loop(), LoopWatch())
