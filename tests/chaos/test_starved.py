"""A daemon that is hardly ever scheduled, and stopped on top of it: no number is wrong, nothing is
lost, and every event can be derived again from the bytes and the times that they may have waited.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.daemon.test_stopped import ROOT, WHEELS, Wheels, number, wheel_table
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.chaos.archive import entries_of
from tests.support.chaos.floor import Floor
from tests.support.chaos.proof import sound
from tests.support.chaos.report import tell
from tests.support.daemon.play import command
from tests.support.daemon.process import Daemon, configuration
from tests.support.programs import running
from tests.support.waiting import until

SPEED = 10.0
LOWEST = 19
"""The niceness of the daemon."""


def nice(daemon: Daemon, niceness: int) -> None:
    """Give it that, with all of its threads."""
    assert daemon.process is not None
    for thread in Path(f"/proc/{daemon.process.pid}/task").iterdir():
        os.setpriority(os.PRIO_PROCESS, int(thread.name), niceness)


@contextmanager
def starved(daemon: Daemon, programs: int) -> Iterator[None]:
    """Idle priority: every other process runs before it, and that number of programs wants all of
    the machine.
    """
    nice(daemon, LOWEST)
    with ExitStack() as ending:
        for _ in range(programs):
            ending.enter_context(running([sys.executable, "-c", "while True: pass"]))
        yield
    with suppress(PermissionError):  # root alone may take it back
        nice(daemon, 0)


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize("programs", [2, 6])
def test_wheels_that_play_while_the_daemon_is_starved(
    tmp_path: Path, long: bool, programs: int
) -> None:
    """Eight wheels with a line each tenth of a second; their program is not starved."""
    if programs != 2 and not long:
        pytest.skip("in the long form")
    with ExitStack() as ending:
        broker = Mosquitto(tmp_path / "mosquitto")
        ending.callback(broker.kill)
        broker.start()
        wheels = Wheels(tmp_path)
        ending.callback(wheels.close)
        subscriber = Subscriber(broker.port)
        ending.callback(subscriber.close)
        tables = [f"r{wheel}" for wheel in range(WHEELS)]
        made = Daemon(tmp_path, configuration(broker.port, *map(wheel_table, tables, wheels.links)))
        ending.callback(made.kill)
        play(made, subscriber, tables, programs, 60 if long else 4)
        unresolved = len(subscriber.events("round.unresolved"))
        tell(
            f"{programs} busy programs: {len(subscriber.events('round.result'))} results, "
            f"{unresolved} unresolved; the wheels paused for {wheels.longest_pause:.2f} s at most"
        )


def play(
    made: Daemon, subscriber: Subscriber, tables: list[str], programs: int, seconds: int
) -> None:
    made.start()
    made.until_logged("device up", WHEELS)
    made.until_logged("broker connected", 1)  # no command is received before that
    for table in tables:
        assert command(subscriber, "session.open", f"{ROOT}/{table}")["ok"]
    with starved(made, programs):
        time.sleep(seconds)

    def results() -> list[dict[str, Any]]:
        return subscriber.events("round.result")

    known = len(results())
    until("results afterwards", lambda: len(results()) >= known + WHEELS, made.log)
    for event in results():
        assert event["outcome"]["number"] == number(int(event["table"][1:]), event["spin"])


@pytest.mark.parametrize("programs", [0, 2])
def test_a_starved_daemon_gives_no_wrong_number(
    floor: Callable[..., Floor], long: bool, seed: int, programs: int
) -> None:
    if programs != 2 and not long:
        pytest.skip("in the long form")
    chance = random.Random(seed)
    made = floor(tables=2, speed=SPEED, stale_after=600.0)
    made.start()
    made.until_results(1)
    with starved(made.daemon, programs):
        for _ in range(60 if long else 6):
            time.sleep(chance.uniform(0.05, 1.0))
            made.daemon.signal(signal.SIGSTOP)
            time.sleep(chance.choice((0.02, 0.1, 0.3, 0.45)))
            made.daemon.signal(signal.SIGCONT)
    made.until_results(1)
    events, _ = sound(made)
    ends = [event["type"] for event in events]
    tell(
        f"{programs} busy programs: {ends.count('round.result')} results, "
        f"{ends.count('round.unresolved')} unresolved"
    )
    assert any(
        b'"delayed"' in entry.body for entry in entries_of(made.journal) if entry.kind == "bytes"
    )
