"""A program of the world: it is killed, ends or stops, and its service manager starts it again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import Context
from typing import Any

from tests.world.loop import WorldLoop
from tests.world.process import Machine, Process, context_of

RESTART_SECONDS = 2.0
"""As the unit's ``RestartSec``."""

Serve = Callable[[asyncio.Event], Awaitable[None]]
"""One life of a program: serves until the event is set, as on SIGTERM."""


class Program:
    """``failures``: why lives ended that were neither killed nor stopped."""

    def __init__(
        self,
        loop: WorldLoop,
        name: str,
        machine: Machine,
        serve: Serve,
        note: Callable[[str], None],
    ) -> None:
        self.name = name
        self.machine = machine
        self.failures: list[BaseException] = []
        self.process: Process | None = None
        self._loop, self._serve, self._note = loop, serve, note
        self._stop: asyncio.Event | None = None

    def start(self) -> None:
        """Start a life, once its machine is awake."""
        if self.machine.asleep_until > self._loop.now:
            self._loop.call_at(self.machine.asleep_until, self.start, context=Context())
            return
        self.process = Process(self.name, self.machine)
        self.process.started = self.machine.monotonic(self._loop.now)
        self.process.end = self._end
        self._stop = asyncio.Event()
        task: asyncio.Task[Any] = self._loop.create_task(
            self._run(self.process, self._stop), name=self.name, context=context_of(self.process)
        )
        self.process.kept.append(task)

    def kill(self, pause: float = RESTART_SECONDS) -> None:
        """Kill it; it is started again after ``pause``."""
        process = self.process
        if process is None or not process.alive:
            return
        self._loop.kill(process)
        self._loop.call_later(pause, self.start, context=Context())

    def stop(self) -> None:
        """Stop it as ``systemctl stop`` does."""
        if self._stop is not None:
            self._stop.set()

    def _end(self, why: str) -> None:
        """It has ended itself; its service manager starts it again."""
        self._note(f"ENDED      {self.name}: {why}")
        self.kill()

    async def _run(self, process: Process, stop: asyncio.Event) -> None:
        try:
            await self._serve(stop)
        except Exception as error:
            self._note(f"FAILED     {self.name}: {error!r}")
            self.failures.append(error)
        finally:
            if process.alive:
                self._loop.kill(process)
                if not stop.is_set():
                    self._loop.call_later(RESTART_SECONDS, self.start, context=Context())
