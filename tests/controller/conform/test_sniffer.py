"""The door before the broker reads any client's packets, and survives any bytes."""

from __future__ import annotations

import contextlib
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from controller.conform.sniffer import ClientPackets, Published

TOPICS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=30)


def text(value: str) -> bytes:
    return len(value.encode()).to_bytes(2, "big") + value.encode()


def packet(head: int, body: bytes) -> bytes:
    left, size = len(body), b""
    while True:
        left, digit = divmod(left, 128)
        size += bytes((digit | (0x80 if left else 0),))
        if not left:
            return bytes((head,)) + size + body


def properties(level: int) -> bytes:
    """One property of MQTT 5 that both kinds of packet may have: a user property."""
    return packet(0, b"\x26" + text("a") + text("b"))[1:] if level == 5 else b""


def connect(level: int) -> bytes:
    return packet(
        0x10, text("MQTT") + bytes((level, 2, 0, 60)) + properties(level)[:0] + text("client")
    )


def subscribe(level: int, topic: str) -> bytes:
    return packet(0x82, b"\0\1" + properties(level) + text(topic) + b"\1")


def publish(level: int, message: Published) -> bytes:
    number = b"\0\2" if message.qos else b""
    return packet(
        0x30 | message.qos << 1 | message.retain,
        text(message.topic) + number + properties(level) + message.payload,
    )


MESSAGES = st.builds(Published, TOPICS, st.binary(max_size=300), st.integers(0, 2), st.booleans())


@given(
    st.sampled_from([4, 5]),
    st.lists(TOPICS, max_size=4),
    st.lists(MESSAGES, max_size=4),
    st.lists(st.integers(0, 3000), max_size=9),
)
def test_what_a_client_sends_is_read_however_it_is_split(
    level: int, topics: list[str], messages: list[Published], cuts: list[int]
) -> None:
    stream = connect(level) + b"".join(subscribe(level, topic) for topic in topics)
    stream += b"".join(publish(level, message) for message in messages) + packet(0xC0, b"")
    edges = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    packets = ClientPackets()
    found = [each for begin, end in pairwise(edges) for each in packets.feed(stream[begin:end])]
    assert (packets.level, packets.filters, found) == (level, topics, messages)


@given(
    st.lists(st.binary(max_size=200), max_size=9), st.sampled_from([b"", connect(4), connect(5)])
)
def test_any_bytes_are_packets_or_an_error(pieces: list[bytes], before: bytes) -> None:
    packets = ClientPackets()
    with contextlib.suppress(ValueError):
        for piece in [before, *pieces]:
            for _ in packets.feed(piece):
                pass
