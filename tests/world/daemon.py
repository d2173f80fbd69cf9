"""The daemon as a program of the world."""

from __future__ import annotations

import asyncio
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, cast

from msgspec.structs import replace

from common import clock
from common.chain.schema import JournalUnusableError
from controller.configuration.file import load
from controller.configuration.settings import Configuration
from controller.journal.file import OPEN_RETRY_SECONDS
from controller.service.daemon import Daemon, serve_in_pair
from controller.service.ending import Deadline
from tests.world.disk import Disk
from tests.world.process import PROCESS, Machine
from tests.world.program import Program, Serve


class Node(NamedTuple):
    """A daemon with the machine that it runs on."""

    machine: Machine
    disk: Disk
    program: Program


class _NoDeadline:
    """Takes the place of the thread that ends a daemon which hangs."""

    def within(self, seconds: float) -> None: ...
    def lift(self) -> None: ...
    def names_tasks_of(self, loop: object) -> None: ...


def placeless(configuration: Configuration) -> Configuration:
    """Return the configuration without the folder of its profiles, which a journal records, and
    which has another name in each process.
    """
    return replace(
        configuration,
        table=tuple(
            replace(
                table,
                device=tuple(
                    replace(device, options={**device.options, "file": Path(path).name})
                    if (path := device.options.get("file")) is not None
                    else device
                    for device in table.device
                ),
            )
            for table in configuration.table
        ),
    )


def _configuration(file: Path) -> Configuration:
    """Read a configuration. A daemon that is started again mostly has the one of before."""
    return _loaded(file, file.read_bytes())


@lru_cache(maxsize=8)
def _loaded(file: Path, _text: bytes) -> Configuration:
    return placeless(load(file))


def daemon(file: Path, disk: Disk) -> Serve:
    """Return what serves as the daemon of this configuration, with its journal on that disk."""

    async def serve(stop: asyncio.Event) -> None:
        while disk.trouble.unreadable:  # opening a journal tries so long
            await clock.sleep(OPEN_RETRY_SECONDS)
        try:
            await live(stop)
        except JournalUnusableError:  # it ends, and is started again
            if not disk.trouble.unreadable:
                raise

    async def live(stop: asyncio.Event) -> None:
        deadline = cast("Deadline", cast("Any", _NoDeadline()))
        configuration = _configuration(file)
        if configuration.standby is not None:
            ready = asyncio.Event()
            await serve_in_pair(configuration, deadline, None, ready, stop, disk.journal)
            return
        served = Daemon(configuration, deadline, open_journal=disk.journal)
        process = PROCESS.get()
        assert process is not None
        process.kept.append(served)
        await served.run(stop)

    return serve
