"""What one table needs on disk, in the log and in memory, with its session closed and open.

Each wheel plays sixty games an hour on a serial line: every byte arrives separately at 9600 baud,
which costs more than the whole lines of a device server. The daemons write journal, recordings and
log with default settings. The amounts written in some minutes are scaled to a day of 24 hours;
midnight (UTC), when new files begin, must not be among them.
"""

from __future__ import annotations

import contextlib
import gzip
import os
import sqlite3
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from nacl.signing import SigningKey

from benchmarks.figures import row
from benchmarks.processes import Process, configure, mosquitto, pseudo_terminals, serial
from benchmarks.processes import daemon as run_daemon
from benchmarks.subscriber import EVENTS, STATUS, Subscriber
from benchmarks.usage import usage
from common.contract.times import format_utc
from controller.proof.sealing import DAY_SECONDS, seal
from controller.proof.segment import folder as segments
from simulators.line import SimulatedLine
from simulators.wheel.cammegh_ss2 import SlingshotSS2
from tests.support.brokers.mosquitto import free_port

TABLES = 4
"""Tables of each kind: with several, unused parts of journal pages weigh less."""
FIRST_GAME_SECONDS = 60.0
"""Seconds after power-on until a wheel has begun its first game."""
SETTLING_SECONDS = 65.0
"""Seconds before measuring: device bytes are stored once a minute."""
GAMES_PER_HOUR = 60
"""Games of a wheel per hour."""
GOAL_MEGABYTES = 25.0
"""Megabytes per table and day, in journal and recordings."""


class WrittenBytes(NamedTuple):
    """Amounts that a daemon has written so far."""

    position: int
    journal: int
    """Bytes of the database."""
    recordings: int
    log: int


class DaemonKind(NamedTuple):
    """One measured daemon."""

    name: str
    tables: int
    open: bool


KINDS = (
    DaemonKind("one", 1, False),
    DaemonKind("closed", TABLES, False),
    DaemonKind("open", TABLES, True),
)


def amounts_written(folder: Path) -> WrittenBytes:
    """Return the amounts that the daemon in a folder has written so far."""
    with closing(sqlite3.connect(f"file:{folder}/journal.sqlite3?mode=ro", uri=True)) as journal:
        (position,) = journal.execute("SELECT max(position) FROM entry").fetchone()
        (size,) = journal.execute(
            "SELECT (page_count - freelist_count) * page_size"
            " FROM pragma_page_count, pragma_freelist_count, pragma_page_size"
        ).fetchone()
    recordings = sum(path.stat().st_size for path in recordings_of(folder))
    return WrittenBytes(position, size, recordings, (folder / "log").stat().st_size)


def recordings_of(folder: Path) -> list[Path]:
    """Return the recordings of the daemon in a folder."""
    return sorted((folder / "recordings").rglob("*.rec"))


def play(ends: list[int], until: threading.Event) -> None:
    """Play a wheel on each of these file descriptors, at different moments of the game, until the
    event is set.
    """
    game = 3600 / GAMES_PER_HOUR
    wheels = [
        (
            FIRST_GAME_SECONDS + game * number / len(ends),
            SimulatedLine(SlingshotSS2(number, games_per_hour=GAMES_PER_HOUR)),
        )
        for number in range(len(ends))
    ]
    for ahead, line in wheels:
        line.advance(ahead)
    start = time.monotonic()
    while not until.is_set():
        due = min(line.deadline - ahead for ahead, line in wheels)
        time.sleep(max(0.0, start + due - time.monotonic()))
        now = time.monotonic() - start
        for (ahead, line), end in zip(wheels, ends, strict=True):
            for _, data in line.advance(now + ahead):
                os.write(end, data)


@contextlib.contextmanager
def playing(ends: list[int]) -> Iterator[None]:
    """Play wheels while the context lasts."""
    until = threading.Event()
    wheels = threading.Thread(target=play, args=(ends, until), daemon=True)
    wheels.start()
    try:
        yield
    finally:
        until.set()
        wheels.join()


class Running(NamedTuple):
    """A running daemon, and its folder."""

    kind: DaemonKind
    folder: Path
    process: Process


@contextlib.contextmanager
def start_daemon(kind: DaemonKind, folder: Path) -> Iterator[Running]:
    """Start a daemon whose tables receive their wheels, with their sessions open or closed."""
    with contextlib.ExitStack() as stack:
        broker = free_port()
        stack.enter_context(mosquitto(folder, broker))
        wires = stack.enter_context(pseudo_terminals(kind.tables))
        stack.enter_context(playing([end for end, _ in wires]))
        subscriber = stack.enter_context(Subscriber(broker, [EVENTS, STATUS]))
        links = [serial(name) for _, name in wires]
        log = stack.enter_context((folder / "log").open("wb"))
        configured = configure(folder, broker, links, log="info")
        process = stack.enter_context(run_daemon(configured, log.fileno()))
        subscriber.online()
        if kind.open:
            subscriber.prepare(kind.tables, lambda: None)
        yield Running(kind, folder, process)


class DiskUse(NamedTuple):
    """Amounts written per table, in megabytes a day."""

    journal: float
    sealed: float
    recordings: float
    packed: float
    log: float


def disk_use(folder: Path, before: WrittenBytes, after: WrittenBytes, days: float) -> DiskUse:
    """Return the amounts written between two moments. ``days``: table days in between."""
    seal(
        folder / "journal.sqlite3",
        SigningKey.generate(),
        "benchmark",
        format_utc(time.time() + 2 * DAY_SECONDS),
        0,
        after.position,
        keep_days=30,
    )
    lines: list[bytes] = []
    for segment in sorted(segments(folder / "journal.sqlite3").iterdir()):
        lines += gzip.decompress(segment.read_bytes()).splitlines(keepends=True)[1:-1]
    grown = sum(
        len(gzip.compress(path.read_bytes())) * (1 - before.recordings / after.recordings)
        for path in recordings_of(folder)
    )
    sealed = len(gzip.compress(b"".join(lines[before.position : after.position])))
    return DiskUse(
        *(
            size / days / 1e6
            for size in (
                after.journal - before.journal,
                sealed,
                after.recordings - before.recordings,
                grown,
                after.log - before.log,
            )
        )
    )


def main(minutes: float) -> None:
    """Measure and print."""
    print(
        f"Megabytes a day of a table with a wheel on a serial line, byte by byte, "
        f"{GAMES_PER_HOUR} games an hour; {TABLES} tables, {minutes:g} minutes, scaled (goal: at "
        f"most {GOAL_MEGABYTES:g} in journal and compressed recordings)"
    )
    with contextlib.ExitStack() as folders:
        places = [
            Path(folders.enter_context(tempfile.TemporaryDirectory(prefix="bench-"))) for _ in KINDS
        ]
        with contextlib.ExitStack() as stack:
            daemons = [
                stack.enter_context(start_daemon(kind, place))
                for kind, place in zip(KINDS, places, strict=True)
            ]
            time.sleep(SETTLING_SECONDS)
            before, start = [amounts_written(place) for place in places], time.monotonic()
            time.sleep(minutes * 60)
            after, spent = [amounts_written(place) for place in places], time.monotonic() - start
            memory = [usage(daemon.process.pid).rss for daemon in daemons]
        print(
            row(
                "", "journal", "sealed day", "recordings", "compressed", "log",
                "journal + compressed", width=22,
            )
        )  # fmt: skip
        for kind, place, first, last in zip(KINDS, places, before, after, strict=True):
            if kind.tables == 1:  # for the memory
                continue
            found = disk_use(place, first, last, kind.tables * spent / DAY_SECONDS)
            print(row(kind.name, *found, found.journal + found.packed, width=22))
    for kind, megabytes in zip(KINDS, memory, strict=True):
        if kind.tables > 1:
            beyond = (megabytes - memory[0]) / (kind.tables - 1)
            print(f"  memory: {memory[0]:.0f} MB with one table, {beyond:.1f} for each {kind.name}")
