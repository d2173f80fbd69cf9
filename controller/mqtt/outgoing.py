"""Encodes PUBLISH packets, and keeps the window of those with QoS 1 that are unacknowledged.

paho keeps a message object, a condition and a queue for each publication. Here the journal is the
queue, so a packet is encoded, written and forgotten when its PUBACK comes. Section numbers are
those of MQTT 5.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

import msgspec
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.reasoncodes import ReasonCode

from common import clock

FIRST_ID, LAST_ID = 0x8000, 0xBFFF
"""Packet identifiers of queued messages; paho numbers its own packets (SUBSCRIBE) from 1."""
FIRST_DIRECT_ID, LAST_DIRECT_ID = 0xC000, 0xFFFF
"""Packet identifiers of messages that are sent directly."""
MAX_PACKET_BYTES = 268_435_455
"""The largest length that a packet can express (1.5.5)."""
_PUBLISH_QOS0, _PUBLISH_QOS1 = 0x30, 0x32
_RETAIN = 0x01
_FAILURE = 0x80
_PAYLOAD_IS_TEXT = b"\x01\x01"
_CONTENT_TYPE_JSON = b"\x03\x00\x10application/json"
_CORRELATION_DATA = b"\x09"


class OutgoingMessage(msgspec.Struct, frozen=True):
    """A message to publish: with QoS 1, unless it may be lost."""

    topic: str
    payload: bytes
    retain: bool = False
    answers: bytes | None = None
    """The correlation data of the request that this message answers (MQTT 5)."""


Acknowledged = Callable[[str | None], None]
"""Called with None when the broker has accepted a message, or with its reason for refusing it."""


class PublishWindow:
    """The publications of one connection. ``write`` writes bytes to the socket.

    At most ``limit`` packets are unacknowledged; further messages wait, in order.

    Another thread may send messages directly, as many as there is room :meth:`reserved` for. All
    other methods are those of the event loop.
    """

    def __init__(self, write: Callable[[bytes], None]) -> None:
        self.limit = 1
        self.v5 = False
        self.largest: int | None = None
        """The largest packet that the broker accepts, in bytes; None if it sets no limit."""
        self._write = write
        self._id = FIRST_ID - 1
        self._waiting: deque[tuple[OutgoingMessage, Acknowledged]] = deque()
        self._in_flight: dict[int, tuple[Acknowledged, float]] = {}
        """By packet identifier, in the order sent: the callback, and the monotonic time sent."""
        self._direct_id = FIRST_DIRECT_ID - 1
        self._direct: dict[int, int | None] = {}
        """By packet identifier of messages that were sent directly and not adopted yet: the reason
        code of their acknowledgement.
        """
        self._reserved = 0

    @property
    def pending(self) -> int:
        """Messages posted and not yet acknowledged."""
        return len(self._waiting) + len(self._in_flight) + len(self._direct)

    @property
    def oldest(self) -> float | None:
        """The monotonic time at which the oldest unacknowledged packet was sent; None if none."""
        return next(iter(self._in_flight.values()))[1] if self._in_flight else None

    def post(self, message: OutgoingMessage, acknowledged: Acknowledged) -> None:
        """Queue a message; :meth:`flush` sends it. A message that cannot be sent is refused at
        once.
        """
        if (mistake := self._mistake(message)) is not None:
            acknowledged(mistake)
        else:
            self._waiting.append((message, acknowledged))

    def flush(self) -> None:
        """Write queued messages, as far as the window has room."""
        if not self._waiting:
            return
        taken = len(self._in_flight) + max(self._reserved, len(self._direct))
        room = min(self.limit - taken, len(self._waiting))
        if room <= 0:
            return
        now = clock.monotonic()
        packets = []
        for _ in range(room):
            message, acknowledged = self._waiting.popleft()
            self._id = self._id + 1 if self._id < LAST_ID else FIRST_ID
            packets.append(publish_packet(message, self._id, v5=self.v5))
            self._in_flight[self._id] = acknowledged, now
        self._write(b"".join(packets))

    def acknowledge(self, packet_id: int, reason: int) -> None:
        """Handle a PUBACK. "No matching subscribers" counts as success (3.4.2.1)."""
        acknowledged, _ = self._in_flight.pop(packet_id, (None, 0.0))
        if packet_id in self._direct:
            self._direct[packet_id] = reason
        elif acknowledged is not None:
            acknowledged(_reason_name(reason) if reason >= _FAILURE else None)

    def forget(self) -> None:
        """Drop all pending messages without calling back: the connection is lost."""
        self._waiting.clear()
        self._in_flight.clear()
        self._direct.clear()

    def reserve(self, count: int) -> bool:
        """Reserve room for ``count`` messages that another thread sends directly. Return False, and
        reserve none, unless that leaves as much for others and nothing is waiting.
        """
        room = self.limit - len(self._in_flight) - len(self._direct)
        fits = count == 0 or (not self._waiting and count <= room and 2 * count <= self.limit)
        self._reserved = count if fits else 0
        return fits

    def direct_packets(self, messages: Sequence[OutgoingMessage]) -> dict[int, bytes]:
        """Return packets to send directly, by their identifiers; none if one of the messages cannot
        be sent. Each must be adopted, or dropped with :meth:`unsent`. May be called by another
        thread.
        """
        if any(self._mistake(message) is not None for message in messages):
            return {}
        packets = {}
        for message in messages:
            packet_id = self._direct_id + 1 if self._direct_id < LAST_DIRECT_ID else FIRST_DIRECT_ID
            self._direct_id = packet_id
            self._direct[packet_id] = None  # its acknowledgement may come before it is adopted
            packets[packet_id] = publish_packet(message, packet_id, v5=self.v5)
        return packets

    def unsent(self, packet_ids: Iterable[int]) -> None:
        """Drop packets that could not be sent directly. May be called by another thread."""
        for packet_id in packet_ids:
            self._direct.pop(packet_id, None)

    def adopt(self, packet_id: int, acknowledged: Acknowledged) -> None:
        """Wait for the acknowledgement of a message that was sent directly, unless it has come."""
        self._in_flight[packet_id] = acknowledged, clock.monotonic()
        if (reason := self._direct.pop(packet_id, None)) is not None:
            self.acknowledge(packet_id, reason)

    def _mistake(self, message: OutgoingMessage) -> str | None:
        try:
            topic = _topic(message.topic)
        except ValueError as error:
            return str(error)
        size = len(topic) + len(message.payload) + len(message.answers or b"") + 62
        if size > (self.largest or MAX_PACKET_BYTES):
            return (
                f"larger than the {self.largest or MAX_PACKET_BYTES} bytes that the broker accepts"
            )
        return None


def publish_packet(message: OutgoingMessage, packet_id: int | None, *, v5: bool) -> bytes:
    """Return a PUBLISH packet (3.3): fixed header, topic, packet identifier, properties, payload.
    Its QoS is 1; without ``packet_id`` 0.
    """
    head = _topic(message.topic)
    if packet_id is not None:
        head += packet_id.to_bytes(2)
    if v5:
        head += _properties(message)
    kind = _PUBLISH_QOS0 if packet_id is None else _PUBLISH_QOS1
    if message.retain:
        kind |= _RETAIN
    return b"".join(
        (bytes((kind,)), _length(len(head) + len(message.payload)), head, message.payload)
    )


def _reason_name(reason: int) -> str:
    """Return the name of a reason code. Brokers also send codes that MQTT does not allow in PUBACK:
    Mosquitto sends "packet too large" for a message above its ``message_size_limit``.
    """
    for packet in (PacketTypes.PUBACK, PacketTypes.DISCONNECT):
        try:
            return str(ReasonCode(packet, identifier=reason))
        except (KeyError, ValueError):  # not a code of this packet
            continue
    return f"reason code {reason:#04x}"


@lru_cache(maxsize=16_384)
def _topic(topic: str) -> bytes:
    """Encode a topic name. Raises ``ValueError`` if it is invalid (4.7.1)."""
    try:
        name = topic.encode()
        if name and "+" not in topic and "#" not in topic:
            return len(name).to_bytes(2) + name
    except (UnicodeEncodeError, OverflowError):
        pass
    raise ValueError(f"no MQTT topic: {topic[:80]!a}")


def _properties(message: OutgoingMessage) -> bytes:
    """Encode the properties of a JSON body; an empty payload, which clears a retained message,
    needs no properties.
    """
    if not message.payload:
        return b"\0"
    found = _PAYLOAD_IS_TEXT + _CONTENT_TYPE_JSON
    if message.answers is not None:
        found += _CORRELATION_DATA + len(message.answers).to_bytes(2) + message.answers
    return _length(len(found)) + found


def _length(length: int) -> bytes:
    """Encode a variable byte integer (1.5.5)."""
    found = bytearray()
    while length > 0x7F:
        found.append(length & 0x7F | 0x80)
        length >>= 7
    found.append(length)
    return bytes(found)
