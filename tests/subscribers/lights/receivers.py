"""Receivers of sACN and Art-Net, which decode by the standards, and wait for what they want."""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from tests.support.waiting import TIMEOUT_SECONDS, until

SACN_PORT, ARTNET_PORT = 5568, 6454


class Universe(NamedTuple):
    """One datagram. ``component``, ``priority``, ``name`` and ``ended`` are of sACN alone."""

    universe: int
    sequence: int
    values: bytes
    priority: int = 0
    name: str = ""
    component: bytes = b""
    ended: bool = False


def decode_sacn(data: bytes) -> Universe:
    """By ANSI E1.31-2018, tables 4-1 and 6-1; every constant and length is checked."""
    assert len(data) == 638
    assert data[:16] == b"\x00\x10\x00\x00ASC-E1.17\x00\x00\x00"
    for at in (16, 38, 115):  # flags and length of each layer: from there to the end
        assert struct.unpack_from("!H", data, at)[0] == 0x7000 | len(data) - at
    assert struct.unpack_from("!I", data, 18)[0] == 4
    component = data[22:38]
    assert struct.unpack_from("!I", data, 40)[0] == 2
    name = data[44:108]
    assert name[63] == 0
    priority, synchronisation, sequence, options, universe = struct.unpack_from("!BHBBH", data, 108)
    assert synchronisation == 0
    assert options in (0, 0x40)
    vector, kind, first, step, count, start = struct.unpack_from("!BBHHHB", data, 117)
    assert (vector, kind, first, step, count, start) == (2, 0xA1, 0, 1, 513, 0)
    text = name.rstrip(b"\0").decode()
    return Universe(universe, sequence, data[126:], priority, text, component, bool(options & 0x40))


def decode_artnet(data: bytes) -> Universe:
    """By the packet definition of ArtDmx."""
    assert data[:8] == b"Art-Net\x00"
    (code,) = struct.unpack_from("<H", data, 8)
    version, sequence, physical = struct.unpack_from("!HBB", data, 10)
    (universe,) = struct.unpack_from("<H", data, 14)
    (length,) = struct.unpack_from("!H", data, 16)
    assert (code, version, physical) == (0x5000, 14, 0)
    assert 2 <= length <= 512
    assert length % 2 == 0
    assert len(data) == 18 + length
    assert sequence > 0
    return Universe(universe, sequence, data[18:])


class Receiver:
    """A node on an address of its own below 127.0.0.0/8, at the port of its protocol."""

    def __init__(self, protocol: str) -> None:
        self._decode = decode_sacn if protocol == "sacn" else decode_artnet
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.settimeout(0.1)
        self.received: list[Universe] = []
        self.address = ""
        while not self.address:
            with suppress(OSError):
                self.address = self._bind(SACN_PORT if protocol == "sacn" else ARTNET_PORT)

    def _bind(self, port: int) -> str:
        address = ".".join(["127", *(str(1 + byte % 250) for byte in os.urandom(3))])
        self._socket.bind((address, port))
        return address

    def receive(self) -> list[Universe]:
        with suppress(TimeoutError):
            self.received.append(self._decode(self._socket.recv(2048)))
        return self.received

    def until_shows(
        self,
        levels: dict[int, int],
        ended: bool = False,
        meanwhile: Callable[[], None] = lambda: None,
    ) -> None:
        """Wait until a packet has these values, and no other channel any."""
        values = bytes(levels.get(channel, 0) for channel in range(1, 513))
        seen = len(self.received)

        def shows() -> bool:
            meanwhile()
            return any(
                (each.values, each.ended) == (values, ended) for each in self.receive()[seen:]
            )

        until(f"levels {levels}", shows, lambda: str(self.received[-3:]), TIMEOUT_SECONDS)

    def close(self) -> None:
        self._socket.close()


class Multicast(Receiver):
    """A node that is subscribed to the multicast of a universe of its own, by loopback."""

    def __init__(self) -> None:
        self.universe = 0
        super().__init__("sacn")

    def _bind(self, port: int) -> str:
        self.universe = 256 * (1 + os.urandom(1)[0] % 240) + os.urandom(1)[0]
        address = f"239.255.{self.universe // 256}.{self.universe % 256}"
        self._socket.bind((address, port))
        joined = socket.inet_aton(address) + socket.inet_aton("127.0.0.1")
        self._socket.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, joined)
        return address
