"""The daemon as a program of the world, started again by its service manager when it has ended."""

from __future__ import annotations

import asyncio
from contextvars import Context
from pathlib import Path
from typing import Any, cast

from controller.configuration.file import load
from controller.service.daemon import Daemon
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

    def __init__(self, loop: WorldLoop, name: str, machine: Machine, disk: Disk, file: Path):
        self.name = name
        self.machine = machine
        self.failures: list[BaseException] = []
        self.dead: list[Process] = []
        self.daemon: Daemon | None = None
        self.process: Process | None = None
        self._loop, self._disk, self._file = loop, disk, file
        self._stop: asyncio.Event | None = None

    def start(self) -> None:
        """Start a life of the daemon, once its machine is awake."""
        if self.machine.asleep_until > self._loop.now:
            self._loop.call_at(self.machine.asleep_until, self.start, context=Context())
            return
        self.process = Process(self.name, self.machine)
        self.process.started = self._loop.now
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
        self.dead.append(process)
        process.kept.append(self.daemon)
        self._loop.kill(process)
        self.daemon = None
        self._loop.call_later(pause, self.start, context=Context())

    def stop(self) -> None:
        """Stop it as ``systemctl stop`` does."""
        if self._stop is not None:
            self._stop.set()

    async def _run(self, process: Process, stop: asyncio.Event) -> None:
        try:
            configuration = load(self._file)
            self.daemon = Daemon(
                configuration,
                cast("Deadline", cast("Any", _NoDeadline())),
                open_journal=self._disk.journal,
            )
            await self.daemon.run(stop)
        except Exception as error:
            self.failures.append(error)
        finally:
            process.alive = False
            process.release()
