"""After an outage of the broker: how fast a daemon publishes the backlog of its journal, and how
late the retained results of its tables are meanwhile.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from pathlib import Path

from benchmarks.figures import milliseconds, row
from benchmarks.filled_journal import fill
from benchmarks.processes import configure, daemon, mosquitto, program, running
from benchmarks.scale import GAME_SECONDS, Times, latencies, playing, table_of
from benchmarks.subscriber import EVENTS, RESULTS, Subscriber
from tests.support.brokers.mosquitto import free_port

OUTAGE_SECONDS = GAME_SECONDS + 15.0
"""Seconds for which the tables play before the broker starts."""
MIN_EVENTS_PER_SECOND = 100.0
"""Events per second below which the benchmark gives up."""


class Counter(threading.Thread):
    """Counts the lines printed by ``mosquitto_sub``: the time of the first, and of the line number
    ``place``.
    """

    def __init__(self, output: int, place: int) -> None:
        super().__init__(daemon=True)
        self.lines = 0
        self.first = self.reached = 0.0
        self._output, self._place = output, place
        self.start()

    def run(self) -> None:
        """Count until the output ends."""
        while data := os.read(self._output, 1 << 16):
            now = time.monotonic()
            self.first = self.first or now
            self.lines += data.count(b"\n")
            if self.lines >= self._place:
                self.reached = self.reached or now


def main(tables: int, entries: int) -> None:
    """Measure and print. Exits with 1 if events are missing."""
    shown: Times = defaultdict(list)
    arrived: Times = defaultdict(list)
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        filled = fill(folder / "journal.sqlite3", tables, entries, published=False)
        print(
            f"A broker comes back: {filled.events:,} events wait, while {tables} tables play at "
            "their true pace\nGoals: 10,000 events a second; meanwhile the retained results within "
            "100 ms",
            flush=True,
        )
        broker = free_port()
        _, links = stack.enter_context(playing(tables, shown))
        stack.enter_context(daemon(configure(folder, broker, links)))
        time.sleep(OUTAGE_SECONDS)  # a round that was joined after its start has no result
        stack.enter_context(mosquitto(folder, broker))
        subscriber = stack.enter_context(
            Subscriber(
                broker, [RESULTS], lambda topic, _, now: arrived[table_of(topic)].append(now)
            )
        )
        command = (program("mosquitto_sub"), "-h", "127.0.0.1", "-p", str(broker), "-q", "1")
        listening = stack.enter_context(
            running(*command, "-t", EVENTS, "-F", "%l", stdout=subprocess.PIPE)
        )
        assert listening.stdout is not None
        counter = Counter(listening.stdout.fileno(), filled.events)
        end = time.monotonic() + filled.events / MIN_EVENTS_PER_SECOND + OUTAGE_SECONDS
        while not counter.reached:
            if time.monotonic() > end:
                sys.exit(f"  only {counter.lines:,} of {filled.events:,} events arrived")
            time.sleep(0.1)
        with contextlib.suppress(TimeoutError):
            subscriber.wait("the last results", lambda: not _live(shown, arrived, counter)[1], 30.0)
        spent, missing = _live(shown, arrived, counter)
    seconds = counter.reached - counter.first
    rate = filled.events / seconds
    print(row("", "seconds", "events/s", "results", "missing", "p50, ms", "p99, ms", "max, ms"))
    print(row("", seconds, rate, len(spent), missing, *milliseconds(spent)))


def _live(shown: Times, arrived: Times, counter: Counter) -> tuple[list[float], int]:
    return latencies(shown, arrived, counter.first, counter.reached)
