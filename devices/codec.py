"""The contract of a codec: bytes in, readings out, and nothing else.

A codec knows one device family's protocol. It has no clock (``now`` is handed in), does no I/O and
never logs; any split of the byte stream gives the same readings; garbage is a reading, never an
exception; the buffer is bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, Protocol

import msgspec

from devices.readings import AnyReading

Evidence = Literal["documented", "observed", "profile"]
"""How we know the protocol: from the vendor's text, from recordings only, or from a description a
site wrote.
"""


class Counters(msgspec.Struct, kw_only=True):
    """What a codec has counted since it was made."""

    bytes: int = 0
    """Bytes received. Always 0 where cards lie face down: the code of one card may be longer than
    that of another.
    """
    frames: int = 0
    """Valid frames."""
    damaged: int = 0
    """Frames or lines that were not whole."""
    unknown: int = 0
    """Whole frames of no known kind."""
    late: int = 0
    """Valid frames that arrived in a burst after a silence."""


class Codec(Protocol):
    """One device's bytes. Made anew for each device, kept across reconnects."""

    counters: Counters
    steady: bool
    """Whether the device speaks at a steady pace, so that its silence means something; one that is
    not speaks only when something happens, and never counts as stale.
    """

    @property
    def deadline(self) -> float | None:
        """The time at which ``feed(b"", now)`` wants to be called though no byte came, or None."""
        ...

    def feed(self, data: bytes, now: float) -> list[AnyReading]:
        """Take bytes that arrived at ``now`` (seconds, never going back) and give what
        they mean.
        """
        ...

    def reconnected(self, now: float) -> None:
        """The link was closed and is open again: drop half a frame, keep what is known of the
        device.
        """
        ...

    def polls(self) -> tuple[tuple[float, bytes], ...]:
        """Harmless requests the device needs, as (every so many seconds, bytes); 0 seconds: once
        after opening.
        """
        ...

    def encode(self, command: str, argument: str = "") -> bytes:
        """The bytes of a device command. Raises ``ValueError`` for a command this driver does not
        have.
        """
        ...


class Driver(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the registry in ``devices/drivers.py``."""

    name: str
    kind: Literal["wheel", "shoe", "shuffler", "dice", "slot", "any"]
    title: str
    evidence: Evidence
    line: str
    """The usual line settings, as the query of a ``serial://`` address: ``baud=9600``."""
    scheme: Literal["serial", "usb", "mqtt"] = "serial"
    """What it is: a serial port, which a device server may stand for, a USB HID device, or a topic
    of a broker.
    """
    options: type[msgspec.Struct]
    """The settings a site may give in ``[table.device.options]``: a struct with defaults."""
    games: tuple[str, ...] = ()
    """The games that it is built for, where it serves no other of its kind: what a roulette wheel
    says, a boule table cannot use. Empty: any.
    """
    commands: tuple[str, ...]
    """Commands that change the device; sent only when the site sets ``commands = true``."""
    make: Callable[[str, msgspec.Struct], Codec]
    """``make(device id, options)``: a fresh codec."""
    described: Callable[[msgspec.Struct], Driver] | None = None
    """``described(options)``: the driver that these options describe; None: it is always
    this one.
    """


Registry = Mapping[str, str]
"""Driver name -> ``"module:ATTRIBUTE"`` of its :class:`Driver`, imported when first asked for."""
