"""Messages that mean no good, through a real broker: the daemon answers what it can, and goes on as if nothing had come."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from tests.daemon.mosquitto import Mosquitto, Subscriber
from tests.daemon.play import TABLE, command, until_up
from tests.daemon.process import Daemon, Wheel, configuration, table

BODIES = {
    "deep": b'{"id":' + b"[" * 8000 + b"]" * 8000 + b"}",
    "deeper": b'{"a":' * 3000,
    "id": b'{"id":' + b"[" * 700 + b"]" * 700 + b',"client":"desk-1"}',
    "large": b" " * 200_000,
    "fields": b'{"by":"x","role":"inspector",' + b",".join(b'"f%d":0' % n for n in range(1300)) + b"}",
    "number": b'{"by":"x","role":"inspector","minimum":' + b"9" * 9000 + b"}",
    "surrogate": b'{"by":"\\ud800","role":"inspector"}',
    "bytes": b'{"by":"\xff\xfe","role":"inspector"}',
    "nan": b'{"by":"x","role":"inspector","minimum":NaN}',
    "nothing": b"\0",
}
TOPICS = ("$SYS/broker/clients", f"{TABLE}/state", "/", "a" * 60_000)
"""Where an answer is wanted. What is no text, a broker refuses itself."""


@pytest.fixture
def heard(
    mosquitto: Mosquitto, wheel: Wheel, daemon: Callable[[str], Daemon], subscribe: Callable[..., Subscriber]
) -> tuple[Subscriber, Daemon]:
    made = daemon(configuration(mosquitto.port, table("r1", wheel)))
    made.start()
    made.until_logged("broker connected")
    listening = subscribe(mosquitto.port)
    until_up(listening, made)
    return listening, made


def say(subscriber: Subscriber, name: str, body: bytes, answer: str | None = None, *, retain: bool = False) -> None:
    properties: Any = None
    if answer is not None:
        properties = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]
        properties.ResponseTopic = answer
    subscriber.say(f"{TABLE}/command/{name}", body, retain=retain, properties=properties)


@pytest.mark.parametrize("name", ["session.open", "recall", "device.power_on", "x" * 5000])
def test_no_body_is_too_much(heard: tuple[Subscriber, Daemon], name: str) -> None:
    subscriber, running = heard
    for body in BODIES.values():
        say(subscriber, name, body)
    assert command(subscriber, "session.open")["ok"]
    assert running.log().count("daemon up") == 1
    assert running.log().count("broker connected") == 1


def test_a_retained_one_does_not_keep_it_from_starting(heard: tuple[Subscriber, Daemon]) -> None:
    subscriber, running = heard
    say(subscriber, "session.open", BODIES["deep"], retain=True)
    assert running.stop() == 0
    running.start()
    until_up(subscriber, running)
    assert command(subscriber, "session.open")["ok"]


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: ascii(topic[:30]))
def test_no_topic_for_an_answer_is_too_much(heard: tuple[Subscriber, Daemon], topic: str) -> None:
    subscriber, running = heard
    say(subscriber, "session.close", b"{}", topic)
    assert command(subscriber, "session.open")["ok"]
    assert running.log().count("broker connected") == 1
