"""The daemon as a program of the world, started again by its service manager when it has ended."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import Context
from pathlib import Path
from typing import Any, cast

from controller.configuration.file import load
from controller.service.daemon import Daemon, serve_in_pair
from controller.service.ending import Deadline
from tests.world.disk import Disk
from tests.world.loop import WorldLoop
from tests.world.process import Machine, Process, context_of

RESTART_SECONDS = 2.0
"""As the unit's ``RestartSec``."""


class _NoDeadline:
    """Takes the place of the thread that ends a daemon which hangs."""

    def within(self, seconds: float) -> None: ...
    def lift(self) -> None: ...
    def names_tasks_of(self, loop: object) -> None: ...


class DaemonProgram:
    """One instance of the daemon with its configuration. ``failures``: why lives ended that were
    neither killed nor stopped.
    """

    def __init__(
        self,
        loop: WorldLoop,
        name: str,
        machine: Machine,
        disk: Disk,
        file: Path,
        note: Callable[[str], None],
    ) -> None:
        self.name = name
        self.machine = machine
        self.failures: list[BaseException] = []
        self.daemon: Daemon | None = None
        self.process: Process | None = None
        self.disk = disk
        self._loop, self._file, self._note = loop, file, note
        self._stop: asyncio.Event | None = None

    def start(self) -> None:
        """Start a life of the daemon, once its machine is awake."""
        if self.machine.asleep_until > self._loop.now:
            self._loop.call_at(self.machine.asleep_until, self.start, context=Context())
            return
        self.process = Process(self.name, self.machine)
        self.process.started = self.machine.monotonic(self._loop.now)
        self.process.end = self._end
        self._stop = asyncio.Event()
        task = self._loop.create_task(
            self._run(self.process, self._stop), name=self.name, context=context_of(self.process)
        )
        self.process.kept.append(task)

    def kill(self, pause: float = RESTART_SECONDS) -> None:
        """Kill it; it is started again after ``pause``."""
        process = self.process
        if process is None or not process.alive:
            return
        process.kept.append(self.daemon)
        self._loop.kill(process)
        self.daemon = None
        self._loop.call_later(pause, self.start, context=Context())

    def _end(self, why: str) -> None:
        """It has ended itself; its service manager starts it again."""
        self._note(f"ENDED      {self.name}: {why}")
        self.kill()

    def stop(self) -> None:
        """Stop it as ``systemctl stop`` does."""
        if self._stop is not None:
            self._stop.set()

    async def _run(self, process: Process, stop: asyncio.Event) -> None:
        deadline = cast("Deadline", cast("Any", _NoDeadline()))
        try:
            configuration = load(self._file)
            if configuration.standby is None:
                self.daemon = Daemon(configuration, deadline, open_journal=self.disk.journal)
                await self.daemon.run(stop)
            else:
                await serve_in_pair(
                    configuration, deadline, None, asyncio.Event(), stop, self.disk.journal
                )
        except Exception as error:
            self._note(f"FAILED     {self.name}: {error!r}")
            self.failures.append(error)
        finally:
            if process.alive:
                self._loop.kill(process)
                if not stop.is_set():
                    self._loop.call_later(RESTART_SECONDS, self.start, context=Context())
