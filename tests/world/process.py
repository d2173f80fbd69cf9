"""A program in the simulated world."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import suppress
from contextvars import Context, ContextVar, copy_context
from typing import Any


class Machine:
    """A computer. ``wall``: seconds by which its clock was set; ``suspended``: for how long it was
    suspended in all, by its own clock. ``rate``: seconds that its clock counts in one of the
    world; nothing corrects it.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.wall = 0.0
        self.suspended = 0.0
        self.asleep_until = 0.0
        """Time of the world until which it is suspended."""
        self.processes: list[Process] = []
        self.disk_seconds = 0.0
        """By how much work in a thread takes longer, because it waits for the disk."""
        self.rate = 1.0
        self.is_doomed = False
        """Whether its daemon of a pair will die or fail whenever it has the lease."""
        self._rated = 0.0, 0.0
        """When the present rate began: the time of the world, and of its own clock."""
        self.is_exact = True
        """Whether its programs have always seen the time of the world."""

    def boottime(self, now: float) -> float:
        """Return what its clock shows at that time of the world."""
        since, at = self._rated
        return at + (now - since) * self.rate

    def monotonic(self, now: float) -> float:
        """Return the time that its programs see: without suspensions."""
        if self.is_exact:
            return now
        since, at = self._rated
        return at + (now - since) * self.rate - self.suspended

    def reaches(self, monotonic: float) -> float:
        """Return the time of the world at which its programs will see that time, unless it is
        suspended before.
        """
        since, at = self._rated
        return since + (monotonic + self.suspended - at) / self.rate

    def set_rate(self, rate: float, now: float) -> None:
        """Let its clock run faster or slower from now on. See ``WorldLoop.drift``."""
        self._rated = now, self.boottime(now)
        self.rate, self.is_exact = rate, False


class Process:
    """A program on a machine. It has one life."""

    def __init__(self, name: str, machine: Machine) -> None:
        self.name = name
        self.machine = machine
        machine.processes.append(self)
        self.alive = True
        self.frozen_until = 0.0
        """Time of the world until which none of its callbacks runs."""
        self.clock: Callable[[], float] = lambda: 0.0
        """Returns its time; its event loop sets it."""
        self.on_freeze: Callable[[], object] = lambda: None
        """Called before a freeze."""
        self.on_thaw: Callable[[], object] = lambda: None
        """Called in its context after a freeze."""
        self.held = False
        """Whether it is frozen or dead: none of its callbacks may run."""
        self.waiting: deque[Any] = deque()
        """Callbacks that are due and wait for the end of a freeze."""
        self.started = 0.0
        self.kept: list[Any] = []
        """What must not be collected while the world runs: a coroutine that is collected runs its
        ``finally`` blocks, which a killed program does not.
        """
        self.end: Callable[[str], None] = lambda _: None
        """Ends it from within, for a reason."""
        self._resources: list[Callable[[], object]] = []

    def __repr__(self) -> str:
        return f"<{self.name}>"

    def postpone(self, callback: object) -> None:
        """Let a callback wait for the end of a freeze. None of a dead process will run."""
        if self.alive:
            self.waiting.append(callback)

    def on_kill(self, release: Callable[[], object]) -> None:
        """Call ``release`` when the process dies, as the operating system closes files."""
        self._resources.append(release)

    def release(self) -> None:
        """Close what the process held."""
        resources, self._resources = self._resources, []
        for release in resources:
            with suppress(Exception):
                release()


PROCESS: ContextVar[Process | None] = ContextVar("process", default=None)
"""The process whose code runs; None: the world itself."""


def context_of(process: Process) -> Context:
    """Return a context in which the code of that process runs."""
    context = copy_context()
    context.run(PROCESS.set, process)
    return context
