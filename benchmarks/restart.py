"""How long a daemon needs to start with a large journal, until it has published its tables and is
online.
"""

from __future__ import annotations

import contextlib
import tempfile
import time
from pathlib import Path

from benchmarks.figures import row
from benchmarks.filled_journal import ROUNDS_PER_YEAR, fill
from benchmarks.processes import configure, daemon, mosquitto, pseudo_terminals, serial
from benchmarks.subscriber import STATUS, Subscriber
from tests.support.brokers.mosquitto import free_port


def start(configuration: Path, broker: int) -> float:
    """Start and end the daemon. Return the seconds until it was online, which it publishes after
    its tables' retained topics.
    """
    with Subscriber(broker, [STATUS]) as subscriber:
        time.sleep(0.3)  # the status of the run before is retained
        subscriber.latest.clear()
        started_at = time.monotonic()
        with daemon(configuration):
            subscriber.online()
            return time.monotonic() - started_at


def main(tables: int, entries: int, starts: int) -> None:
    """Measure and print."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        broker = free_port()
        stack.enter_context(mosquitto(folder, broker))
        wires = stack.enter_context(pseudo_terminals(tables))
        configuration = configure(folder, broker, [serial(name) for _, name in wires])
        empty = start(configuration, broker)
        for file in folder.glob("journal.sqlite3*"):
            file.unlink()
        filled = fill(folder / "journal.sqlite3", tables, entries, published=True)
        print(
            f"Start of a daemon with {tables} tables over a journal of {filled.rounds:,} rounds, "
            f"{filled.entries:,} entries, {filled.megabytes:,.0f} MB (a year of one table is "
            f"{ROUNDS_PER_YEAR:,} rounds; goal: at most 5 s)"
        )
        print(row("", "online, s"))
        print(row("empty journal", empty))
        for _ in range(starts):
            print(row("full journal", start(configuration, broker)), flush=True)
