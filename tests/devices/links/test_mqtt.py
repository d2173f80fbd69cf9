"""The link to a device behind a broker, against a broker that says what none should say."""

from __future__ import annotations

import gc
import socket
import struct
import threading
import warnings
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from devices.links import Link, LinkFailedError, mqtt, open_link
from devices.links.mqtt import (
    MAX_PAYLOAD_BYTES,
    MAX_QUEUED_MESSAGES,
    MAX_READ_BYTES,
    MAX_TOPIC_BYTES,
)
from tests.support.devices.parts import read_some
from tests.support.waiting import TIMEOUT_SECONDS

CONNECTED, SUBSCRIBE = b"\x20\x02\x00\x00", 0x82


class Broker:
    """A broker that accepts a subscription and then sends the given bytes."""

    def __init__(self) -> None:
        self.granted = b"\x01"
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"mqtt://127.0.0.1:{self._listener.getsockname()[1]}/dice"
        self._peer: socket.socket | None = None
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                self._peer, _ = self._listener.accept()
            except OSError:
                return
            with self._peer, self._peer.makefile("rb") as said:
                while head := said.read(2):
                    packet = said.read(head[1])
                    if head[0] == 0x10:
                        self.say(CONNECTED)
                    elif head[0] == SUBSCRIBE:
                        self.say(b"\x90\x03" + packet[:2] + self.granted)

    def say(self, data: bytes) -> None:
        assert self._peer is not None
        self._peer.sendall(data)

    def publish(self, topic: bytes, payload: bytes) -> None:
        rest, length = len(topic) + len(payload) + 2, bytearray()
        while True:
            rest, seven = divmod(rest, 128)
            length.append(seven | (0x80 if rest else 0))
            if not rest:
                break
        self.say(b"\x30" + bytes(length) + struct.pack(">H", len(topic)) + topic + payload)

    def close(self) -> None:
        self._listener.close()
        if self._peer is not None:
            self._peer.close()


@pytest.fixture
def broker() -> Iterator[Broker]:
    broker = Broker()
    yield broker
    broker.close()


@pytest.fixture
def link(broker: Broker) -> Iterator[Link]:
    link = open_link(broker.url)
    yield link
    link.close()


def test_a_topic_that_is_no_text_is_one_that_no_driver_knows(broker: Broker, link: Link) -> None:
    broker.publish(b"dice/\xff\xfe", b"S0")
    broker.publish(b"dice/says", b"S1")
    wanted = b"? 0 S0\nsays 0 S1\n"
    assert read_some(link, len(wanted)) == wanted


def test_a_topic_is_one_line(broker: Broker, link: Link) -> None:
    broker.publish(b"dice/x\nsays 0 S1\n", b"")
    broker.publish("dice/ä".encode(), b"")
    wanted = rb"x\nsays 0 S1\n 0 ", rb"\xc3\xa4 0 "
    assert read_some(link, sum(map(len, wanted)) + 2).splitlines() == [*wanted]


def test_an_endless_payload_is_cut(broker: Broker, link: Link) -> None:
    broker.publish(b"dice/says", b"x" * 10_000_000)
    broker.publish(b"dice/says", b"S0")
    wanted = b"says 0 " + b"x" * MAX_PAYLOAD_BYTES + b"\nsays 0 S0\n"
    assert read_some(link, len(wanted)) == wanted


def test_a_topic_that_is_too_long_is_one_that_no_driver_knows(broker: Broker, link: Link) -> None:
    broker.publish(b"dice/" + b"t" * MAX_TOPIC_BYTES, b"S0")
    broker.publish(b"dice/" + b"t" * (MAX_TOPIC_BYTES + 1), b"S1")
    broker.publish(b"dice/" + b"\xc3\xa4" * 32_000, b"S2")
    wanted = b"t" * MAX_TOPIC_BYTES + b" 0 S0\n? 0 S1\n? 0 S2\n"
    assert read_some(link, len(wanted)) == wanted


def test_a_flood_is_read_in_portions_and_nothing_of_it_is_lost(broker: Broker, link: Link) -> None:
    line = b"says 0 " + b"x" * MAX_PAYLOAD_BYTES + b"\n"
    for _ in range(MAX_QUEUED_MESSAGES // 2):
        broker.publish(b"dice/says", b"x" * MAX_PAYLOAD_BYTES)
    read = b""
    while len(read) < MAX_QUEUED_MESSAGES // 2 * len(line):
        portion = link.read(TIMEOUT_SECONDS)
        assert 0 < len(portion) <= MAX_READ_BYTES + len(line)
        read += portion
    assert read == line * (MAX_QUEUED_MESSAGES // 2)


def test_a_message_that_is_too_short_for_its_topic_is_passed_over(
    broker: Broker, link: Link
) -> None:
    broker.say(b"\x30\x01\x00")
    broker.publish(b"dice/says", b"hello")
    assert read_some(link, 1) == b"says 0 hello\n"


def test_what_is_no_mqtt_ends_the_link(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mqtt, "KEEPALIVE_SECONDS", 3600)  # the broker is not missed meanwhile
    with closing(open_link(broker.url)) as link:
        broker.say(b"\x00\x00")  # a packet of no kind that there is
        with pytest.raises(LinkFailedError, match="lost"):
            read_some(link, 1)


def test_a_broker_that_answers_nothing_is_lost(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mqtt, "KEEPALIVE_SECONDS", 1)
    link = open_link(broker.url)
    try:
        with pytest.raises(LinkFailedError, match="lost"):
            read_some(link, 1)
    finally:
        link.close()


def test_a_subscription_that_is_refused_is_reported(broker: Broker) -> None:
    broker.granted = b"\x80"
    with pytest.raises(LinkFailedError, match="refuse"):
        open_link(broker.url)


def test_links_that_end_leave_nothing_behind(broker: Broker) -> None:
    open_link(broker.url).close()
    with warnings.catch_warnings():  # of what other tests have left
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()  # the library closes its last sockets so
    threads, files = threading.active_count(), len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(200):
        open_link(broker.url).close()
    gc.collect()
    assert threading.active_count() <= threads
    assert len(list(Path("/proc/self/fd").iterdir())) <= files + 2
