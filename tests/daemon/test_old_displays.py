"""``novamas output``: the numbers of a daemon's tables at the port of an old display, which our own
driver of an SS2 reads in place of one.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from common.readings import WheelNumber
from devices.wheel.cammegh_ss2 import CammeghSS2, Options
from tests.daemon.test_saturn import PHASES, PLACES, saturn
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.daemon.play import TABLE, command, until_said, until_up
from tests.support.daemon.process import Daemon, Wheel, configuration, table
from tests.support.devices.cable import Cable
from tests.support.programs import running
from tests.support.waiting import TIMEOUT_SECONDS, until

Make = Callable[[str], Daemon]
Subscribe = Callable[..., Subscriber]
OUTPUT = (sys.executable, "-m", "controller.cli", "output")
DISPLAY = "novamas/v1/palma/display"


@pytest.fixture
def cable(programs: None, tmp_path: Path, ending: ExitStack) -> Cable:
    made = Cable(tmp_path)
    ending.callback(made.close)
    return made


def output(cable: Cable) -> str:
    return f'\n[[output]]\nport = "{cable.near}"\ntable = "r1"\n'


def numbers(subscriber: Subscriber, name: str) -> list[Any]:
    results = subscriber.events("round.result")
    return [each["outcome"]["number"] for each in results if each["table"] == name]


@pytest.mark.essential
def test_a_second_daemon_in_place_of_the_display_has_each_number_once(
    mosquitto: Mosquitto,
    daemon: Make,
    subscribe: Subscribe,
    wheel: Wheel,
    cable: Cable,
    tmp_path: Path,
    ending: ExitStack,
) -> None:
    house = daemon(configuration(mosquitto.port, table("r1", wheel), output(cable)))
    (tmp_path / "display").mkdir()
    driver = f"""
[[table]]
id = "display"
game = "roulette-french"
decree = "ARA02"

[[table.device]]
id = "wheel"
driver = "cammegh-ss2"
link = "serial://{cable.far}?baud=9600"
stale_after = 60
"""
    display = Daemon(
        tmp_path / "display",
        configuration(mosquitto.port, driver).replace('node = "pit-1"', 'node = "d"'),
    )
    ending.callback(display.kill)
    subscriber = subscribe(mosquitto.port)
    house.start()
    until_up(subscriber, house)
    program = ending.enter_context(running([*OUTPUT, str(house.file)]))
    display.start()
    until_up(subscriber, display, DISPLAY)
    for name in (TABLE, DISPLAY):
        assert command(subscriber, "session.open", name)["ok"]

    def until_sent(state: int) -> None:
        """Wait until the display has this state, as two lines that agree."""
        sent = len(cable.carried)

        def twice() -> bool:
            return cable.carried[sent:].count(b"*X;%d;" % state) >= 2

        until(f"state {state}", twice, lambda: f"{cable.carried[-200:]!r}\n{house.log()}")

    def play(spin: int, number: int, before: str, count: int) -> None:
        for state in (2, 3, 4):
            wheel.show(state, spin, before, direction=spin % 2)
            until_sent(state)
        wheel.show(5, spin, str(number), direction=spin % 2)
        until("the number", lambda: len(numbers(subscriber, "display")) == count, display.log)

    play(7, 17, "", 1)
    play(8, 17, "17", 2)
    # a correction is no spin, and a restart announces nothing
    until_said(subscriber, "round.result", 4)
    assert command(subscriber, "result.correct", round=2, number=16)["ok"]
    until_sent(1)
    assert cable.carried.splitlines()[-1].startswith(b"*X;1;001;  ;0;")
    program.kill()
    program.wait(TIMEOUT_SECONDS)
    again = ending.enter_context(running([*OUTPUT, str(house.file)]))
    until_sent(1)
    play(9, 0, "16", 3)
    assert numbers(subscriber, "display") == numbers(subscriber, "r1") == [17, 17, 0]
    again.terminate()
    assert again.wait(TIMEOUT_SECONDS) == 0
    until("its last lines", lambda: cable.carried.endswith(2 * b"*X;6;001;  ;0;000;0\r\n"))


def test_an_output_of_a_saturn_gives_its_numbers(
    mosquitto: Mosquitto,
    daemon: Make,
    subscribe: Subscribe,
    cable: Cable,
    tmp_path: Path,
    ending: ExitStack,
) -> None:
    saturn(tmp_path / "wheel", ending, speed=4)
    polled = f"""
[[table]]
id = "r1"
game = "roulette-french"
decree = "ARA02"

[[table.device]]
id = "wheel"
driver = "saturn"
link = "serial://{tmp_path / "wheel"}?baud=9600"
options = {{ poll = 0.1, fields = {{ {PLACES}, phases = {{ {PHASES} }} }} }}
"""
    house = daemon(configuration(mosquitto.port, polled, output(cable)))
    subscriber = subscribe(mosquitto.port)
    house.start()
    until_up(subscriber, house)
    ending.enter_context(running([*OUTPUT, str(house.file)]))
    until("it sends", lambda: cable.carried)
    driver, read, found = CammeghSS2("wheel", Options(period=60.0)), 0, list[Any]()

    def displayed() -> int:
        nonlocal read
        data, read = cable.carried[read:], len(cable.carried)
        for reading in driver.feed(data, time.monotonic()) if data else ():
            found.extend([reading.number] if isinstance(reading, WheelNumber) else [])
        return len(found)

    assert command(subscriber, "session.open")["ok"]
    until("two numbers", lambda: displayed() >= 2, house.log)
    # the first may have come before the output was subscribed; all are different
    assert [number for number in numbers(subscriber, "r1") if number in found] == found
