"""What chrony states of the machine's clock: its answer to ``tracking``, in the protocol of its
command port, version 6 (chrony 2.2 and later), of which this is the part that anybody may ask.

Nothing here waits: a question goes out, and its answer is there at a later look, or never.
"""

from __future__ import annotations

import socket
import struct
from ipaddress import ip_address

import msgspec

VERSION = 6
REQUEST, REPLY = 1, 2
TRACKING = 33
"""The command; 5 is the kind of its answer."""
TRACKING_REPLY = 5
RATE_UNCERTAINTY_PPM = 1.0
"""Millionths that chrony adds to what it knows of the clock's rate, unless its ``maxclockerror``
says otherwise.
"""
UNSYNCHRONISED = 3
"""The leap status of an undisciplined clock."""
_REQUEST_HEAD = struct.Struct("!BBBBHHIII")
"""Version, kind of packet, two reserved, command, attempt, number, two empty."""
_REPLY_HEAD = struct.Struct("!BBBBHHHHHHIII")
"""Version, kind of packet, two reserved, command, kind of answer, status, three empty, number, two
empty.
"""
_REPLY_BODY = struct.Struct("!4s16sHxxHH12s9I")
"""Reference, address and its family, stratum, leap status, time of the reference, nine floats."""
IPV4, IPV6 = 1, 2
PACKET_BYTES = _REPLY_HEAD.size + _REPLY_BODY.size
"""Bytes of the answer. A request is padded to this size, so that it cannot be used to flood a
forged sender.
"""


class Tracking(msgspec.Struct, frozen=True):
    """chrony's answer. Seconds; ``slow``: by which the clock is behind; ``growth``: by which
    ``dispersion`` grows each second without a source.

    ``correction``: what differs after each correction by the source.
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
        """Seconds by which the clock is wrong at most, if its source is right: chrony's own sum."""
        return abs(self.slow) + self.dispersion + self.delay / 2


def question(number: int) -> bytes:
    """The packet that asks. ``number`` comes back with the answer."""
    return _REQUEST_HEAD.pack(VERSION, REQUEST, 0, 0, TRACKING, 0, number, 0, 0).ljust(
        PACKET_BYTES, b"\0"
    )


def answer(packet: bytes, number: int) -> Tracking | None:
    """The content of a packet that answers the request with that number; None if it is no answer to
    it.
    """
    if len(packet) < PACKET_BYTES:
        return None
    head = _REPLY_HEAD.unpack_from(packet)
    told = (head[0], head[1], head[4], head[5], head[6], head[10])
    if told != (VERSION, REPLY, TRACKING, TRACKING_REPLY, 0, number):
        return None
    reference, address, family, stratum, leap, _, *words = _REPLY_BODY.unpack_from(
        packet, _REPLY_HEAD.size
    )
    slow, last, rms, _, residual, skew, delay, dispersion, interval = map(number_of, words)
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


def number_of(word: int) -> float:
    """A float as chrony sends it: 7 bits of exponent, 25 of coefficient, both signed.

    >>> number_of(0x1AE10000)
    3600.0
    """
    exponent, coefficient = word >> 25, word & 0x1FFFFFF
    exponent -= (exponent >> 6) << 7
    coefficient -= (coefficient >> 24) << 25
    return float(coefficient * 2.0 ** (exponent - 25))


def _named(reference: bytes, address: bytes, family: int) -> str:
    """The source: its address, or the four letters of a clock on this machine."""
    if family == IPV4:
        return str(ip_address(address[:4]))
    if family == IPV6:
        return str(ip_address(address))
    letters = reference.rstrip(b"\0")
    return letters.decode("ascii") if letters.isalnum() else reference.hex().upper()


class Chrony:
    """chrony at ``address``, ``host:port``, which may not be there. ``host`` is an address, no
    name.
    """

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._to = host.strip("[]"), int(port)
        self._number = 0
        self._socket: socket.socket | None = None

    @property
    def asked(self) -> bool:
        """Whether an answer may come."""
        return self._socket is not None

    def look(self) -> Tracking | None:
        """The reply to the last request, or None; sends the next request."""
        try:
            heard = self._heard()
            self._ask()
        except OSError:  # no chrony is listening, or access is denied
            self.close()
            return None
        return heard

    def close(self) -> None:
        """Let go of the socket."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _heard(self) -> Tracking | None:
        found = None
        while self._socket is not None:
            try:
                packet = self._socket.recv(PACKET_BYTES + 1)
            except BlockingIOError:
                break
            found = answer(packet, self._number) or found
        return found

    def _ask(self) -> None:
        if self._socket is None:
            kind = socket.AF_INET6 if ":" in self._to[0] else socket.AF_INET
            self._socket = socket.socket(kind, socket.SOCK_DGRAM)
            self._socket.setblocking(False)
            self._socket.connect(self._to)  # packets from other addresses are ignored
        self._number = (self._number + 1) % (1 << 32)
        self._socket.send(question(self._number))
