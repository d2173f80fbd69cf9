"""The daemon is not scheduled for a while, at every phase of a round. Bytes that arrived while the
daemon was stopped are read late: they give exactly the results that the devices showed.

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
from typing import Any

import pytest

from devices.pace import SILENCE_PERIODS
from tests.daemon.test_shoes import BURN, COUPS, WINNERS, Shoe
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.daemon.play import command, until_open, until_up
from tests.support.daemon.process import Daemon, configuration
from tests.support.waiting import until

PERIOD = 0.1
"""Seconds between two lines of a wheel."""
ROUND = (*[2] * 10, *[3] * 8, *[4] * 4, *[5] * 10)
"""The state of each line."""
WHEELS = 8
ROOT = "novamas/v1/palma"
SHOES = "novamas-sim/v1/palma"
STOPS = (0.1, 0.3, 1.0, 2.5, 3.5)
"""Seconds. A stop longer than five seconds is treated as a silent wire."""
BETWEEN = 0.7
SPEED = 4
COUP_STOPS = (0.15, 0.3, 0.6, 0.9, 0.9)
"""Seconds, in which a shoe deals four times as fast."""
PAUSE = 0.1
"""Seconds in which a shoe draws no two cards."""


class Wheels:
    """Wheels that play on their own, whether anybody reads them or not."""

    def __init__(self, folder: Path) -> None:
        self.links = [folder / f"wheel{number}" for number in range(WHEELS)]
        self.played: list[dict[int, int]] = [{} for _ in self.links]
        self.longest_pause = 0.0
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
        begin, tick, last = time.monotonic(), 0, time.monotonic()
        while not self._end.wait(max(0.0, begin + tick * PERIOD - time.monotonic())):
            self.longest_pause = max(self.longest_pause, time.monotonic() - last)
            last = time.monotonic()
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


class Pauses:
    """How long the machine keeps a program waiting that wants to run each hundredth of a second."""

    def __init__(self) -> None:
        self.longest = 0.0
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def _look(self) -> None:
        last = time.monotonic()
        while not self._end.wait(0.01):
            last, before = time.monotonic(), last
            self.longest = max(self.longest, last - before)

    def close(self) -> None:
        self._end.set()
        self._thread.join()


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


def shoe_table(protocol: str, link: Path) -> str:
    return f"""
[[table]]
id = "{protocol}"
game = "punto-banca"
decree = "GAL07"
simulated = true
speed = {SPEED}
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


def stop(made: Daemon, seconds: float) -> None:
    """Keep the daemon from being scheduled."""
    made.signal(signal.SIGSTOP)
    time.sleep(seconds)
    made.signal(signal.SIGCONT)


def test_wheels_give_what_they_showed(
    mosquitto: Mosquitto,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
    wheels: Wheels,
) -> None:
    tables = [f"r{wheel}" for wheel in range(WHEELS)]
    made = daemon(configuration(mosquitto.port, *map(wheel_table, tables, wheels.links)))
    subscriber = subscribe(mosquitto.port)
    made.start()
    for table in tables:
        until_up(subscriber, made, f"{ROOT}/{table}")
        assert command(subscriber, "session.open", f"{ROOT}/{table}")["ok"]

    def results() -> dict[str, list[dict[str, Any]]]:
        found: dict[str, list[dict[str, Any]]] = {table: [] for table in tables}
        for event in subscriber.events("round.result"):
            found[event["table"]].append(event)
        return found

    def more(known: dict[str, list[dict[str, Any]]], count: int) -> bool:
        return all(len(given) >= len(known[table]) + count for table, given in results().items())

    until("a result at each table", lambda: all(results().values()), made.log)
    joined = len(
        subscriber.events("round.unresolved")
    )  # a spin that we did not see from its beginning
    for seconds in STOPS:
        time.sleep(BETWEEN)
        stop(made, seconds)
    known = results()
    until("a result of a spin that began afterwards", lambda: more(known, 2), made.log)
    given, unresolved = results(), subscriber.events("round.unresolved")[joined:]
    for wheel, table in enumerate(tables):
        spins = [event["spin"] for event in given[table]]
        assert [event["outcome"]["number"] for event in given[table]] == [
            number(wheel, spin) for spin in spins
        ]
        assert len(set(spins)) == len(spins)
    if wheels.longest_pause < SILENCE_PERIODS * PERIOD:  # else the machine held back the wheels too
        assert unresolved == []
        for table in tables:
            spins = [event["spin"] for event in given[table]]
            assert spins == list(range(spins[0], spins[0] + len(spins)))


def test_coups_are_those_that_were_dealt(
    mosquitto: Mosquitto,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
    tmp_path: Path,
    ending: ExitStack,
) -> None:
    """Two shoes deal while the daemon is stopped in the middle of each coup."""
    pauses = Pauses()
    ending.callback(pauses.close)
    protocols = "angel-eye", "bee-tek"
    words = "--speed", str(SPEED), "--cards", ",".join((BURN, *COUPS * 3))
    shoes = {protocol: Shoe(tmp_path / protocol, protocol, *words) for protocol in protocols}
    for shoe in shoes.values():
        ending.callback(shoe.close)
    made = daemon(
        configuration(mosquitto.port, *(shoe_table(each, tmp_path / each) for each in protocols))
    )
    subscriber = subscribe(mosquitto.port)
    made.start()
    for protocol, shoe in shoes.items():
        until_open(subscriber, made, protocol, "shoe")
        assert command(subscriber, "session.open", f"{SHOES}/{protocol}")["ok"]
        assert command(subscriber, "shoe.start", f"{SHOES}/{protocol}", shoe="S1")["ok"]
        shoe.start()

    def dealt() -> int:
        return sum(event["to"] in ("player", "banker") for event in subscriber.events("card.dealt"))

    def ended() -> int:
        return len(subscriber.events("round.result")) + len(subscriber.events("round.unresolved"))

    for seconds in COUP_STOPS:
        known = dealt()
        until("a card of a coup", lambda: dealt() > known, made.log)  # noqa: B023
        stop(made, seconds)
    until("the coups are over", lambda: ended() >= 6, made.log)
    for event in subscriber.events("round.result"):
        assert event["outcome"]["winner"] == WINNERS[(event["round"] - 1) % 3]
    if pauses.longest < PAUSE:  # else the machine held back the shoes too
        assert subscriber.events("round.unresolved") == []
