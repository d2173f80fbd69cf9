"""The program of the lights with real parts: a broker, UDP receivers, a port of RFC 2217."""

from __future__ import annotations

import json
import signal
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec
import pytest

from common import clock
from common.contract.times import format_utc
from common.contract.topics import Topics
from tests.subscribers.lights.receivers import Multicast, Receiver
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.devices.parts import Rfc2217Peer
from tests.support.jackpot import award, statement
from tests.support.programs import running
from tests.support.waiting import TIMEOUT_SECONDS, until

SITE = "casino-mayor"
REST, HIT = {1: 40}, {1: 255, 512: 7}


class Teller:
    """A controller of the jackpot ``gran``, by hand."""

    def __init__(self, broker: Mosquitto) -> None:
        self._subscriber = Subscriber(broker.port)
        self.close = self._subscriber.close
        self._topic = Topics(SITE).table("jackpot/gran", "state")
        self._hits = 0

    def say(self, **fields: Any) -> None:
        state = msgspec.to_builtins(statement(seconds=3600, **fields))
        self._subscriber.publish(self._topic, state, retain=True)

    def hit(self) -> None:
        """Another hit. One that comes with the first statement of a connection is an old one."""
        self._hits += 1
        self._say_hit("payable")

    def dispute(self) -> None:
        self._say_hit("disputed")

    def _say_hit(self, status: str) -> None:
        won = award(self._hits, time=format_utc(clock.wall()), status=status)
        self.say(won=won, last=(won,))


@pytest.fixture
def mosquitto(programs: None, tmp_path: Path, ending: ExitStack) -> Mosquitto:
    broker = Mosquitto(tmp_path / "mosquitto")
    ending.callback(broker.kill)
    broker.start()
    return broker


@pytest.fixture
def teller(mosquitto: Mosquitto, ending: ExitStack) -> Teller:
    made = Teller(mosquitto)
    ending.callback(made.close)
    return made


def start(broker: Mosquitto, ending: ExitStack, *lights: dict[str, Any]) -> Any:
    settings = {
        "site": SITE,
        "broker": {"url": f"mqtt://127.0.0.1:{broker.port}"},
        "lights": lights,
    }
    words = [sys.executable, "-m", "subscribers.lights", "--settings", json.dumps(settings)]
    return ending.enter_context(running(words))


def scene(**fields: Any) -> dict[str, Any]:
    return {"seconds": 3600, "jackpot": "gran", **fields}


@pytest.mark.essential
@pytest.mark.parametrize("protocol", ["sacn", "artnet"])
def test_a_hit_at_a_real_receiver(
    protocol: str, mosquitto: Mosquitto, teller: Teller, ending: ExitStack
) -> None:
    receiver = Receiver(protocol)
    ending.callback(receiver.close)
    light = {
        "id": "bar",
        "protocol": protocol,
        "address": receiver.address,
        "universe": 7,
        "priority": 120,
        "rest": REST,
        "scene": [scene(channels=HIT)],
    }
    teller.hit()  # retained before the program starts
    program = start(mosquitto, ending, light)
    receiver.until_shows(REST)
    shown = {each.values[0] for each in receiver.received}
    assert shown <= {0, 40}, "dark, then at rest: no old hit"
    until("three of a change, then it is repeated", lambda: len(receiver.receive()) > 8)
    receiver.until_shows(HIT, meanwhile=teller.hit)
    teller.dispute()
    receiver.until_shows(REST)
    receiver.until_shows(HIT, meanwhile=teller.hit)
    mosquitto.kill()
    receiver.until_shows({})
    mosquitto.start()
    receiver.until_shows(REST)
    program.send_signal(signal.SIGTERM)
    assert program.wait(TIMEOUT_SECONDS) == 0
    receiver.until_shows({}, ended=protocol == "sacn")
    numbers = [each.sequence for each in receiver.received]
    first, count = (0, 256) if protocol == "sacn" else (1, 255)
    assert numbers == [first + n % count for n in range(len(numbers))]
    assert {each.universe for each in receiver.received} == {7}
    if protocol == "sacn":
        assert {each.priority for each in receiver.received} == {120}
        assert {each.name for each in receiver.received} == {f"Novamás {SITE} bar"}
        assert len({each.component for each in receiver.received}) == 1
        until(
            "three packets end it",
            lambda: [one.ended for one in receiver.receive()].count(True) == 3,
        )


def test_sacn_by_multicast_from_a_chosen_interface(
    mosquitto: Mosquitto, teller: Teller, ending: ExitStack
) -> None:
    receiver = Multicast()
    ending.callback(receiver.close)
    light = {
        "id": "bar",
        "protocol": "sacn",
        "interface": "127.0.0.1",
        "universe": receiver.universe,
        "rest": REST,
        "scene": [scene(channels=HIT)],
    }
    teller.say()
    start(mosquitto, ending, light)
    receiver.until_shows(REST)
    assert {each.universe for each in receiver.received} == {receiver.universe}


@pytest.mark.parametrize("line", ["rts", "dtr"])
def test_a_relay_at_a_device_server(
    line: str, mosquitto: Mosquitto, teller: Teller, ending: ExitStack
) -> None:
    server = Rfc2217Peer()
    ending.callback(server.close)
    relay = {
        "id": "siren", "protocol": "relay", "address": server.url, "line": line, "scene": [scene()]
    }  # fmt: skip
    other = "dtr" if line == "rts" else "rts"

    def on(name: str) -> bool:
        return bool(getattr(server.behind, name))

    teller.say()
    program = start(mosquitto, ending, relay)
    until("the port is open and off", lambda: not on(line) and not on(other))

    def on_after_a_hit() -> bool:
        teller.hit()
        return on(line)

    until("the relay is on", on_after_a_hit)
    assert not on(other)
    teller.say()
    until("the hit is withdrawn", lambda: not on(line))
    program.send_signal(signal.SIGTERM)
    assert program.wait(TIMEOUT_SECONDS) == 0
    until("it is off", lambda: not on(line) and not on(other))
