"""A program in the simulated world."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import suppress
from contextvars import Context, ContextVar, copy_context
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio


class Machine:
    """A computer. ``wall``: seconds by which its clock is ahead of the world's; ``suspended``: for
    how long it was suspended in all.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.wall = 0.0
        self.suspended = 0.0
        self.asleep_until = 0.0
        """Time of the world until which it is suspended."""
        self.processes: list[Process] = []


class Process:
    """A program on a machine. It has one life."""

    def __init__(self, name: str, machine: Machine) -> None:
        self.name = name
        self.machine = machine
        machine.processes.append(self)
        self.alive = True
        self.frozen_until = 0.0
        """Time of the world until which none of its callbacks runs."""
        self.waiting: deque[asyncio.Handle] = deque()
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
