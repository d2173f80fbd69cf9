"""A dice shaker behind a separate broker: link, driver and daemon against a real Mosquitto."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pytest

from devices.links import LinkFailedError, check_link, open_link
from tests.support.brokers.mosquitto import Mosquitto, Subscriber, free_port
from tests.support.daemon.play import command
from tests.support.daemon.process import Daemon, configuration
from tests.support.programs import running
from tests.support.waiting import until

BASE = "studio/dice-1"
TABLE = "novamas/v1/palma/c1"


@pytest.fixture
def shaker(mosquitto: Mosquitto, ending: ExitStack) -> str:
    """The simulator as a program; its address."""
    words = [
        "dice",
        "--protocol",
        "sicbo-shaker",
        "--mqtt",
        f"127.0.0.1:{mosquitto.port}/{BASE}",
        "--speed",
        "10",
    ]
    command = [sys.executable, "-m", "simulators", *words]
    program = ending.enter_context(running(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
    assert program.stdout is not None
    address: str = json.loads(program.stdout.readline())["port"]
    return address


def test_the_link_delivers_messages_and_publishes_commands(shaker: str) -> None:
    link = open_link(shaker)
    received: list[bytes] = []

    def shaken() -> bool:
        received.extend(link.read(0.1).splitlines())
        return b"says 0 S1" in received and received[-1] == b"says 0 S0"

    link.write(b"listens /state\n")
    link.write(b"listens /cycle/?duration=6\n")
    until("a shake", shaken, lambda: str(received))
    link.close()
    assert received.index(b"says 0 S2") < received.index(b"says 0 S1")
    assert b"listens 0 /state" in received


def test_a_broker_that_is_not_there() -> None:
    with pytest.raises(LinkFailedError, match="cannot connect"):
        open_link(f"mqtt://127.0.0.1:{free_port()}/{BASE}")


def test_a_broker_that_goes_ends_the_link(mosquitto: Mosquitto) -> None:
    link = open_link(f"mqtt://127.0.0.1:{mosquitto.port}/{BASE}")
    mosquitto.kill()
    with pytest.raises(LinkFailedError, match="was lost"):
        until("the link ends", lambda: link.read(0.1))
    link.close()


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("mqtt://127.0.0.1/a", "a host and a port"),
        ("mqtt://127.0.0.1:1883", "give the topic"),
        ("mqtt://127.0.0.1:1883/a/+", "without \\+ and #"),
        ("mqtt://127.0.0.1:1883/a?password_file=x", "password_file needs username"),
        ("mqtt://127.0.0.1:1883/a?qos=2", "unknown option 'qos'"),
    ],
)
def test_an_address_that_cannot_be_right(url: str, says: str) -> None:
    with pytest.raises(LinkFailedError, match=says):
        open_link(url)
    assert check_link(url) is not None


def test_a_shaker_at_a_table_of_craps(
    mosquitto: Mosquitto,
    shaker: str,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
) -> None:
    subscriber = subscribe(mosquitto.port)
    made = daemon(
        configuration(
            mosquitto.port,
            f"""
[[table]]
id = "c1"
game = "craps"
decree = "ARA02"

[[table.device]]
id = "dice"
driver = "sicbo-shaker"
link = "{shaker}"
commands = true
options = {{ poll = 0.2 }}
""",
        )
    )
    made.start()

    def state() -> Any:
        return (
            (subscriber.latest(f"{TABLE}/state") or {})
            .get("devices", {})
            .get("dice", {})
            .get("state")
        )

    until("the shaker is up", lambda: state() == "up", made.log)
    until(
        "it may be shaken",
        lambda: command(subscriber, "device.command", TABLE, command="shake", device="dice")["ok"],
        made.log,
    )
    assert made.stop() == 0
