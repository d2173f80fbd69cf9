"""A month of play in one process, as fast as it goes: ``python -m tests.chaos.month CONFIG
ROUNDS``.

All of the daemon is at work, but for the link: a simulated wheel's bytes are handed to its watch
and its table with the model's own times. Memory and open files of the process are printed at each
eighth of the run, one JSON object per line.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import json
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

from common.contract.commands import SessionOpen
from controller.configuration.file import load
from controller.service.daemon import Daemon
from controller.service.ending import Deadline
from controller.service.logs import configure
from devices.calls import AnyCall, BytesReceived, LinkOpened, apply_call
from devices.watch import Watch
from devices.wheel.cammegh_ss2_driver import DRIVER
from simulators.wheel.cammegh_ss2 import SlingshotSS2
from tests.support.chaos.report import tell

GAMES_PER_HOUR = 60
PARTS = 8
LOOKS = 20


def calls(wheel: SlingshotSS2, rounds: int) -> Iterator[AnyCall | None]:
    """The watchdog notifications to the supervisor; None after each round."""
    yield LinkOpened(0.0)
    now = 0.0
    played = 0
    while played < rounds:
        now += 0.25
        for at, line in wheel.advance(now):
            yield BytesReceived(at, line)
        if wheel.rounds > played:
            played = wheel.rounds
            yield None


async def play(
    configuration: str, rounds: int, after: Callable[[Daemon, int], Awaitable[None]]
) -> None:
    """Play, and call ``after`` with the number of each round."""
    daemon = Daemon(load(configuration), Deadline())
    stop = asyncio.Event()
    running = asyncio.create_task(daemon.run(stop))
    runner = daemon._places["r1"].runner
    watch = Watch(DRIVER.make("wheel", DRIVER.options()), "wheel", stale_after=5.0)
    await runner.execute(SessionOpen(at=0.0, by="M. Lasa", role="table_head"))
    played = 0
    for call in calls(SlingshotSS2(seed=1, games_per_hour=GAMES_PER_HOUR), rounds):
        if call is not None:
            runner.on_bytes("wheel", call)
            runner.on_readings(apply_call(watch, call))
            continue
        await runner.drain()
        await _told(daemon, running)
        played += 1
        await after(daemon, played)
    stop.set()
    await running


async def live(configuration: str, rounds: int) -> None:
    async def after(_daemon: Daemon, played: int) -> None:
        if played % (rounds // PARTS) == 0:
            tell(json.dumps({"rounds": played, **await held()}))

    await play(configuration, rounds, after)


async def held() -> dict[str, int]:
    """What this process holds: ``memory`` in kB, and open ``files``."""
    return {"memory": memory(), "files": await _fewest_files()}


async def _told(daemon: Daemon, running: asyncio.Task[None]) -> None:
    """Wait until the broker has acknowledged everything."""
    while not running.done() and (  # noqa: ASYNC110
        daemon._publisher is None or daemon._publisher.position < daemon._journal.head()
    ):
        await asyncio.sleep(0.001)


def memory() -> int:
    """What this process holds: resident memory in kB."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # memory cached by the C library is not growth
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4


async def _fewest_files() -> int:
    """Of several looks: a file that is just being written is not held."""
    fewest = _files()
    for _ in range(LOOKS):
        await asyncio.sleep(0.005)
        fewest = min(fewest, _files())
    return fewest


def _files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


if __name__ == "__main__":
    configure(level="warning")
    asyncio.run(live(sys.argv[1], int(sys.argv[2])))
