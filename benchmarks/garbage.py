"""What an hour of continuous garbage costs the journal. The hour is simulated, the journal is
real.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from controller.games.games import make_game
from controller.journal.journal import Journal
from controller.tables.byte_trace import FLUSH_INTERVAL_SECONDS
from controller.tables.runner import TableRunner
from controller.tables.table import Table
from devices.calls import BytesReceived, LinkOpened, apply_call
from devices.drivers import driver
from devices.watch import Watch

CHUNK_SECONDS = 0.02
"""Seconds between two deliveries, roughly as of a USB adapter."""
A_SECOND, A_MINUTE = round(1 / CHUNK_SECONDS), round(FLUSH_INTERVAL_SECONDS / CHUNK_SECONDS)


KINDS: dict[str, Callable[[int], bytes]] = {
    "noise": random.Random(1).randbytes,
    "lines": lambda size: b"x\n" * (size // 2),
}


async def measure(name: str, kind: str, bytes_a_second: int, seconds: float) -> tuple[int, int]:
    """Return entries and bytes of the journal after this many seconds of garbage."""
    found = driver(name)
    watch = Watch(found.make("wheel", found.options()), "wheel", 5.0)
    game = make_game("roulette-french", "ARA02", {})
    with tempfile.TemporaryDirectory() as folder:
        with closing(Journal(Path(folder) / "journal.sqlite3")) as journal:
            runner = TableRunner(
                lambda: Table("s", "t", "roulette-french", "ARA02", game, "b"),
                journal,
                lambda: 0.0,
                lambda: None,
            )
            watch.opened(0.0)
            runner.on_bytes("wheel", LinkOpened(0.0))
            for chunk in range(round(seconds / CHUNK_SECONDS)):
                call = BytesReceived(
                    chunk * CHUNK_SECONDS, KINDS[kind](round(bytes_a_second * CHUNK_SECONDS))
                )
                runner.on_bytes("wheel", call)
                runner.on_readings(apply_call(watch, call))
                if not chunk % A_MINUTE:
                    runner.flush()
                if not chunk % A_SECOND:
                    await runner.drain()
            runner.flush()
            await runner.drain()
        return _entries(Path(folder)), _size(Path(folder))


def _entries(folder: Path) -> int:
    with closing(Journal(folder / "journal.sqlite3")) as journal:
        return journal.head()


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


def main() -> None:
    """Measure both kinds of garbage and print."""
    parser = argparse.ArgumentParser(prog="benchmarks.garbage", description=__doc__)
    parser.add_argument("--driver", default="cammegh-ss2")
    parser.add_argument(
        "--speed",
        type=int,
        default=960,
        help="bytes per second (default: 960, a full line at 9600 baud)",
    )
    parser.add_argument("--seconds", type=float, default=3600.0)
    arguments = parser.parse_args()
    for kind in KINDS:
        entries, size = asyncio.run(
            measure(arguments.driver, kind, arguments.speed, arguments.seconds)
        )
        print(
            f"{arguments.driver}, {kind}, {arguments.speed} bytes/s for {arguments.seconds:g} s: "
            f"{entries} entries, {size / 1e6:.1f} MB"
        )


if __name__ == "__main__":
    main()
