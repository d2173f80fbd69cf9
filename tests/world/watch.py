"""When the loop of a process has polled its descriptors, without the ticks of a real one.

A real loop has to wake up fifty times a second to know that it could. A world knows when a process
could not: half of what an hour of a world costs would be these ticks.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from devices.loop_watch import MIN_SUSPENSION_SECONDS, LoopWatch
from tests.world.process import PROCESS


class WorldLoopWatch(LoopWatch):
    """The watch of the loop of one process: what it would know if it had ticked."""

    def __init__(self) -> None:
        super().__init__()
        process = PROCESS.get()
        assert process is not None
        self._process = process
        self._interval = inf
        self._suspended = process.machine.suspended
        process.on_freeze, process.on_thaw = self._tick_until_now, self._on_thaw

    def begin(self, tick: float, resumed: Callable[[float], None]) -> None:
        """See :class:`LoopWatch`."""
        if not self._watching:
            self.before = self._latest = self._process.clock()
            self.suspended_before = self._latest_suspended = self._process.machine.suspended
        self._watching.append((tick, resumed))
        self._interval = min(interval for interval, _ in self._watching)

    def end(self, tick: float, resumed: Callable[[float], None]) -> None:
        """See :class:`LoopWatch`."""
        self._watching.remove((tick, resumed))
        self._interval = min((interval for interval, _ in self._watching), default=inf)

    def suspended(self) -> float:
        """See :class:`LoopWatch`. A world knows it without its clocks."""
        return self._process.machine.suspended

    def polled(self) -> float:
        """See :class:`LoopWatch`."""
        self._tick_until_now()
        return super().polled()

    def _tick_until_now(self) -> None:
        ticks = (self._process.clock() - self._latest) // self._interval
        if ticks >= 2.0:
            self._tick(self._latest + (ticks - 1.0) * self._interval)
        if ticks >= 1.0:
            self._tick(self._latest + self._interval)

    def _tick(self, now: float) -> None:
        self.before, self._latest = self._latest, now
        self.suspended_before = self._latest_suspended
        self._latest_suspended = self._process.machine.suspended

    def _on_thaw(self) -> None:
        now, suspended = self._process.clock(), self._process.machine.suspended
        if now - self._latest >= self._interval:
            self._tick(now)  # the one that was due meanwhile
        slept, self._suspended = suspended - self._suspended, suspended
        if slept > MIN_SUSPENSION_SECONDS:
            for _, resumed in list(self._watching):
                resumed(slept)
