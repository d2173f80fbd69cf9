"""MQTT 3.1.1 and 5 control packets, parsed from bytes and encoded to bytes.

Pure, and symmetric: client and broker packets both parse and encode. Section numbers are those of
MQTT 5 (OASIS, 7 March 2019).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from enum import IntEnum
from functools import lru_cache
from types import MappingProxyType
from typing import TypeAlias

import msgspec

V311, V5 = 4, 5
"""Protocol versions."""
MAX_LENGTH = 268_435_455
"""The largest remaining length that a packet can express, in bytes (1.5.5)."""


class Kind(IntEnum):
    """Control packet types (2.1.2). ``WILL`` is no packet: it has properties of its own."""

    WILL = 0
    CONNECT = 1
    CONNACK = 2
    PUBLISH = 3
    PUBACK = 4
    PUBREC = 5
    PUBREL = 6
    PUBCOMP = 7
    SUBSCRIBE = 8
    SUBACK = 9
    UNSUBSCRIBE = 10
    UNSUBACK = 11
    PINGREQ = 12
    PINGRESP = 13
    DISCONNECT = 14
    AUTH = 15


class Reason(IntEnum):
    """Reason codes (2.4), those that are used here."""

    SUCCESS = 0x00
    NO_MATCHING_SUBSCRIBERS = 0x10
    NO_SUBSCRIPTION_EXISTED = 0x11
    DISCONNECT_WITH_WILL = 0x04
    UNSPECIFIED_ERROR = 0x80
    MALFORMED_PACKET = 0x81
    PROTOCOL_ERROR = 0x82
    UNSUPPORTED_VERSION = 0x84
    IDENTIFIER_NOT_VALID = 0x85
    NOT_AUTHORIZED = 0x87
    SERVER_BUSY = 0x89
    SERVER_SHUTTING_DOWN = 0x8B
    BAD_AUTHENTICATION_METHOD = 0x8C
    KEEP_ALIVE_TIMEOUT = 0x8D
    SESSION_TAKEN_OVER = 0x8E
    TOPIC_NAME_INVALID = 0x90
    TOPIC_ALIAS_INVALID = 0x94
    PACKET_TOO_LARGE = 0x95
    QUOTA_EXCEEDED = 0x97
    ADMINISTRATIVE_ACTION = 0x98
    QOS_NOT_SUPPORTED = 0x9B
    SHARED_SUBSCRIPTIONS_NOT_SUPPORTED = 0x9E


class InvalidPacketError(ValueError):
    """Bytes that are no valid packet. ``reason`` is what a broker puts into DISCONNECT."""

    def __init__(self, problem: str, reason: Reason = Reason.MALFORMED_PACKET) -> None:
        super().__init__(problem)
        self.reason = reason


Pairs: TypeAlias = tuple[tuple[str, str], ...]
Value: TypeAlias = int | str | bytes | Pairs
Properties: TypeAlias = Mapping[str, Value]
"""Properties by name (see ``PROPERTIES``); empty in MQTT 3.1.1."""
NONE: Properties = MappingProxyType({})
REMEMBERED_FIELDS = 4096
"""Texts and properties that are not read again: most packets have those of an earlier one."""


class Will(msgspec.Struct, frozen=True):
    topic: str
    payload: bytes
    qos: int = 0
    retain: bool = False
    properties: Properties = NONE


class Connect(msgspec.Struct, frozen=True):
    client_id: str
    version: int = V5
    clean_start: bool = True
    keep_alive: int = 0
    """Seconds; 0 for none."""
    username: str | None = None
    password: bytes | None = None
    will: Will | None = None
    properties: Properties = NONE


class Connack(msgspec.Struct, frozen=True):
    reason: int = 0
    session_present: bool = False
    properties: Properties = NONE


class Publish(msgspec.Struct, frozen=True):
    topic: str
    payload: bytes
    qos: int = 0
    retain: bool = False
    duplicate: bool = False
    packet_id: int = 0
    """0 with QoS 0."""
    properties: Properties = NONE


class Acknowledgement(msgspec.Struct, frozen=True):
    """PUBACK, PUBREC, PUBREL or PUBCOMP."""

    kind: Kind
    packet_id: int
    reason: int = 0
    properties: Properties = NONE


class Subscription(msgspec.Struct, frozen=True):
    """One topic filter of a SUBSCRIBE. MQTT 3.1.1 has only ``qos``."""

    topic_filter: str
    qos: int = 0
    no_local: bool = False
    retain_as_published: bool = False
    retain_handling: int = 0
    """When retained messages are sent: 0 always, 1 for a new subscription, 2 never (3.8.3.1)."""


class Subscribe(msgspec.Struct, frozen=True):
    packet_id: int
    subscriptions: tuple[Subscription, ...]
    properties: Properties = NONE


class Unsubscribe(msgspec.Struct, frozen=True):
    packet_id: int
    topic_filters: tuple[str, ...]
    properties: Properties = NONE


class SubscribeReply(msgspec.Struct, frozen=True):
    """SUBACK or UNSUBACK. An UNSUBACK of MQTT 3.1.1 has no reasons."""

    kind: Kind
    packet_id: int
    reasons: tuple[int, ...] = ()
    properties: Properties = NONE


class Ping(msgspec.Struct, frozen=True):
    """PINGREQ or PINGRESP."""

    kind: Kind


class Disconnect(msgspec.Struct, frozen=True):
    reason: int = 0
    properties: Properties = NONE


class Auth(msgspec.Struct, frozen=True):
    reason: int = 0
    properties: Properties = NONE


Packet: TypeAlias = (
    Connect
    | Connack
    | Publish
    | Acknowledgement
    | Subscribe
    | SubscribeReply
    | Unsubscribe
    | Ping
    | Disconnect
    | Auth
)

_NOT_ALLOWED = re.compile("[\0-\x1f\x7f-\x9f\ufdd0-\ufdef\ufffe\uffff]")
"""Characters that Mosquitto refuses: U+0000 must be, the others should not be sent (1.5.4)."""


class _Reader:
    """Reads the fields of one packet. Raises ``InvalidPacketError`` at its end."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def __bool__(self) -> bool:
        return self._at < len(self._data)

    def take(self, count: int) -> bytes:
        self._at += count
        if self._at > len(self._data):
            raise InvalidPacketError("packet ends too early")
        return self._data[self._at - count : self._at]

    def rest(self) -> bytes:
        return self.take(len(self._data) - self._at)

    def byte(self) -> int:
        at = self._at
        if at >= len(self._data):
            raise InvalidPacketError("packet ends too early")
        self._at = at + 1
        return self._data[at]

    def short(self) -> int:
        at, data = self._at, self._data
        if at + 2 > len(data):
            raise InvalidPacketError("packet ends too early")
        self._at = at + 2
        return data[at] << 8 | data[at + 1]

    def long(self) -> int:
        return int.from_bytes(self.take(4))

    def variable(self) -> int:
        value = 0
        for shift in (0, 7, 14, 21):
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            if not byte & 0x80:
                return value
        raise InvalidPacketError("variable byte integer of more than four bytes")

    def binary(self) -> bytes:
        return self.take(self.short())

    def text(self) -> str:
        return _checked_text(self.binary())

    def pairs(self) -> Pairs:
        return ((self.text(), self.text()),)

    def packet_id(self) -> int:
        if found := self.short():
            return found
        raise InvalidPacketError("packet identifier 0", Reason.PROTOCOL_ERROR)


@lru_cache(REMEMBERED_FIELDS)
def _checked_text(data: bytes) -> str:
    try:
        found = data.decode()
    except UnicodeDecodeError as error:
        raise InvalidPacketError(f"text is no UTF-8: {error}") from None
    if _NOT_ALLOWED.search(found):
        raise InvalidPacketError("text has characters that are not allowed")
    return found


def _byte(value: int) -> bytes:
    return value.to_bytes(1)


def _short(value: int) -> bytes:
    return value.to_bytes(2)


def _long(value: int) -> bytes:
    return value.to_bytes(4)


def _variable(value: int) -> bytes:
    if value <= 0x7F:
        return value.to_bytes(1)
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)


def _binary(value: bytes) -> bytes:
    return _short(len(value)) + value


@lru_cache(REMEMBERED_FIELDS)
def _text(value: str) -> bytes:
    return _binary(value.encode())


Codec: TypeAlias = tuple[Callable[[_Reader], Value], Callable[..., bytes]]
BYTE: Codec = (_Reader.byte, _byte)
SHORT: Codec = (_Reader.short, _short)
LONG: Codec = (_Reader.long, _long)
VARIABLE: Codec = (_Reader.variable, _variable)
TEXT: Codec = (_Reader.text, _text)
BINARY: Codec = (_Reader.binary, _binary)
PAIRS: Codec = (
    _Reader.pairs,
    lambda pairs: b"\x26".join(_text(name) + _text(value) for name, value in pairs),
)
_MESSAGE = frozenset({Kind.PUBLISH, Kind.WILL})
_LOGIN = frozenset({Kind.CONNECT, Kind.CONNACK})
_ACCEPTED = frozenset({Kind.CONNACK})
_ALL = frozenset(Kind) - {Kind.PINGREQ, Kind.PINGRESP}
_REPLIES = _ALL - {Kind.WILL, Kind.CONNECT, Kind.PUBLISH, Kind.SUBSCRIBE, Kind.UNSUBSCRIBE}
PROPERTIES: Mapping[int, tuple[str, Codec, frozenset[Kind]]] = {
    0x01: ("payload_format", BYTE, _MESSAGE),
    0x02: ("message_expiry", LONG, _MESSAGE),
    0x03: ("content_type", TEXT, _MESSAGE),
    0x08: ("response_topic", TEXT, _MESSAGE),
    0x09: ("correlation", BINARY, _MESSAGE),
    0x0B: ("subscription_identifier", VARIABLE, frozenset({Kind.PUBLISH, Kind.SUBSCRIBE})),
    0x11: ("session_expiry", LONG, _LOGIN | {Kind.DISCONNECT}),
    0x12: ("assigned_client_id", TEXT, _ACCEPTED),
    0x13: ("server_keep_alive", SHORT, _ACCEPTED),
    0x15: ("authentication_method", TEXT, _LOGIN | {Kind.AUTH}),
    0x16: ("authentication_data", BINARY, _LOGIN | {Kind.AUTH}),
    0x17: ("request_problem", BYTE, frozenset({Kind.CONNECT})),
    0x18: ("will_delay", LONG, frozenset({Kind.WILL})),
    0x19: ("request_response", BYTE, frozenset({Kind.CONNECT})),
    0x1A: ("response_information", TEXT, _ACCEPTED),
    0x1C: ("server_reference", TEXT, _ACCEPTED | {Kind.DISCONNECT}),
    0x1F: ("reason_string", TEXT, _REPLIES),
    0x21: ("receive_maximum", SHORT, _LOGIN),
    0x22: ("topic_alias_maximum", SHORT, _LOGIN),
    0x23: ("topic_alias", SHORT, frozenset({Kind.PUBLISH})),
    0x24: ("maximum_qos", BYTE, _ACCEPTED),
    0x25: ("retain_available", BYTE, _ACCEPTED),
    0x26: ("user", PAIRS, _ALL),
    0x27: ("maximum_packet_size", LONG, _LOGIN),
    0x28: ("wildcards_available", BYTE, _ACCEPTED),
    0x29: ("identifiers_available", BYTE, _ACCEPTED),
    0x2A: ("shared_available", BYTE, _ACCEPTED),
}
"""Name, codec and packets of each property, by its identifier (2.2.2.2)."""
_IDS = {name: number for number, (name, _, _) in PROPERTIES.items()}
_KINDS = tuple(Kind)
"""By number: calling the class is slow."""
_FLAGS = {Kind.PUBREL: 2, Kind.SUBSCRIBE: 2, Kind.UNSUBSCRIBE: 2}
"""The flags of the fixed header, 0 where none are named here; PUBLISH has its own (2.1.3)."""


def split(buffer: bytearray, largest: int = MAX_LENGTH + 5) -> Iterator[tuple[int, bytes]]:
    """Remove whole packets from the front of ``buffer``: first byte and body of each.

    Raises ``InvalidPacketError`` for a packet of more than ``largest`` bytes as soon as its length
    is known.
    """
    while len(buffer) >= 2:
        length, at = 0, 1
        while True:
            if at > 4:
                raise InvalidPacketError("remaining length of more than four bytes")
            if at == len(buffer):
                return
            length |= (buffer[at] & 0x7F) << 7 * (at - 1)
            at += 1
            if not buffer[at - 1] & 0x80:
                break
        if at + length > largest:
            raise InvalidPacketError("packet too large", Reason.PACKET_TOO_LARGE)
        if at + length > len(buffer):
            return
        first, body = buffer[0], bytes(buffer[at : at + length])
        del buffer[: at + length]
        yield first, body


def parse(first: int, body: bytes, version: int) -> Packet:
    """Parse a packet from its first byte and its body. CONNECT brings its own version.

    Raises ``InvalidPacketError``.
    """
    kind, flags, reader = _KINDS[first >> 4], first & 0x0F, _Reader(body)
    if kind is Kind.PUBLISH:
        return _publish(reader, flags, version)
    if kind not in _PARSERS:
        raise InvalidPacketError("packet type 0", Reason.PROTOCOL_ERROR)
    if flags != _FLAGS.get(kind, 0):
        raise InvalidPacketError(f"flags {flags} of a {kind.name}")
    packet = _PARSERS[kind](reader, kind, version)
    if reader:
        raise InvalidPacketError(f"bytes after the end of a {kind.name}")
    return packet


def _properties(reader: _Reader, kind: Kind, version: int) -> Properties:
    if version < V5 or not (length := reader.variable()):
        return NONE
    return _read_properties(reader.take(length), kind)


@lru_cache(REMEMBERED_FIELDS)
def _read_properties(data: bytes, kind: Kind) -> Properties:
    fields = _Reader(data)
    found: dict[str, Value] = {}
    while fields:
        number = fields.variable()
        if number not in PROPERTIES:
            raise InvalidPacketError(f"unknown property {number}")
        name, (read, _), where = PROPERTIES[number]
        if kind not in where:
            raise InvalidPacketError(f"{name} in a {kind.name}")
        value = read(fields)
        if isinstance(value, tuple):
            before = found.get(name, ())
            assert isinstance(before, tuple)
            value = (*before, *value)
        elif name in found:
            raise InvalidPacketError(f"{name} twice", Reason.PROTOCOL_ERROR)
        found[name] = value
    return MappingProxyType(found)


def _connect(reader: _Reader, kind: Kind, _version: int) -> Connect:
    if reader.text() != "MQTT":
        raise InvalidPacketError("not MQTT", Reason.PROTOCOL_ERROR)
    version, flags = reader.byte(), 0
    if version not in (V311, V5):
        raise InvalidPacketError(f"MQTT version {version}", Reason.UNSUPPORTED_VERSION)
    flags = reader.byte()
    if flags & 1:
        raise InvalidPacketError("reserved flag of CONNECT", Reason.PROTOCOL_ERROR)
    keep_alive = reader.short()
    properties = _properties(reader, kind, version)
    client_id = reader.text()
    will, qos = None, flags >> 3 & 3
    if flags & 4:
        if qos == 3:
            raise InvalidPacketError("will with QoS 3", Reason.PROTOCOL_ERROR)
        will_properties = _properties(reader, Kind.WILL, version)
        will = Will(reader.text(), reader.binary(), qos, bool(flags & 0x20), will_properties)
    elif flags & 0x38:
        raise InvalidPacketError("flags of a will without one", Reason.PROTOCOL_ERROR)
    return Connect(
        client_id,
        version,
        clean_start=bool(flags & 2),
        keep_alive=keep_alive,
        username=reader.text() if flags & 0x80 else None,
        password=reader.binary() if flags & 0x40 else None,
        will=will,
        properties=properties,
    )


def _connack(reader: _Reader, kind: Kind, version: int) -> Connack:
    flags, reason = reader.byte(), reader.byte()
    if flags > 1:
        raise InvalidPacketError("reserved flags of CONNACK")
    # a refused version is answered in the form of MQTT 3.1.1, which every client understands
    properties = _properties(reader, kind, version) if reader else NONE
    return Connack(reason, bool(flags), properties)


def _publish(reader: _Reader, flags: int, version: int) -> Publish:
    qos, duplicate = flags >> 1 & 3, bool(flags & 8)
    if qos == 3 or (duplicate and qos == 0):
        raise InvalidPacketError("QoS 3, or QoS 0 with DUP")
    topic = reader.text()
    packet_id = reader.packet_id() if qos else 0
    properties = _properties(reader, Kind.PUBLISH, version)
    return Publish(topic, reader.rest(), qos, bool(flags & 1), duplicate, packet_id, properties)


def _acknowledgement(reader: _Reader, kind: Kind, version: int) -> Acknowledgement:
    packet_id = reader.packet_id()
    if version < V5:
        return Acknowledgement(kind, packet_id)
    reason = reader.byte() if reader else 0
    return Acknowledgement(
        kind, packet_id, reason, _properties(reader, kind, version) if reader else NONE
    )


def _subscribe(reader: _Reader, kind: Kind, version: int) -> Subscribe:
    packet_id, properties = reader.packet_id(), _properties(reader, kind, version)
    found = []
    while reader:
        topic_filter, options = reader.text(), reader.byte()
        reserved = 0xC0 if version == V5 else 0xFC
        if options & reserved or options & 3 == 3 or options >> 4 & 3 == 3:
            raise InvalidPacketError("subscription options")
        found.append(
            Subscription(
                topic_filter, options & 3, bool(options & 4), bool(options & 8), options >> 4 & 3
            )
        )
    if not found:
        raise InvalidPacketError("SUBSCRIBE without a topic filter")
    return Subscribe(packet_id, tuple(found), properties)


def _unsubscribe(reader: _Reader, kind: Kind, version: int) -> Unsubscribe:
    packet_id, properties = reader.packet_id(), _properties(reader, kind, version)
    found = []
    while reader:
        found.append(reader.text())
    if not found:
        raise InvalidPacketError("UNSUBSCRIBE without a topic filter")
    return Unsubscribe(packet_id, tuple(found), properties)


def _subscribe_reply(reader: _Reader, kind: Kind, version: int) -> SubscribeReply:
    packet_id, properties = reader.packet_id(), _properties(reader, kind, version)
    return SubscribeReply(kind, packet_id, tuple(reader.rest()), properties)


def _ping(_reader: _Reader, kind: Kind, _version: int) -> Ping:
    return Ping(kind)


def _disconnect(reader: _Reader, kind: Kind, version: int) -> Disconnect:
    if version < V5 or not reader:
        return Disconnect()
    reason = reader.byte()
    return Disconnect(reason, _properties(reader, kind, version) if reader else NONE)


def _auth(reader: _Reader, kind: Kind, version: int) -> Auth:
    if version < V5:
        raise InvalidPacketError("AUTH in MQTT 3.1.1", Reason.PROTOCOL_ERROR)
    reason = reader.byte() if reader else 0
    return Auth(reason, _properties(reader, kind, version) if reader else NONE)


_PARSERS: Mapping[Kind, Callable[[_Reader, Kind, int], Packet]] = {
    Kind.CONNECT: _connect,
    Kind.CONNACK: _connack,
    Kind.PUBACK: _acknowledgement,
    Kind.PUBREC: _acknowledgement,
    Kind.PUBREL: _acknowledgement,
    Kind.PUBCOMP: _acknowledgement,
    Kind.SUBSCRIBE: _subscribe,
    Kind.SUBACK: _subscribe_reply,
    Kind.UNSUBSCRIBE: _unsubscribe,
    Kind.UNSUBACK: _subscribe_reply,
    Kind.PINGREQ: _ping,
    Kind.PINGRESP: _ping,
    Kind.DISCONNECT: _disconnect,
    Kind.AUTH: _auth,
}


PUBACK = bytes((Kind.PUBACK << 4, 2))
"""The fixed header of an acknowledgement without a reason."""


def encode(packet: Packet, version: int) -> bytes:
    """Encode a packet; a CONNECT in its own version."""
    match packet:
        case Publish():
            flags = packet.duplicate << 3 | packet.qos << 1 | packet.retain
            packet_id = _short(packet.packet_id) if packet.qos else b""
            head = _text(packet.topic) + packet_id + _encoded(packet.properties, version)
            return _packet(Kind.PUBLISH, head, packet.payload, flags=flags)
        case Acknowledgement(reason=0, kind=Kind.PUBACK) if not packet.properties:  # as most
            return PUBACK + packet.packet_id.to_bytes(2)
        case Acknowledgement():
            ending = _ending(packet.reason, packet.properties, version)
            return _packet(packet.kind, _short(packet.packet_id), ending)
        case Connect():
            return _packet(Kind.CONNECT, *_connect_fields(packet))
        case Connack():
            head = bytes((packet.session_present, packet.reason))
            return _packet(Kind.CONNACK, head, _encoded(packet.properties, version))
        case Subscribe():
            entries = (_text(each.topic_filter) + _options(each) for each in packet.subscriptions)
            return _packet(Kind.SUBSCRIBE, *_numbered(packet, version), *entries)
        case Unsubscribe():
            return _packet(
                Kind.UNSUBSCRIBE, *_numbered(packet, version), *map(_text, packet.topic_filters)
            )
        case SubscribeReply():
            return _packet(packet.kind, *_numbered(packet, version), bytes(packet.reasons))
        case Ping():
            return _packet(packet.kind)
        case Disconnect():
            return _packet(Kind.DISCONNECT, _ending(packet.reason, packet.properties, version))
        case Auth():
            return _packet(Kind.AUTH, _ending(packet.reason, packet.properties, version))


def _packet(kind: Kind, *parts: bytes, flags: int | None = None) -> bytes:
    body = b"".join(parts)
    first = kind << 4 | (_FLAGS.get(kind, 0) if flags is None else flags)
    if (length := len(body)) <= 0x7F:
        return bytes((first, length)) + body
    return _byte(first) + _variable(length) + body


def _encoded(properties: Properties, version: int) -> bytes:
    if version < V5:
        return b""
    if not properties:  # as most of them
        return b"\0"
    found = b"".join(
        _byte(_IDS[name]) + PROPERTIES[_IDS[name]][1][1](value)
        for name, value in properties.items()
    )
    return _variable(len(found)) + found


def _ending(reason: int, properties: Properties, version: int) -> bytes:
    """Encode a reason and properties, which are left out where they say nothing (3.4.2.1)."""
    if version < V5 or not (reason or properties):
        return b""
    return _byte(reason) + (_encoded(properties, version) if properties else b"")


def _numbered(packet: Subscribe | Unsubscribe | SubscribeReply, version: int) -> tuple[bytes, ...]:
    return _short(packet.packet_id), _encoded(packet.properties, version)


def _options(each: Subscription) -> bytes:
    return _byte(
        each.qos | each.no_local << 2 | each.retain_as_published << 3 | each.retain_handling << 4
    )


def _connect_fields(packet: Connect) -> Iterator[bytes]:
    will, version = packet.will, packet.version
    flags = packet.clean_start << 1
    flags |= (packet.username is not None) << 7 | (packet.password is not None) << 6
    if will is not None:
        flags |= 4 | will.qos << 3 | will.retain << 5
    yield _text("MQTT") + bytes((version, flags)) + _short(packet.keep_alive)
    yield _encoded(packet.properties, version) + _text(packet.client_id)
    if will is not None:
        yield _encoded(will.properties, version) + _text(will.topic) + _binary(will.payload)
    if packet.username is not None:
        yield _text(packet.username)
    if packet.password is not None:
        yield _binary(packet.password)
