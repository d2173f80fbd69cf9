"""Latency from the last byte on the wire to a subscriber, for six programs, interleaved in one run
over one Mosquitto. Each reads its line from a pseudo-terminal and publishes at QoS 1.

``floor``: the line piped into ``mosquitto_pub -l``. ``loop``: pyserial and paho-mqtt. ``node``:
serialport and MQTT.js. ``storing`` and ``node-storing``: the same two, which also commit each line
to SQLite. ``novamas``: the daemon, which checks the line, plays it by the rules, and commits it to
disk before it publishes. ``before``: the daemon of another commit, at a Mosquitto of its own.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.figures import milliseconds, percentile, row
from benchmarks.processes import (
    START_TIMEOUT_SECONDS,
    configure,
    daemon,
    mosquitto,
    program,
    pseudo_terminals,
    running,
    serial,
)
from benchmarks.subscriber import EVENTS, STATUS, Subscriber
from benchmarks.wheel_lines import PERIOD, spin, until_result
from tests.support.brokers.mosquitto import free_port

NOVAMAS = "novamas"
BEFORE = "before"
OTHER_PROGRAMS = ("floor", "loop", "node", "storing", "node-storing")
NODE = Path(__file__).parent / "node"
CHECKOUT = Path("build", "before")
"""Where the other commit is checked out."""
GAPS = 4
"""Gaps between the status lines of a round in which another program is measured. The last gap,
before the result, is not used, so that the result comes at the pace of a wheel.
"""
SPEED = 10
"""The wheel's half second is 50 ms here, so that a run takes minutes; the path is the same."""
PACE = PERIOD / SPEED
WARM_UP_ROUNDS = 5
"""Rounds at the beginning that are not measured."""
MAX_LATENCY_SECONDS = 2.0
"""Seconds after which a message counts as missing."""

Latencies = dict[str, list[float]]
"""Seconds, by program."""


def command(way: str, line: str, broker: int, folder: Path) -> list[str]:
    """Return the command of another program that publishes lines on the topic ``way``."""
    port, python = str(broker), [sys.executable, "-m"]
    match way:
        case "floor":
            options = ["-h", "127.0.0.1", "-p", port, "-q", "1", "-l", "-t", way]
            return [program("mosquitto_pub"), *options]
        case "loop":
            return [*python, "benchmarks.integrator", line, port, way]
        case "node":
            return [program("node"), str(NODE / "integrator.js"), line, port, way]
        case "node-storing":
            database = str(folder / "node-storing.sqlite3")
            return [program("node"), str(NODE / "storing.js"), line, port, way, database]
        case _:
            return [*python, "benchmarks.storing", line, port, way, str(folder / "storing.sqlite3")]


class Arrivals:
    """Arrival time of each program's latest message."""

    def __init__(self) -> None:
        self.latest: dict[str, float] = {}

    def on_message(self, topic: str, body: bytes, now: float) -> None:
        """Record a line, or a result of the daemon."""
        if topic in OTHER_PROGRAMS:
            self.latest[topic] = now
        elif b'"round.result"' in body:
            self.latest[NOVAMAS] = now


class Rig(NamedTuple):
    """A broker's subscriber, the arrival times at it, and each program's wheel end."""

    subscriber: Subscriber
    arrivals: Arrivals
    ends: dict[str, int]

    def measure(self, way: str, line: bytes) -> float | None:
        """Write the last line, and return the seconds until it is received, or None."""
        since = time.monotonic()
        _write(self.ends[way], line)
        try:
            self.subscriber.wait(
                way, lambda: self.arrivals.latest.get(way, 0.0) >= since, MAX_LATENCY_SECONDS
            )
        except TimeoutError as error:
            print(f"  missing: {error}", file=sys.stderr)
            return None
        return self.arrivals.latest[way] - since


@contextlib.contextmanager
def rig(ways: Sequence[str], checkout: Path | None = None) -> Iterator[Rig]:
    """Start a broker, a subscriber, the other programs, and the daemon of the code in a folder."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        broker = free_port()
        stack.enter_context(mosquitto(folder, broker))
        wires = stack.enter_context(pseudo_terminals(1 + len(ways)))
        names = dict(zip((NOVAMAS, *ways), (name for _, name in wires), strict=True))
        ends = dict(zip((NOVAMAS, *ways), (end for end, _ in wires), strict=True))
        arrivals = Arrivals()
        subscriber = stack.enter_context(
            Subscriber(broker, [EVENTS, STATUS, *ways], arrivals.on_message)
        )
        for way in ways:
            line = stack.enter_context(Path(names[way]).open("rb", buffering=0))
            command_line = command(way, names[way], broker, folder)
            stack.enter_context(running(*command_line, stdin=line.fileno()))
        configuration = configure(folder, broker, [serial(names[NOVAMAS])], SPEED)
        stack.enter_context(daemon(configuration, checkout=checkout))
        subscriber.online()
        subscriber.prepare(1, lambda: _write(ends[NOVAMAS], spin(1)[0]))
        for way in ways:
            end = time.monotonic() + START_TIMEOUT_SECONDS
            while way not in arrivals.latest:
                if time.monotonic() > end:
                    sys.exit(
                        f"benchmarks: {way} has published nothing within "
                        f"{START_TIMEOUT_SECONDS:.0f} s"
                    )
                _write(ends[way], spin(1)[0])
                time.sleep(0.2)
        time.sleep(1.0)
        yield Rig(subscriber, arrivals, ends)


@contextlib.contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    """Check out another commit beside this one. Raises ``subprocess.CalledProcessError``."""
    shutil.rmtree(CHECKOUT, ignore_errors=True)
    subprocess.run(("git", "worktree", "prune"), check=True)
    add = ("git", "worktree", "add", "--quiet", "--force", "--detach")
    subprocess.run((*add, str(CHECKOUT), commit), check=True)
    try:
        yield CHECKOUT.absolute()
    finally:
        subprocess.run(("git", "worktree", "remove", "--force", str(CHECKOUT)), check=True)


def _write(end: int, line: bytes) -> None:
    os.write(end, line)


def measure(
    rounds: int,
    ways: Sequence[str] = OTHER_PROGRAMS,
    against: Path | None = None,
    *,
    whole: bool = False,
) -> Latencies:
    """Return the latencies of ``rounds`` results for each program; print missing results.
    ``whole``: the rounds have as many lines as those of a real wheel.
    """
    with contextlib.ExitStack() as stack:
        here = stack.enter_context(rig(ways))
        daemons = {NOVAMAS: here}
        if against is not None:
            daemons[BEFORE] = stack.enter_context(rig((), against))
        spent: Latencies = {way: [] for way in (*ways, *daemons)}

        def record(way: str, latency: float | None, number: int) -> None:
            if latency is not None and number > WARM_UP_ROUNDS:
                spent[way].append(latency)

        for number in range(1, WARM_UP_ROUNDS + rounds + 1):
            *lines, result = until_result(number) if whole else spin(number)
            turn = number % len(ways) if ways else 0
            order = [*ways[turn:], *ways[:turn]]
            start = time.monotonic()
            for index, line in enumerate(lines):
                _until(start + index * PACE)
                for each in daemons.values():
                    _write(each.ends[NOVAMAS], line)
                if index < min(GAPS, len(order)):
                    _until(start + (index + 0.5) * PACE)
                    record(order[index], here.measure(order[index], result), number)
            _until(start + len(lines) * PACE)
            for way, each in sorted(daemons.items(), reverse=number % 2 == 0):
                record(way, each.measure(NOVAMAS, result), number)
            time.sleep(PACE)
    return spent


def _until(moment: float) -> None:
    time.sleep(max(0.0, moment - time.monotonic()))


def main(
    rounds: int,
    runs: int,
    ways: Sequence[str],
    against: str | None = None,
    *,
    whole: bool = False,
) -> None:
    """Measure ``runs`` times and print each run, and the ratios of all."""
    print(
        "Latency from the last byte on the wire to a subscriber over Mosquitto, "
        f"{rounds} results, interleaved, milliseconds"
    )
    others = [*ways, *([BEFORE] if against else [])]
    ratios: dict[str, list[tuple[float, float]]] = {way: [] for way in others}
    with contextlib.ExitStack() as stack:
        checkout = stack.enter_context(checked_out(against)) if against else None
        for run in range(1, runs + 1):
            spent = measure(rounds, ways, checkout, whole=whole)
            print(row(f"run {run}", "results", "p50", "p99", "max", "ratio p50", "ratio p99"))
            for way, values in spent.items():
                ratio: tuple[float, ...] = ()
                if way != NOVAMAS:
                    ratio = tuple(
                        percentile(spent[NOVAMAS], part) / percentile(values, part)
                        for part in (50, 99)
                    )
                    ratios[way].append((ratio[0], ratio[1]))
                print(row(way, len(values), *milliseconds(values), *ratio), flush=True)
    print(f"Novamás divided by each program: median of {runs} runs (lowest to highest)")
    print(row("", "p50", "p99", width=24))
    for way, found in ratios.items():
        cells = (
            f"{statistics.median(part):.2f} ({min(part):.2f} to {max(part):.2f})"
            for part in zip(*found, strict=True)
        )
        print(row(way, *cells, width=24))
    print("Goals: at most 1.2 of storing, 1.0 of node-storing, and of the loop 2.2 and 2.0 at p99")
