"""Records when the event loop last polled its descriptors.

Bytes that waited in the operating system while the process was not scheduled carry no time of
arrival. But the loop knows when it last found a descriptor empty: what it reads now arrived after
that. The loop's clock stops while the machine is suspended, so bytes may be older by that time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf
from weakref import WeakKeyDictionary

from common import clock

TICK_SECONDS, MIN_TICK_SECONDS = 0.02, 0.005
"""Time between two polls of an idle loop: at the speed of a real device, and the minimum."""
MAX_NORMAL_TICKS = 2.5
"""Ticks for which bytes may normally wait for the next poll."""

MIN_SUSPENSION_SECONDS = 0.5
"""Minimum suspension of the machine after which links are reopened."""
SAME_TIME_SECONDS = 0.01
"""Two clocks read within this time count as read at the same moment."""


def tick(speed: float) -> float:
    """Return the seconds between two polls for a device that runs at ``speed``."""
    return max(TICK_SECONDS / max(speed, 1.0), MIN_TICK_SECONDS)


def normal_delay(speed: float) -> float:
    """Return the maximum normal delay in seconds: bytes that waited no longer than this were only
    waiting for the next poll.
    """
    return MAX_NORMAL_TICKS * tick(speed)


def suspended_seconds() -> float:
    """Return the total time that the machine was suspended, in seconds since an arbitrary fixed
    point.
    """
    while True:
        before, with_sleep = clock.monotonic(), clock.boottime()
        if clock.monotonic() - before < SAME_TIME_SECONDS:
            return with_sleep - before


def running_seconds() -> float:
    """Return the time of the event loop plus :func:`suspended_seconds`. In any thread."""
    return clock.monotonic() + suspended_seconds()


class LoopWatch:
    """Watches one event loop. The loop polls all descriptors in each iteration, and iterates at
    least every ``tick`` seconds while a reader is registered.
    """

    def __init__(self) -> None:
        self.before = 0.0
        """Loop time; bytes that had arrived by then were read in an earlier iteration."""
        self.suspended_before = 0.0
        """:func:`suspended_seconds` at that time."""
        self._latest = self._latest_suspended = 0.0
        self._stall_end = -inf
        self._watching: list[tuple[float, Callable[[float], None]]] = []
        self._interval = inf
        """The shortest of their ticks."""
        self._timer: asyncio.TimerHandle | None = None

    def suspended(self) -> float:
        """Return :func:`suspended_seconds`."""
        return suspended_seconds()

    def polled(self) -> float:
        """Return loop time plus :func:`suspended_seconds`; bytes that had arrived by then were read
        in an earlier iteration.
        """
        return self.before + self.suspended_before

    def has_stalled_since(self, moment: float) -> bool:
        """Return whether the loop did not poll for longer than :func:`normal_delay` at any time
        after ``moment``, a time as in :meth:`polled`.
        """
        polled = self._latest + self._latest_suspended
        now = clock.monotonic() + self.suspended()
        return self._stall_end > moment or now - polled > MAX_NORMAL_TICKS * self._interval

    def is_suspension_new(self) -> bool:
        """Return whether the machine was suspended since :meth:`polled`: the links are still to be
        opened again.
        """
        return self.suspended() - self.suspended_before > MIN_SUSPENSION_SECONDS

    def begin(self, tick: float, resumed: Callable[[float], None]) -> None:
        """Iterate at least every ``tick`` seconds until :meth:`end`. After a suspension of the
        machine, ``resumed`` is called with its length in seconds. Call in the event loop.
        """
        self._watching.append((tick, resumed))
        self._interval = min(self._interval, tick)
        if self._timer is None:
            self._latest = asyncio.get_running_loop().time()
            self._latest_suspended = suspended_seconds()
            self._on_tick()

    def end(self, tick: float, resumed: Callable[[float], None]) -> None:
        """Undo a call of :meth:`begin` with the same arguments."""
        self._watching.remove((tick, resumed))
        self._interval = min((interval for interval, _ in self._watching), default=inf)
        if not self._watching and self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _on_tick(self) -> None:
        # A descriptor that became ready in this iteration may be read after this call, so only the
        # poll before this one is certain to be complete.
        loop = asyncio.get_running_loop()
        self.before, self._latest = self._latest, loop.time()
        self.suspended_before, self._latest_suspended = self._latest_suspended, suspended_seconds()
        self._timer = loop.call_at(self._latest + self._interval, self._on_tick)
        slept = self._latest_suspended - self.suspended_before
        if self._latest - self.before + slept > MAX_NORMAL_TICKS * self._interval:
            self._stall_end = self._latest + self._latest_suspended
        if slept > MIN_SUSPENSION_SECONDS:
            for _, resumed in list(self._watching):
                resumed(slept)


_make: Callable[[], LoopWatch] = LoopWatch

_watches: WeakKeyDictionary[asyncio.AbstractEventLoop, LoopWatch] = WeakKeyDictionary()


def loop_watch() -> LoopWatch:
    """Return the watch of the running event loop."""
    loop = asyncio.get_running_loop()
    if (watch := _watches.get(loop)) is None:
        watch = _watches[loop] = _make()
    return watch


@contextmanager
def use(make: Callable[[], LoopWatch]) -> Iterator[None]:
    """Let ``make`` make the watches of event loops until the end of the ``with`` block: a simulated
    world knows without ticks when a loop could poll.
    """
    global _make
    before, _make = _make, make
    try:
        yield
    finally:
        _make = before
