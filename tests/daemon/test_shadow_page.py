"""The page docs/technician/shadow.md: its bridge at two real brokers, and its format."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, time
from pathlib import Path

import pytest

from controller.shadow.list_format import parse_format
from controller.shadow.listed import read_list
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.waiting import until

PAGE = (Path(__file__).parents[2] / "docs" / "technician" / "shadow.md").read_text()


def block(language: str, number: int = 0) -> str:
    return str(re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)[number])


def bodies(subscriber: Subscriber, leaf: str) -> list[bytes]:
    return [
        message.payload
        for message in subscriber.messages
        if message.topic == f"studio/dice-1/{leaf}"
    ]


def test_the_format_of_the_page_reads_such_a_list() -> None:
    form = parse_format(block("toml", 1).encode(), "page.toml")
    data = "Export\r\n\r\nMesa;Fecha;Hora;Número\r\nRuleta 1;26/11/2026;21:14:05;07\r\n"
    [row] = read_list(
        data.encode("cp1252"), form, table="Ruleta 1", day=date(2026, 11, 26), day_begins=time(6)
    )
    assert (row.line, row.number) == (4, "7")


def test_the_bridge_of_the_page_brings_messages_in_and_none_out(
    mosquitto: Mosquitto,
    subscribe: Callable[..., Subscriber],
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    listener, _, bridge = block("conf").partition("\n\n")
    assert listener == "listener 1884 127.0.0.1\nallow_anonymous true"  # as each broker here has it
    settings = bridge.replace("192.0.2.8:1883", f"127.0.0.1:{mosquitto.port}").splitlines()
    own = Mosquitto(tmp_path / "own", "allow_anonymous true", *settings)
    own.start()
    request.addfinalizer(own.kill)
    here, there = subscribe(own.port, "studio/#"), subscribe(mosquitto.port, "studio/#")

    def arrived() -> bool:
        there.publish("studio/dice-1/result", b"3")
        return bool(bodies(here, "result"))

    until("a message came over the bridge", arrived)
    here.publish("studio/dice-1/command", b"shake")
    here.publish("studio/dice-1/result", b"6")
    until("it is at the own broker", lambda: b"6" in bodies(here, "result"))
    there.publish("studio/dice-1/result", b"4")
    until("the bridge is still there", lambda: b"4" in bodies(here, "result"))
    assert set(bodies(there, "result")) == {b"3", b"4"}
    assert not bodies(there, "command")
