"""CPU cost of an uneventful status line: the CPU time of all threads of a daemon whose wheels wait
for bets and repeat their status twice a second.

It is measured at the true pace and over whole minutes, so it includes everything: waiting for a
line, reading, recording and decoding it, and storing its bytes in the journal once a minute. The
CPU time of the same daemon with silent wheels is measured too: it is not caused by lines, but it is
spent.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from pathlib import Path

from benchmarks.figures import row
from benchmarks.processes import configure, daemon, mosquitto, pseudo_terminals, serial
from benchmarks.subscriber import EVENTS, STATUS, Subscriber
from benchmarks.usage import cpu
from benchmarks.wheel_lines import PERIOD, spin, uneventful
from tests.support.brokers.mosquitto import free_port

REST_SECONDS = 3.0
"""Seconds without activity before a measurement."""


class UneventfulWheels:
    """Wheels that send status lines in turn, evenly spread over each half second."""

    def __init__(self, ends: list[int]) -> None:
        self._ends = ends
        self.sent = 0

    def show(self, line: bytes) -> None:
        """Send this line from each wheel."""
        for end in self._ends:
            os.write(end, line)

    def wait_for_bets(self, seconds: float) -> None:
        """Send uneventful lines from each wheel for this many seconds."""
        step = PERIOD / len(self._ends)
        start = time.monotonic()
        for index in range(round(seconds / step)):
            time.sleep(max(0.0, start + index * step - time.monotonic()))
            turn, wheel = divmod(index, len(self._ends))
            os.write(self._ends[wheel], uneventful(turn))
            self.sent += 1


def main(tables: int, seconds: float) -> None:
    """Measure and print."""
    events: list[str] = []
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        broker = free_port()
        stack.enter_context(mosquitto(folder, broker))
        wires = stack.enter_context(pseudo_terminals(tables))
        wheels = UneventfulWheels([end for end, _ in wires])
        subscriber = stack.enter_context(Subscriber(broker, [EVENTS, STATUS]))
        process = stack.enter_context(
            daemon(configure(folder, broker, [serial(name) for _, name in wires]))
        )
        subscriber.online()
        subscriber.prepare(tables, lambda: wheels.show(spin(1)[-1]))
        # two lines have to agree before the next spin has begun, and after a silence none is live
        wheels.wait_for_bets(REST_SECONDS)
        before = cpu(process.pid)
        time.sleep(seconds)
        silent = cpu(process.pid) - before
        wheels.wait_for_bets(REST_SECONDS)
        subscriber.on_message = lambda topic, body, _: (
            events.append(body.decode()) if topic.endswith("/event") else None
        )
        before, first = cpu(process.pid), wheels.sent
        wheels.wait_for_bets(seconds)
        sending, lines = cpu(process.pid) - before, wheels.sent - first
    print(
        f"CPU of an uneventful status line, all threads, {tables} tables at two lines a second, "
        f"{seconds:g} s (goal: at most 100 microseconds)"
    )
    print(
        row("", "lines", "CPU, s", "µs a line", "silent, s", "µs a line beyond", "events", width=18)
    )
    beyond = (sending - silent) / lines * 1e6
    print(row("", lines, sending, sending / lines * 1e6, silent, beyond, len(events), width=18))
    for event in events[:3]:
        print(f"  not uneventful: {event}")
