"""Many tables at their true pace with one daemon and Mosquitto: CPU, and the latency of results.

Each wheel sends two lines a second and a result every 45 seconds; half of the wheels are on
pseudo-terminals, half on TCP ports.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
import threading
import time
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple

from benchmarks.figures import milliseconds, row
from benchmarks.processes import Process, configure, daemon, mosquitto, running
from benchmarks.subscriber import EVENTS, STATUS, Subscriber
from benchmarks.usage import Usage, cpu, usage
from tests.support.brokers.mosquitto import free_port

GAMES_PER_HOUR = 80
GAME_SECONDS = 3600 / GAMES_PER_HOUR
MAX_LATENCY_SECONDS = 30.0
"""Seconds after which a result counts as missing."""

Times = defaultdict[int, list[float]]
"""Times of something, ascending, by number of the table."""


class ScaleFigures(NamedTuple):
    """Figures for one number of tables."""

    start: float
    """Seconds until the daemon was online."""
    sessions: float
    """Seconds from then until all sessions were open."""
    cpu: float
    """CPU seconds of the daemon per second."""
    wheels: float
    """CPU seconds of the wheels per second."""
    end: Usage
    missing: int
    latencies: list[float]


def read_shown(output: IO[bytes], shown: Times) -> None:
    """Record the results shown by the wheels, until their output ends."""
    for line in output:
        number, moment = json.loads(line)
        shown[number].append(moment)


def latencies(shown: Times, arrived: Times, since: float, until: float) -> tuple[list[float], int]:
    """Return the seconds from each result shown in an interval to its arrival, and the number of
    missing results.
    """
    spent, missing = [], 0
    for number, moments in shown.items():
        for moment in moments:
            if since <= moment < until:
                next_arrival = bisect_right(arrived[number], moment)
                if (
                    next_arrival == len(arrived[number])
                    or arrived[number][next_arrival] > moment + MAX_LATENCY_SECONDS
                ):
                    missing += 1
                else:
                    spent.append(arrived[number][next_arrival] - moment)
    return spent, missing


@contextlib.contextmanager
def playing(
    tables: int, shown: Times, slots: int = 0, games_per_hour: int = GAMES_PER_HOUR
) -> Iterator[tuple[Process, list[str]]]:
    """Run the process of the wheels and coin slots; yield it with the daemon's links to them."""
    numbers = (str(number) for number in (tables, games_per_hour, slots))
    wheels = (sys.executable, "-m", "benchmarks.wheels", *numbers)
    with running(*wheels, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        links = json.loads(process.stdout.readline())
        threading.Thread(target=read_shown, args=(process.stdout, shown), daemon=True).start()
        yield process, links


def table_of(topic: str) -> int:
    """Return the number of the table in a topic."""
    return int(topic.split("/")[3].removeprefix("table-"))


def measure(tables: int, seconds: float) -> ScaleFigures:
    """Run this many tables for this many seconds, after one whole game of each."""
    shown: Times = defaultdict(list)
    arrived: Times = defaultdict(list)

    def note(topic: str, body: bytes, now: float) -> None:
        if b'"round.result"' in body:
            arrived[table_of(topic)].append(now)

    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        broker = free_port()
        stack.enter_context(mosquitto(folder, broker))
        subscriber = stack.enter_context(Subscriber(broker, [EVENTS, STATUS], note))
        wheels, links = stack.enter_context(playing(tables, shown))
        started_at = time.monotonic()
        process = stack.enter_context(daemon(configure(folder, broker, links)))
        subscriber.online()
        online = time.monotonic()
        subscriber.prepare(tables, lambda: None)
        opened = time.monotonic()
        time.sleep(GAME_SECONDS + 5.0)  # a game that is joined in its midst has no result
        since, before, of_wheels = time.monotonic(), cpu(process.pid), cpu(wheels.pid)
        time.sleep(seconds)
        until, spent = time.monotonic(), cpu(process.pid) - before
        of_wheels = cpu(wheels.pid) - of_wheels
        end = usage(process.pid)
        with contextlib.suppress(TimeoutError):
            subscriber.wait(
                "the last results",
                lambda: not latencies(shown, arrived, since, until)[1],
                MAX_LATENCY_SECONDS,
            )
    found, missing = latencies(shown, arrived, since, until)
    passed = until - since
    return ScaleFigures(
        online - started_at,
        opened - online,
        spent / passed,
        of_wheels / passed,
        end,
        missing,
        found,
    )


def main(tables: list[int], minutes: float) -> None:
    """Measure each number of tables and print it."""
    print(
        f"Tables in one daemon, each two lines a second and a result every {GAME_SECONDS:.0f} s, "
        f"{minutes:g} minutes each"
    )
    print("Goals: 1,000 tables on a quarter of a core, p99 at most 6 ms, online within 10 s")
    print(
        row(
            "tables", "online, s", "sessions, s", "core, %", "ms/table/s", "RSS, MB", "files",
            "threads", "results", "missing", "p50, ms", "p99, ms", "max, ms", "wheels, %", width=12,
        )
    )  # fmt: skip
    for count in tables:
        try:
            found = measure(count, minutes * 60)
        except TimeoutError as error:
            print(row(str(count), str(error)), flush=True)
            continue
        print(
            row(
                str(count), found.start, found.sessions, found.cpu * 100, found.cpu / count * 1e3,
                found.end.rss, found.end.files, found.end.threads, len(found.latencies),
                found.missing, *milliseconds(found.latencies), found.wheels * 100, width=12,
            ),
            flush=True,
        )  # fmt: skip
