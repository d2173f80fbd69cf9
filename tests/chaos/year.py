"""A year of one table in one process: ``python -m tests.chaos.year CONFIG DAYS ROUNDS``.

A day is as many rounds, and as many steps of every clock that the daemon reads, but for that of its
event loop, which knows no days. Each day is sealed, and removed when it is older than is kept.
Memory, open files and disk use are printed at each eighth of the run.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from common import clock
from controller.configuration.file import load
from controller.proof import clocks, journal_upkeep, timekeeper
from controller.proof.clocks import ClockReading
from controller.proof.segment import segments
from controller.service import time_watch
from controller.service.daemon import Daemon
from controller.service.logs import configure
from tests.chaos.month import PARTS, held, play
from tests.support.chaos.report import tell

DAY = 86_400.0
NEVER = 1e9


class Calendar:
    """Moves the clocks of this process."""

    def __init__(self) -> None:
        self._ahead = 0.0
        wall, counted, both = clock.wall, clock.uptime_ns, clocks.wall_and_machine
        read = clocks.read_clocks

        def wall_and_machine() -> tuple[float, float]:
            seconds, machine = both()  # the wall clock is moved already
            return seconds, machine + self._ahead

        def read_clocks() -> ClockReading:
            now = read()
            ahead = self._ahead
            return ClockReading(now.wall, now.machine + ahead, now.awake + ahead, True)

        for module, name, value in (
            (clock, "wall", lambda: wall() + self._ahead),
            (clock, "uptime_ns", lambda: counted() + int(self._ahead * 1e9)),
            (time_watch, "wall_and_machine", wall_and_machine),
            (timekeeper, "read_clocks", read_clocks),
            (journal_upkeep, "FLUSH_INTERVAL_SECONDS", NEVER),
        ):
            assert hasattr(module, name), name
            setattr(module, name, value)

    def advance(self, seconds: float) -> None:
        """All of them."""
        self._ahead += seconds


async def live(configuration: str, days: int, rounds: int) -> None:
    calendar = Calendar()

    async def after(daemon: Daemon, played: int) -> None:
        calendar.advance(DAY / rounds)
        upkeep, publisher = daemon._upkeep, daemon._publisher
        assert publisher is not None
        runners = [place.runner for place in daemon._places.values()]
        upkeep.flush(runners)
        upkeep.check(runners)
        if played % rounds:
            return
        while daemon._journal._writer.cut:  # noqa: ASYNC110 - the day before is removed a part a second
            await asyncio.sleep(0.01)
        await upkeep._seal(publisher.position)
        day = played // rounds
        if day % (days // PARTS) == 0:
            lying = on_disk(Path(load(configuration).journal.path))
            tell(json.dumps({"day": day, **await held(), **lying}))

    await play(configuration, days * rounds, after)


def on_disk(journal: Path) -> dict[str, int]:
    """What lies there: the number of sealed days, and bytes."""
    sealed = [path.stat().st_size for path in segments(journal)]
    size = journal.stat().st_size
    return {"sealed": len(sealed), "sealed_bytes": sum(sealed), "journal_bytes": size}


if __name__ == "__main__":
    configure(level="warning")
    asyncio.run(live(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
