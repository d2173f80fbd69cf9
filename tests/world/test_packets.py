"""Packets: what is encoded parses again, however it is cut, and junk is an error and no crash."""

from __future__ import annotations

from contextlib import suppress
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import cases
from tests.world.broker import packets
from tests.world.broker.packets import (
    MAX_LENGTH,
    NONE,
    PROPERTIES,
    V5,
    V311,
    Acknowledgement,
    Auth,
    Connack,
    Connect,
    Disconnect,
    InvalidPacketError,
    Kind,
    Packet,
    Ping,
    Properties,
    Publish,
    Subscribe,
    SubscribeReply,
    Subscription,
    Unsubscribe,
    Will,
    encode,
    parse,
    split,
)

STRINGS = st.text(st.characters(exclude_categories=["C"]), max_size=20)
BYTES = st.binary(max_size=20)
PACKET_IDS = st.integers(1, 0xFFFF)
REASONS, QOS, FLAGS = st.integers(0, 0xFF), st.integers(0, 2), st.booleans()
VALUES: dict[packets.Codec, st.SearchStrategy[Any]] = {
    packets.BYTE: st.integers(0, 0xFF),
    packets.SHORT: st.integers(0, 0xFFFF),
    packets.LONG: st.integers(0, 0xFFFF_FFFF),
    packets.VARIABLE: st.integers(0, MAX_LENGTH),
    packets.TEXT: STRINGS,
    packets.BINARY: BYTES,
    packets.PAIRS: st.lists(st.tuples(STRINGS, STRINGS), min_size=1, max_size=3).map(tuple),
}


def properties(kind: Kind, version: int) -> st.SearchStrategy[Properties]:
    if version == V311:
        return st.just(NONE)
    allowed = [
        st.tuples(st.just(n), VALUES[c]) for n, c, kinds in PROPERTIES.values() if kind in kinds
    ]
    return st.lists(st.one_of(allowed), max_size=3).map(dict)


def packets_of(version: int) -> st.SearchStrategy[Packet]:
    """Any packet of a version."""
    reasons = REASONS if version == V5 else st.just(0)

    def of(kind: Kind) -> st.SearchStrategy[Properties]:
        return properties(kind, version)

    def acknowledgements(kind: Kind) -> st.SearchStrategy[Packet]:
        return st.builds(Acknowledgement, st.just(kind), PACKET_IDS, reasons, of(kind))

    options = FLAGS if version == V5 else st.just(False)
    handling = st.integers(0, 2) if version == V5 else st.just(0)
    subscriptions = st.builds(Subscription, STRINGS, QOS, options, options, handling)
    will = st.builds(Will, STRINGS, BYTES, QOS, FLAGS, of(Kind.WILL))
    codes = st.lists(REASONS, min_size=1, max_size=3).map(tuple)
    kinds: list[st.SearchStrategy[Packet]] = [
        st.builds(
            Connect,
            STRINGS,
            st.just(version),
            FLAGS,
            st.integers(0, 0xFFFF),
            st.none() | STRINGS,
            st.none() | BYTES,
            st.none() | will,
            of(Kind.CONNECT),
        ),
        st.builds(Connack, REASONS, FLAGS, of(Kind.CONNACK)),
        st.builds(Publish, STRINGS, BYTES, st.just(0), FLAGS, properties=of(Kind.PUBLISH)),
        st.builds(
            Publish, STRINGS, BYTES, st.integers(1, 2), FLAGS, FLAGS, PACKET_IDS, of(Kind.PUBLISH)
        ),
        *map(acknowledgements, (Kind.PUBACK, Kind.PUBREC, Kind.PUBREL, Kind.PUBCOMP)),
        st.builds(
            Subscribe,
            PACKET_IDS,
            st.lists(subscriptions, min_size=1, max_size=3).map(tuple),
            of(Kind.SUBSCRIBE),
        ),
        st.builds(
            Unsubscribe,
            PACKET_IDS,
            st.lists(STRINGS, min_size=1, max_size=3).map(tuple),
            of(Kind.UNSUBSCRIBE),
        ),
        st.builds(SubscribeReply, st.just(Kind.SUBACK), PACKET_IDS, codes, of(Kind.SUBACK)),
        st.builds(SubscribeReply, st.just(Kind.UNSUBACK), PACKET_IDS, codes, of(Kind.UNSUBACK)),
        st.builds(Ping, st.sampled_from((Kind.PINGREQ, Kind.PINGRESP))),
        st.builds(Disconnect, reasons, of(Kind.DISCONNECT)),
    ]
    if version == V5:
        kinds.append(st.builds(Auth, REASONS, of(Kind.AUTH)))
    return st.one_of(kinds)


def streams(version: int) -> st.SearchStrategy[tuple[int, list[Packet]]]:
    return st.tuples(st.just(version), st.lists(packets_of(version), max_size=4))


STREAMS = st.one_of(streams(V311), streams(V5))


def parsed(buffer: bytearray, version: int) -> list[Packet]:
    return [parse(first, body, version) for first, body in split(buffer)]


@settings(max_examples=cases(25, 1000))
@given(STREAMS, st.lists(st.integers(0, 300), max_size=6))
def test_packets_parse_to_what_was_encoded_however_they_are_cut(
    stream: tuple[int, list[Packet]], cuts: list[int]
) -> None:
    version, sent = stream
    data = b"".join(encode(packet, version) for packet in sent)
    buffer, found = bytearray(), list[Packet]()
    edges = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    for begin, end in pairwise(edges):
        buffer += data[begin:end]
        found += parsed(buffer, version)
    assert found == sent
    assert not buffer


@settings(max_examples=cases(25, 1000))
@given(STREAMS.filter(lambda stream: bool(stream[1])), st.data())
def test_a_truncated_body_is_an_error_or_another_packet(
    stream: tuple[int, list[Packet]], data: st.DataObject
) -> None:
    """Never a crash, and never the packet itself."""
    version, (packet, *_) = stream
    (whole,) = split(bytearray(encode(packet, version)))
    first, body = whole
    if body:
        shorter = body[: data.draw(st.integers(0, len(body) - 1))]
        with suppress(InvalidPacketError):
            # a CONNACK of MQTT 3.1.1 also refuses a version to a client of MQTT 5
            assert parse(first, shorter, version) != packet or isinstance(packet, Connack)


@given(st.integers(0, 0xFF), st.binary(max_size=60), st.sampled_from((V311, V5)))
def test_junk_is_an_error_or_a_packet_that_encodes_again(
    first: int, body: bytes, version: int
) -> None:
    with suppress(InvalidPacketError):
        packet = parse(first, body, version)
        version = packet.version if isinstance(packet, Connect) else version
        assert parsed(bytearray(encode(packet, version)), version) == [packet]


@given(st.binary(max_size=60))
def test_a_junk_stream_is_split_or_refused(data: bytes) -> None:
    buffer = bytearray(data)
    with suppress(InvalidPacketError):
        taken = sum(len(body) for _, body in split(buffer))
        assert taken <= len(data) - len(buffer)


@pytest.mark.parametrize("length", [0, 1, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152])
def test_lengths_at_the_edges_of_a_variable_byte_integer(length: int) -> None:
    packet = Publish("t", b"x" * length)
    assert parsed(bytearray(encode(packet, V311)), V311) == [packet]


def test_a_packet_that_is_too_large_is_refused_before_it_is_there() -> None:
    with pytest.raises(InvalidPacketError, match="too large"):
        list(split(bytearray(b"\x30\xff\x01"), 100))
