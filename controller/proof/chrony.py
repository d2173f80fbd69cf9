"""Reads chrony's statement about the machine's clock: its reply to ``tracking``, in version 6 of
the protocol of its command port (chrony 2.2 and later), a request that needs no privilege.

Nothing here waits: a request is sent, and its reply is read by a later call, or never.
"""

from __future__ import annotations

import socket
import struct
from ipaddress import ip_address

import msgspec

VERSION = 6
REQUEST, REPLY = 1, 2
TRACKING = 33
"""The command."""
TRACKING_REPLY = 5
"""The kind of its reply."""
RATE_UNCERTAINTY_PPM = 1.0
"""Parts per million by which chrony assumes the clock's rate to be uncertain: the default of its
``maxclockerror``.
"""
UNSYNCHRONISED = 3
"""The leap status of an undisciplined clock."""
_REQUEST_HEAD = struct.Struct("!BBBBHHIII")
"""Version, kind of packet, two reserved, command, attempt, number, two empty."""
_REPLY_HEAD = struct.Struct("!BBBBHHHHHHIII")
"""Version, kind of packet, two reserved, command, kind of reply, status, three empty, number, two
empty.
"""
_REPLY_BODY = struct.Struct("!4s16sHxxHH12s9I")
"""Reference, address and its family, stratum, leap status, time of the reference, nine floats."""
IPV4, IPV6 = 1, 2
PACKET_BYTES = _REPLY_HEAD.size + _REPLY_BODY.size
"""Size of the reply. A request is padded to it, so that a forged sender cannot be flooded with
larger replies.
"""


class Tracking(msgspec.Struct, frozen=True):
    """chrony's reply, in seconds. ``slow``: by which the clock is behind; ``growth``: by which
    ``dispersion`` grows each second without a source; ``correction``: values that change with each
    correction by the source.
    """

    source: str
    stratum: int
    synchronised: bool
    slow: float
    estimated: float
    delay: float
    dispersion: float
    growth: float
    correction: tuple[float, ...]

    @property
    def greatest(self) -> float:
        """Maximum error of the clock in seconds, if its source is right, as chrony computes it."""
        return abs(self.slow) + self.dispersion + self.delay / 2


def tracking_request(number: int) -> bytes:
    """Return the packet of a request. The reply has the same ``number``."""
    return _REQUEST_HEAD.pack(VERSION, REQUEST, 0, 0, TRACKING, 0, number, 0, 0).ljust(
        PACKET_BYTES, b"\0"
    )


def parse_tracking(packet: bytes, number: int) -> Tracking | None:
    """Parse the reply to the request with that number; None if the packet is not its reply."""
    if len(packet) < PACKET_BYTES:
        return None
    head = _REPLY_HEAD.unpack_from(packet)
    fields = (head[0], head[1], head[4], head[5], head[6], head[10])
    if fields != (VERSION, REPLY, TRACKING, TRACKING_REPLY, 0, number):
        return None
    reference, address, family, stratum, leap, _, *words = _REPLY_BODY.unpack_from(
        packet, _REPLY_HEAD.size
    )
    slow, last, rms, _, residual, skew, delay, dispersion, interval = map(decode_float, words)
    return Tracking(
        source=_named(reference, address, family),
        stratum=stratum,
        synchronised=leap != UNSYNCHRONISED,
        slow=slow,
        estimated=rms,
        delay=delay,
        dispersion=dispersion,
        growth=(skew + abs(residual) + RATE_UNCERTAINTY_PPM) / 1e6,
        correction=(last, rms, interval),
    )


def decode_float(word: int) -> float:
    """Decode a float of chrony: 7 bits of exponent, 25 of coefficient, both signed.

    >>> decode_float(0x1AE10000)
    3600.0
    """
    exponent, coefficient = word >> 25, word & 0x1FFFFFF
    exponent -= (exponent >> 6) << 7
    coefficient -= (coefficient >> 24) << 25
    return float(coefficient * 2.0 ** (exponent - 25))


def _named(reference: bytes, address: bytes, family: int) -> str:
    """Return the source: its address, or the four letters of a clock on this machine."""
    if family == IPV4:
        return str(ip_address(address[:4]))
    if family == IPV6:
        return str(ip_address(address))
    letters = reference.rstrip(b"\0")
    return letters.decode("ascii") if letters.isalnum() else reference.hex().upper()


class Chrony:
    """A client of chrony at ``address``: ``host:port``, with the IP address of the host. chrony
    need not be running.
    """

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._to = host.strip("[]"), int(port)
        self._number = 0
        self._socket: socket.socket | None = None

    @property
    def is_waiting(self) -> bool:
        """Return True if a request was sent, so that a reply may arrive."""
        return self._socket is not None

    def poll(self) -> Tracking | None:
        """Return the reply to the last request, or None, and send the next request."""
        try:
            reply = self._receive()
            self._request()
        except OSError:  # no chrony is listening, or access is denied
            self.close()
            return None
        return reply

    def close(self) -> None:
        """Close the socket."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _receive(self) -> Tracking | None:
        reply = None
        while self._socket is not None:
            try:
                packet = self._socket.recv(PACKET_BYTES + 1)
            except BlockingIOError:
                break
            reply = parse_tracking(packet, self._number) or reply
        return reply

    def _request(self) -> None:
        if self._socket is None:
            kind = socket.AF_INET6 if ":" in self._to[0] else socket.AF_INET
            self._socket = socket.socket(kind, socket.SOCK_DGRAM)
            self._socket.setblocking(False)
            self._socket.connect(self._to)  # packets from other addresses are ignored
        self._number = (self._number + 1) % (1 << 32)
        self._socket.send(tracking_request(self._number))
