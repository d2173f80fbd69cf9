"""When the event loop last looked at its descriptors.

Bytes that lay in the operating system while the process was not scheduled carry no time of arrival.
But the loop knows when it last found a descriptor empty: what it reads now came after that.
"""

from __future__ import annotations

import asyncio
from weakref import WeakKeyDictionary

TICK, SHORTEST_TICK = 0.02, 0.005
"""Seconds between two looks of a loop that has nothing else to do: at the speed of a real device,
and at the least.
"""


def tick(speed: float) -> float:
    """The seconds between two looks for a device that runs at that speed."""
    return max(TICK / max(speed, 1.0), SHORTEST_TICK)


def told_after(speed: float) -> float:
    """Seconds: bytes that waited for no longer lay there between two looks, as always."""
    return 2.5 * tick(speed)


class Looks:
    """The looks of one event loop. It looks at all descriptors in each of its turns, and it has a
    turn at least every ``tick`` seconds while anybody wants to know.
    """

    def __init__(self) -> None:
        self.before = 0.0
        """A time of the loop: what had arrived until then was taken in an earlier turn than this
        one.
        """
        self._latest = 0.0
        self._ticks: list[float] = []
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, tick: float) -> None:
        """Look so often, until :meth:`end`. Call in the event loop."""
        self._ticks.append(tick)
        if self._timer is None:
            self.before = self._latest = asyncio.get_running_loop().time()
            self._look()

    def end(self, tick: float) -> None:
        """As called in :meth:`begin`."""
        self._ticks.remove(tick)
        if not self._ticks and self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        # A descriptor that was ready in this turn may be read after this call. So only the look
        # before this one is certain to be over.
        loop = asyncio.get_running_loop()
        self.before, self._latest = self._latest, loop.time()
        self._timer = loop.call_at(self._latest + min(self._ticks), self._look)


_looks: WeakKeyDictionary[asyncio.AbstractEventLoop, Looks] = WeakKeyDictionary()


def looks() -> Looks:
    """Those of the running event loop."""
    return _looks.setdefault(asyncio.get_running_loop(), Looks())
