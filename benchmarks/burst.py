"""Bursts: every wheel gives its result within the same half second, repeatedly."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from benchmarks.figures import milliseconds, row
from benchmarks.processes import configure, daemon, mosquitto, pseudo_terminals, serial
from benchmarks.scale import MAX_LATENCY_SECONDS, Times, latencies, table_of
from benchmarks.subscriber import EVENTS, STATUS, Subscriber
from benchmarks.wheel_lines import PERIOD, spin
from tests.support.brokers.mosquitto import free_port

WAITING_LINES = 12
"""Status lines in which a wheel waits for bets before each burst: six seconds."""


def play(ends: list[int], bursts: int, shown: Times) -> None:
    """Play one round at all wheels, then the measured bursts; the lines of all wheels are spread
    evenly over each half second.
    """
    step = PERIOD / len(ends)
    due = time.monotonic()
    for number in range(1, bursts + 2):
        lines = spin(number)
        for line in (*(lines[0] for _ in range(WAITING_LINES)), *lines):
            for table, end in enumerate(ends, 1):
                due += step
                time.sleep(max(0.0, due - time.monotonic()))
                if line is lines[-1] and number > 1:  # the first round has no start time
                    shown[table].append(time.monotonic())
                os.write(end, line)


def show(ends: list[int], line: bytes) -> None:
    """Send this line from each wheel."""
    for end in ends:
        os.write(end, line)


def main(tables: int, bursts: int) -> None:
    """Measure and print."""
    shown: Times = defaultdict(list)
    arrivals: Times = defaultdict(list)

    def note(topic: str, body: bytes, now: float) -> None:
        if b'"round.result"' in body:
            arrivals[table_of(topic)].append(now)

    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        broker = free_port()
        stack.enter_context(mosquitto(folder, broker))
        wires = stack.enter_context(pseudo_terminals(tables))
        ends = [end for end, _ in wires]
        subscriber = stack.enter_context(Subscriber(broker, [EVENTS, STATUS], note))
        stack.enter_context(daemon(configure(folder, broker, [serial(name) for _, name in wires])))
        subscriber.online()
        subscriber.prepare(tables, lambda: show(ends, spin(1)[0]))
        since = time.monotonic()
        play(ends, bursts, shown)
        until = time.monotonic()
        with contextlib.suppress(TimeoutError):
            subscriber.wait(
                "the last results",
                lambda: not latencies(shown, arrivals, since, until)[1],
                MAX_LATENCY_SECONDS,
            )
    spent, missing = latencies(shown, arrivals, since, until)
    print(f"{bursts} bursts: each of {tables} wheels gives its result within the same half second")
    print(row("", "results", "missing", "p50, ms", "p99, ms", "max, ms"))
    print(row("", len(spent), missing, *milliseconds(spent)))
