"""Another client writes to the daemon's own retained topics, by mistake or not: the daemon restores
them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from controller.mqtt.connection import IncomingMessage
from controller.mqtt.outgoing import OutgoingMessage
from controller.mqtt.own_topics import MAX_CORRECTED_TOPICS, MAX_ECHOES, OwnTopics
from tests.support.brokers.mosquitto import Mosquitto, ReceivedMessage, Subscriber
from tests.support.daemon.play import NODE, TABLE, command, until_up
from tests.support.daemon.process import Daemon, Wheel, configuration, table
from tests.support.waiting import until

FORGED = {
    f"{NODE}/status": b'{"status":"offline","boot":"x"}',
    f"{NODE}/checkpoint": b"{}",
    f"{TABLE}/state": b'{"status":"open"}',
    f"{TABLE}/result": b'{"type":"round.result","number":17}',
    f"{TABLE}/history": b"\0",
    f"{TABLE}/info": b"",
    f"{TABLE}/alert/fire": b'{"alert":"fire"}',
}


def since(subscriber: Subscriber, topic: str, known: int) -> list[ReceivedMessage]:
    return subscriber.on(topic)[known:]


def after(subscriber: Subscriber, topic: str, forged: bytes) -> list[ReceivedMessage]:
    """The messages on a topic after the forged one."""
    said = subscriber.on(topic)
    last = max((at for at, each in enumerate(said) if each.payload == forged), default=len(said))
    return said[last + 1 :]


@pytest.mark.parametrize(("protocol", "retain"), [("5", True), ("5", False), ("3.1.1", True)])
def test_the_true_message_is_republished(
    mosquitto: Mosquitto,
    wheel: Wheel,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
    protocol: str,
    retain: bool,
) -> None:
    running = daemon(
        configuration(mosquitto.port, table("r1", wheel), broker=f'protocol = "{protocol}"')
    )
    running.start()
    subscriber = subscribe(mosquitto.port)
    until_up(subscriber, running)
    assert command(subscriber, "session.open")["ok"]
    assert running.logged("another client publishes on this daemon's topics") == []
    for topic, body in FORGED.items():
        subscriber.publish(topic, body, retain=retain)
    for topic, body in FORGED.items():
        until(f"{topic} is put right", partial(after, subscriber, topic, body), running.log)
    running.until_logged("another client publishes on this daemon's topics")
    assert len(running.logged("another client publishes on this daemon's topics")) == 1
    until("an alert", lambda: subscriber.latest(f"{TABLE}/alert/broker-topics"), running.log)
    later = subscribe(mosquitto.port)
    later.catch_up()
    assert later.latest("/info")
    assert later.latest("/history")
    assert later.latest("/status") == {"status": "online", "boot": running.boot()}
    assert later.latest(f"{TABLE}/state")["shown"]["session"] == 1
    assert later.latest(f"{TABLE}/result") is None
    assert later.on("alert/fire") == []
    assert running.log().count("broker connected") == 1


@pytest.mark.parametrize("protocol", ["5", "3.1.1"])
def test_without_a_forger_nothing_is_corrected(
    mosquitto: Mosquitto,
    wheel: Wheel,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
    protocol: str,
) -> None:
    """Not even the daemon itself, before and after a restart."""
    running = daemon(
        configuration(mosquitto.port, table("r1", wheel), broker=f'protocol = "{protocol}"')
    )
    for _ in range(2):
        running.start()
        subscriber = subscribe(mosquitto.port)
        until_up(subscriber, running)
        for _ in range(5):
            assert command(subscriber, "session.open")["ok"]
            assert command(subscriber, "session.close")["ok"]
        known = len(subscriber.on("/health"))
        wheel.unplug()
        until("health is told", partial(since, subscriber, "/health", known), running.log)
        assert subscriber.latest("/health")["broker"]["foreign"] == 0
        wheel.plug()
        assert running.stop() == 0


TRUTH: dict[str, bytes | None] = {"state": b"1", "alert/a": None}


def heard_on(topics: OwnTopics, topic: str, body: bytes) -> bool:
    return topics.is_foreign(IncomingMessage(topic, body, retain=False), TRUTH)


def test_two_that_correct_each_other_do_so_once_a_second() -> None:
    topics = OwnTopics()
    assert heard_on(topics, "state", b"2")
    assert (topics.wait(5.0), topics.due_topics(5.0)) == (0.0, {"state"})
    assert heard_on(topics, "state", b"2")
    assert (topics.wait(5.25), topics.due_topics(5.25)) == (0.75, set())
    assert topics.due_topics(6.0) == {"state"}
    assert topics.due_topics(7.0) == set()
    assert topics.foreign == 2


def test_what_the_broker_sends_back_is_ours() -> None:
    topics = OwnTopics()
    topics.remember(
        [OutgoingMessage("state", b"0", retain=True), OutgoingMessage("state", b"1", retain=True)]
    )
    assert not heard_on(topics, "state", b"0"), "though it has changed since"
    assert heard_on(topics, "state", b"0"), "a second time it is not"
    assert not heard_on(topics, "state", b"1")


def test_a_flood_does_not_fill_the_memory() -> None:
    topics = OwnTopics()
    for number in range(3 * MAX_CORRECTED_TOPICS):
        heard_on(topics, f"alert/{number}", b"x")
        topics.remember([OutgoingMessage("state", b"%d" % number, retain=True)])
    assert len(topics.due_topics(1.0)) == MAX_CORRECTED_TOPICS
    assert len(topics._echoes._pending["state"]) == MAX_ECHOES
