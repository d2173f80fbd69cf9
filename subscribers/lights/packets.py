"""Packets of sACN and Art-Net: one universe of DMX values in one UDP datagram. Pure.

Sources: ANSI E1.31-2018 (streaming ACN), and the streaming packets of Art-Net 4
(art-net.org.uk). Both formats are fixed headers before the values, so no library is used: those for
Python bring a thread and a clock of their own, which a simulated world could not replace.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping

Levels = Mapping[int, int]
"""DMX channel, 1 to 512 -> its value, 0 to 255."""

CHANNELS = 512
SACN_PORT = 5568
ARTNET_PORT = 6454
DISCOVERY_ADDRESS = "239.255.250.214"
"""Where sACN sources list their universes."""

_ACN_IDENTIFIER = b"ASC-E1.17\0\0\0"
_ROOT_DATA, _ROOT_EXTENDED = 4, 8
_FRAMING_DATA, _FRAMING_DISCOVERY = 2, 2
_DISCOVERY_LIST = 1
_PDU_FLAGS = 0x7000
_STREAM_TERMINATED = 0x40
_SOURCE_NAME_BYTES = 64
_ARTNET_VERSION = 14
_ART_DMX = 0x5000


def values_of(levels: Levels) -> bytes:
    """Return the values of all channels of a universe."""
    return bytes(levels.get(channel, 0) for channel in range(1, CHANNELS + 1))


def component_id(site: str, light: str) -> bytes:
    """Return the id of an sACN source: a UUID that stays the same for a light, as E1.31 demands."""
    digest = bytearray(hashlib.sha256(f"novamas light {site} {light}".encode()).digest()[:16])
    digest[6] = digest[6] & 0x0F | 0x80  # version 8 of RFC 9562: made by the rules of a vendor
    digest[8] = digest[8] & 0x3F | 0x80
    return bytes(digest)


def multicast_address(universe: int) -> str:
    """Return the multicast address of an sACN universe."""
    return f"239.255.{universe >> 8}.{universe & 0xFF}"


def sacn_packet(
    component: bytes,
    name: str,
    universe: int,
    priority: int,
    sequence: int,
    values: bytes,
    *,
    terminated: bool = False,
) -> bytes:
    """Return an E1.31 data packet. ``sequence``: 0 to 255; ``terminated``: the source ends."""
    options = _STREAM_TERMINATED if terminated else 0
    # set property, addresses of one octet, from 0 on, in steps of 1; then the start code 0
    properties = struct.pack("!BBHHHx", 2, 0xA1, 0, 1, 1 + len(values)) + values
    framing = struct.pack("!B2xBBH", priority, sequence, options, universe) + _pdu(properties)
    return _packet(component, _ROOT_DATA, _FRAMING_DATA, name, framing)


def discovery_packet(component: bytes, name: str, universes: tuple[int, ...]) -> bytes:
    """Return an E1.31 packet that lists the universes of a source, in order."""
    listed = struct.pack(f"!IBB{len(universes)}H", _DISCOVERY_LIST, 0, 0, *universes)
    return _packet(component, _ROOT_EXTENDED, _FRAMING_DISCOVERY, name, bytes(4) + _pdu(listed))


def _packet(component: bytes, root: int, vector: int, name: str, framing: bytes) -> bytes:
    source = name.encode()[: _SOURCE_NAME_BYTES - 1].decode(errors="ignore").encode()
    body = _pdu(struct.pack("!I", vector) + source.ljust(_SOURCE_NAME_BYTES, b"\0") + framing)
    preamble = struct.pack("!HH", 16, 0) + _ACN_IDENTIFIER
    return preamble + _pdu(struct.pack("!I", root) + component + body)


def _pdu(body: bytes) -> bytes:
    """Prefix flags and length, which counts itself."""
    return struct.pack("!H", _PDU_FLAGS | len(body) + 2) + body


def artnet_packet(universe: int, sequence: int, values: bytes) -> bytes:
    """Return an ArtDmx packet. ``universe``: the Port-Address, 0 to 32767; ``sequence``: 1 to 255,
    since 0 means that packets are not numbered.
    """
    head = b"Art-Net\0" + struct.pack("<H", _ART_DMX)
    numbered = struct.pack("!HBB", _ARTNET_VERSION, sequence, 0)
    return head + numbered + struct.pack("<H", universe) + struct.pack("!H", len(values)) + values
