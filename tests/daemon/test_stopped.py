"""The daemon is not scheduled for a while, at every phase of a round. What lay on its lines
meanwhile waited for nobody but the daemon: it gives the results that the devices showed, and none
that they did not show.

One stop meets eight wheels, each in another phase, and two shoes that deal. Devices never stop.
"""

from __future__ import annotations

import os
import signal
import threading
import time
import tty
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from tests.daemon.mosquitto import Mosquitto, Subscriber, until
from tests.daemon.play import command, until_open
from tests.daemon.process import Daemon, configuration
from tests.daemon.test_shoes import Shoe

PERIOD = 0.1
"""Seconds between two lines of a wheel."""
ROUND = (*[2] * 10, *[3] * 8, *[4] * 4, *[5] * 10)
"""The state of each line."""
WHEELS = 8
SHOE_SPEED = 4
STOPS = (0.1, 0.3, 1.0, 2.5, 4.5)
"""Seconds. What is longer than five is judged as if the wire had been silent."""


class Wheels:
    """Wheels that play on their own, whether anybody reads them or not."""

    def __init__(self, folder: Path) -> None:
        self.links = [folder / f"wheel{number}" for number in range(WHEELS)]
        self.played: list[dict[int, int]] = [{} for _ in self.links]
        self._masters = []
        for link in self.links:
            master, slave = os.openpty()
            tty.setraw(slave)
            os.set_blocking(master, False)
            link.symlink_to(os.ttyname(slave))
            os.close(slave)
            self._masters.append(master)
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._play)
        self._thread.start()

    def _play(self) -> None:
        begin, tick = time.monotonic(), 0
        while not self._end.wait(max(0.0, begin + tick * PERIOD - time.monotonic())):
            for wheel, master in enumerate(self._masters):
                with suppress(BlockingIOError):
                    os.write(master, self._line(wheel, tick + wheel * len(ROUND) // WHEELS))
            tick += 1

    def _line(self, wheel: int, tick: int) -> bytes:
        rounds, phase = divmod(tick, len(ROUND))
        spin, state = rounds + 1, ROUND[phase]
        if state == 5:
            self.played[wheel][spin] = number(wheel, spin)
        shown = number(wheel, spin if state == 5 else spin - 1)
        return b"*X;%d;%03d;%2d;0;150;%d\r\n" % (state, spin, shown, spin % 2)

    def close(self) -> None:
        self._end.set()
        self._thread.join()
        for link, master in zip(self.links, self._masters, strict=True):
            link.unlink()
            os.close(master)


def number(wheel: int, spin: int) -> int:
    """Where the ball falls. Two spins in a row never fall alike."""
    return (spin * 7 + wheel * 3) % 37


def wheel_table(id: str, link: Path) -> str:  # noqa: A002
    return f"""
[[table]]
id = "{id}"
game = "roulette-french"
decree = "ARA02"
[[table.device]]
id = "wheel"
driver = "cammegh-ss2"
link = "serial://{link}?baud=9600"
stale_after = 2.0
options = {{ period = {PERIOD} }}
"""


def shoe_table(id: str, protocol: str, link: Path) -> str:  # noqa: A002
    return f"""
[[table]]
id = "{id}"
game = "punto-banca"
decree = "GAL07"
simulated = true
speed = {SHOE_SPEED}
settings.table = "mini"
settings.rounds = "shoe"
settings.dealt = "face_up"
settings.third_card = "face_up"
settings.turn = "when_complete"
[[table.device]]
id = "shoe"
driver = "{protocol}"
link = "serial://{link}?baud=9600"
"""


@pytest.fixture
def wheels(tmp_path: Path) -> Iterator[Wheels]:
    made = Wheels(tmp_path)
    yield made
    made.close()


def test_a_daemon_that_was_stopped_reads_what_was_played(
    mosquitto: Mosquitto,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
    wheels: Wheels,
    tmp_path: Path,
    ending: ExitStack,
) -> None:
    tables = [f"r{wheel}" for wheel in range(WHEELS)]
    made = daemon(
        configuration(
            mosquitto.port,
            *(wheel_table(id, link) for id, link in zip(tables, wheels.links, strict=True)),
        )
    )
    heard = subscribe(mosquitto.port)
    made.start()
    made.until_logged("device up", WHEELS)
    for table in tables:
        assert command(heard, "session.open", f"novamas/v1/palma/{table}")["ok"]
    until("a result at each table", lambda: len(results(heard)) >= WHEELS, made.log)
    stopped = []
    for stop in STOPS:
        time.sleep(0.7)
        begin = time.monotonic()
        made.signal(signal.SIGSTOP)
        time.sleep(stop)
        made.signal(signal.SIGCONT)
        stopped.append((begin, time.monotonic()))
    known = len(results(heard))
    until("results afterwards", lambda: len(results(heard)) >= known + 2 * WHEELS, made.log)
    print("results", len(results(heard)), "unresolved", len(heard.events("round.unresolved")))
    for event in heard.events("round.unresolved"):
        print(event)
    for table, event in results(heard):
        assert event["outcome"]["number"] == number(int(table[1:]), event["spin"])


def results(heard: Subscriber) -> list[tuple[str, dict]]:
    return [(event["table"], event) for event in heard.events("round.result")]
