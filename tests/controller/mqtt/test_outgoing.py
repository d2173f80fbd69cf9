"""PUBLISH packets and the window: the packets are those of the MQTT library, byte for byte."""

from __future__ import annotations

from collections.abc import Callable

import paho.mqtt.client as paho
import pytest
from hypothesis import given
from hypothesis import strategies as st
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from controller.mqtt.outgoing import (
    FIRST_DIRECT_ID,
    FIRST_ID,
    LAST_DIRECT_ID,
    LAST_ID,
    OutgoingMessage,
    PublishWindow,
    publish_packet,
)

TOPICS = st.text(
    st.characters(blacklist_characters="+#\0", blacklist_categories=["Cs"]),
    min_size=1,
    max_size=80,
)


class Library(paho.Client):
    """The library's client, of which only the packet that it would send is used."""

    def __init__(self, *, v5: bool) -> None:
        super().__init__(CallbackAPIVersion.VERSION2, protocol=paho.MQTTv5 if v5 else paho.MQTTv311)
        self._sock = object()  # type: ignore[assignment]
        self.packet = b""

    def _packet_queue(self, _command: int, packet: bytes, *_: object) -> MQTTErrorCode:  # type: ignore[override]
        self.packet = bytes(packet)
        return paho.MQTT_ERR_SUCCESS

    def __del__(self) -> None:
        self._sock = None


def properties(message: OutgoingMessage) -> Properties | None:
    if not message.payload:
        return None
    found = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]
    found.PayloadFormatIndicator = 1
    found.ContentType = "application/json"
    if message.answers is not None:
        found.CorrelationData = message.answers
    return found


@given(
    topic=TOPICS,
    payload=st.one_of(st.binary(max_size=300), st.integers(0, 70_000).map(bytes)),
    retain=st.booleans(),
    answers=st.none() | st.binary(max_size=40),
    packet_id=st.integers(FIRST_ID, LAST_ID),
    v5=st.booleans(),
)
def test_a_packet_is_the_library_s(
    topic: str, payload: bytes, retain: bool, answers: bytes | None, packet_id: int, v5: bool
) -> None:
    message = OutgoingMessage(topic, payload, retain, answers)
    library = Library(v5=v5)
    library._send_publish(
        packet_id,
        topic.encode(),
        payload,
        1,
        retain,
        properties=properties(message) if v5 else None,
    )
    assert publish_packet(message, packet_id, v5=v5) == library.packet


def note(heard: list[tuple[str, str | None]], name: str) -> Callable[[str | None], None]:
    return lambda refusal: heard.append((name, refusal))


def test_messages_in_flight_are_limited_to_the_brokers_receive_maximum() -> None:
    written: list[bytes] = []
    outgoing = PublishWindow(written.append)
    outgoing.limit = 2
    heard: list[tuple[str, str | None]] = []
    for name in "abc":
        outgoing.post(OutgoingMessage(name, b"{}"), note(heard, name))
    outgoing.flush()
    assert (len(written), written[0].count(b"{}"), outgoing.pending) == (1, 2, 3)
    outgoing.acknowledge(FIRST_ID, 0x10)  # no matching subscribers
    outgoing.flush()
    outgoing.acknowledge(FIRST_ID + 1, 0x87)
    outgoing.acknowledge(FIRST_ID + 1, 0)  # twice
    outgoing.acknowledge(7, 0)  # of a message of another client
    assert heard == [("a", None), ("b", "Not authorized")]
    assert (len(written), outgoing.pending) == (2, 1)
    outgoing.forget()
    assert (outgoing.pending, outgoing.oldest) == (0, None)


@pytest.mark.parametrize("topic", ["", "a/+", "#", "a" * 65_536, "\ud800"])
def test_an_invalid_topic_is_refused_and_the_others_are_sent(topic: str) -> None:
    written: list[bytes] = []
    outgoing = PublishWindow(written.append)
    heard: list[tuple[str, str | None]] = []
    outgoing.post(OutgoingMessage(topic, b"{}"), note(heard, "bad"))
    outgoing.post(OutgoingMessage("t", b"{}"), note(heard, "good"))
    outgoing.flush()
    [(name, refusal)] = heard
    assert name == "bad"
    assert "no MQTT topic" in (refusal or "")
    assert len(written) == 1


def test_a_packet_larger_than_the_broker_accepts_is_refused() -> None:
    outgoing = PublishWindow(lambda _: None)
    outgoing.largest = 1000
    heard: list[tuple[str, str | None]] = []
    outgoing.post(OutgoingMessage("t", bytes(2000)), note(heard, "large"))
    assert heard == [("large", "larger than the 1000 bytes that the broker accepts")]


def test_packet_identifiers_wrap_around() -> None:
    written: list[bytes] = []
    outgoing = PublishWindow(written.append)
    for number in range(LAST_ID - FIRST_ID + 2):
        outgoing.post(OutgoingMessage("t", b""), lambda _: None)
        outgoing.flush()
        outgoing.acknowledge(FIRST_ID + number % (LAST_ID - FIRST_ID + 1), 0)
    assert outgoing.pending == 0
    assert written[0] == written[-1]


@pytest.mark.parametrize(
    ("reason", "name"),
    [
        (0x00, None),
        (0x10, None),
        (0x87, "Not authorized"),
        (0x95, "Packet too large"),  # Mosquitto, though MQTT does not allow it in PUBACK
        (0xFE, "reason code 0xfe"),
    ],
)
def test_any_reason_of_a_broker_is_a_refusal_in_words(reason: int, name: str | None) -> None:
    answers: list[str | None] = []
    window = PublishWindow(lambda _packets: None)
    window.v5 = True
    window.post(OutgoingMessage("topic", b"1"), answers.append)
    window.flush()
    window.acknowledge(FIRST_ID, reason)
    assert answers == [name]


def test_an_acknowledgement_may_come_before_the_message_is_adopted() -> None:
    window = PublishWindow(lambda _: None)
    window.limit = 8
    heard: list[tuple[str, str | None]] = []
    first, second = window.direct_packets([OutgoingMessage("a", b"1"), OutgoingMessage("b", b"2")])
    window.acknowledge(first, 0x87)
    assert (heard, window.pending) == ([], 2)
    window.adopt(first, note(heard, "a"))
    window.adopt(second, note(heard, "b"))
    assert heard == [("a", "Not authorized")]
    window.acknowledge(second, 0)
    assert (heard[1:], window.pending) == ([("b", None)], 0)


def test_direct_messages_and_others_together_keep_the_brokers_receive_maximum() -> None:
    written: list[bytes] = []
    window = PublishWindow(written.append)
    window.limit = 8
    assert window.reserve(4)
    for _ in range(8):
        window.post(OutgoingMessage("t", b"{}"), lambda _: None)
    window.flush()
    assert written[0].count(b"{}") == 4
    for packet_id in window.direct_packets([OutgoingMessage("t", b"{}")] * 4):
        window.adopt(packet_id, lambda _: None)
    window.flush()
    assert len(written) == 1
    assert not window.reserve(4)
    window.acknowledge(FIRST_ID, 0)
    window.flush()
    assert written[1].count(b"{}") == 1


def test_no_room_is_reserved_if_that_leaves_too_little_for_others() -> None:
    window = PublishWindow(lambda _: None)
    window.limit = 7
    assert not window.reserve(4)
    window.limit = 8
    assert window.reserve(4)
    window.post(OutgoingMessage("t", b""), lambda _: None)
    assert not window.reserve(4), "a message waits, which is before any other"


def test_direct_messages_that_cannot_be_sent_leave_nothing_behind() -> None:
    window = PublishWindow(lambda _: None)
    assert window.direct_packets([OutgoingMessage("t", b""), OutgoingMessage("a/+", b"")]) == {}
    window.unsent(window.direct_packets([OutgoingMessage("t", b"")]))
    assert window.pending == 0


def test_direct_packet_identifiers_wrap_around_and_are_none_of_the_others() -> None:
    window = PublishWindow(lambda _: None)
    used = set[int]()
    for _ in range(LAST_DIRECT_ID - FIRST_DIRECT_ID + 2):
        used |= window.direct_packets([OutgoingMessage("t", b"")]).keys()
    assert (min(used), max(used)) == (FIRST_DIRECT_ID, LAST_DIRECT_ID)
    assert LAST_ID < FIRST_DIRECT_ID
