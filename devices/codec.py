"""The contract of a codec: bytes in, readings out, and nothing else.

A codec knows the protocol of one device family. It has no clock (``now`` is passed in), does no I/O
and never logs. Splitting the byte stream differently does not change the readings. Garbage produces
a reading, never an exception. Its buffer is bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import Literal, Protocol, runtime_checkable

import msgspec

from devices.readings import AnyReading, DamagedBytes, Whole

Evidence = Literal["documented", "observed", "profile"]
"""How we know the protocol: from the vendor's document, from recordings only, or from a profile
that a site wrote.
"""


class FrameProof(IntEnum):
    """How well one valid frame proves that it comes from the device that the codec decodes, and not
    from a device server or another device.
    """

    TEXT = 0
    """Nothing: any line of text is a frame."""
    FORM = 1
    """The frame has a form or a content that hardly anything else sends."""
    CHECKED = 2
    """The frame has a check sum, and it is right."""


class Counters(msgspec.Struct, kw_only=True):
    """What a codec has counted since it was made."""

    bytes: Whole = 0
    """Bytes received. Always 0 where cards lie face down: the code of one card may be longer than
    that of another.
    """
    frames: Whole = 0
    """Valid frames."""
    damaged: Whole = 0
    """Frames or lines that were not whole."""
    unknown: Whole = 0
    """Whole frames of no known kind."""
    late: Whole = 0
    """Valid frames that may have waited before they were delivered."""


class Codec(Protocol):
    """Decodes one device. Made once per device and kept across reconnects."""

    counters: Counters
    steady: bool
    """Whether the device repeats itself at a steady pace, so that silence means a fault. A device
    that is not steady sends only when something happens and never becomes stale.
    """

    @property
    def proof(self) -> FrameProof:
        """What a frame proves that it counts in ``counters.frames``, at the least."""
        ...

    @property
    def deadline(self) -> float | None:
        """When to call ``feed(b"", now)`` even if no byte has arrived. None: no need."""
        ...

    def feed(self, data: bytes, now: float) -> list[AnyReading]:
        """Decode bytes that arrived at ``now`` (seconds; never decreases)."""
        ...

    def reconnected(self, now: float) -> None:
        """The link was reopened. Drop any partial frame; keep what is known of the device."""
        ...

    def polls(self) -> tuple[tuple[float, bytes], ...]:
        """Harmless requests to send, as (interval in seconds, bytes). Interval 0: once after
        opening.
        """
        ...

    def encode(self, command: str, argument: str = "") -> bytes:
        """The bytes of a device command. Raises ``ValueError`` if the driver does not have this
        command.
        """
        ...


MAX_LIVE_DELAY_SECONDS = 5.0
"""Seconds. If bytes lay unread for longer, what arrived is judged as if it had waited on the wire:
what was true five seconds ago must not be acted upon.
"""


@runtime_checkable
class DelayAware(Protocol):
    """A codec that can tell our own delay from that of the wire. Without this, what arrives after
    we were not scheduled is judged as if it had waited on the wire.
    """

    def delayed(self, since: float, now: float) -> None:
        """What is fed next, at ``now``, arrived at any time from ``since`` on: nobody looked in
        between. It may be taken for live only if that is proved.
        """
        ...


OPENING_SECONDS = 1.0
"""Seconds after opening in which what arrives counts as kept, for a codec that does not say
otherwise.
"""


@runtime_checkable
class KeptBytesAware(Protocol):
    """A codec that accounts for bytes that may have been kept for any time: by a device server
    until a client connected, or by the kernel while the machine was suspended or we did not read
    for longer than :data:`MAX_LIVE_DELAY_SECONDS`. The watch marks the readings of such bytes as
    late in any case; this codec also judges by them what follows.
    """

    @property
    def opening(self) -> float | None:
        """Seconds after opening in which whatever arrives counts as kept. None: the first bytes do,
        however long after opening, and the codec tells by the device's pace when that is over.
        """
        ...

    def kept(self, now: float) -> None:
        """What is fed next, at ``now``, may have been kept for any time: none of it is live."""
        ...


@runtime_checkable
class GreetingAware(Protocol):
    """A codec to which any line of text may be a frame. It must not take what a device server says
    at connecting (a banner, a refusal) for what the device says.
    """

    def opened(self, now: float) -> None:
        """The link was opened. Text that proves nothing is dropped for the next
        :data:`GREETING_SECONDS` seconds.
        """
        ...


GREETING_SECONDS = 1.0
"""Seconds after opening in which a device server greets or refuses its client."""

STABLE_LINK_SECONDS = 5.0
"""Seconds after which an open link has lasted. One that ended sooner, without a valid frame, was no
connection with the device.
"""


DAMAGE_SUBSTITUTE = b"\xff"
"""What a codec is fed in place of a damaged byte, unless it takes damage itself: no frame of text
has it, so the frame is dropped. ``tests/devices/test_damage.py`` shows it of every driver.
"""


@runtime_checkable
class DamageAware(Protocol):
    """A codec to which the byte FF may be part of a frame."""

    def damaged(self, byte: bytes, now: float) -> list[AnyReading]:
        """Take a byte that arrived at ``now`` and was damaged on the line. The frame that it
        belongs to is not valid.
        """
        ...


def feed(codec: Codec, data: bytes, now: float) -> list[AnyReading]:
    """Have a codec decode bytes of which some may be :class:`devices.readings.DamagedBytes`."""
    if not isinstance(data, DamagedBytes):
        return codec.feed(data, now)
    readings: list[AnyReading] = []
    begin = 0
    for at in data.damaged:
        readings += codec.feed(data[begin:at], now)
        byte = data[at : at + 1]
        readings += (
            codec.damaged(byte, now)
            if isinstance(codec, DamageAware)
            else codec.feed(DAMAGE_SUBSTITUTE, now)
        )
        begin = at + 1
    return readings + codec.feed(data[begin:], now)


@runtime_checkable
class RequestingCodec(Protocol):
    """A codec that decides by the answers what to ask next: for a line on which only one may speak
    at a time. What it asks depends on the calls made to it alone, so that a replay asks the same.
    """

    own: int
    """Bytes of our own requests that came back on the line, since it was made: neither a sign of
    the device nor noise.
    """

    def ask(self, now: float) -> bytes:
        """The harmless request to send now; empty: none is due. ``deadline`` says when to call it.
        One that was returned counts as sent.
        """
        ...


class Driver(msgspec.Struct, frozen=True, kw_only=True):
    """One driver, as registered in ``devices/drivers.py``."""

    name: str
    kind: Literal["wheel", "shoe", "shuffler", "dice", "slot", "any"]
    title: str
    evidence: Evidence
    line: str
    """The usual line settings, as the query of a ``serial://`` address: ``baud=9600``."""
    scheme: Literal["serial", "usb", "mqtt"] = "serial"
    """How the device is connected: a serial port (also behind a device server), USB HID, or a topic
    of an MQTT broker.
    """
    options: type[msgspec.Struct]
    """The settings allowed in ``[table.device.options]``: a struct with defaults."""
    games: tuple[str, ...] = ()
    """The games that the device is built for; a boule table cannot use a roulette wheel. Empty: any
    game.
    """
    commands: tuple[str, ...]
    """Commands that change the device. They are sent only if the site sets ``commands = true``."""
    make: Callable[[str, msgspec.Struct], Codec]
    """``make(device id, options)`` returns a new codec."""
    blind: Callable[[msgspec.Struct], str | None] = lambda _: None
    """``blind(options)``: why no result can ever come of a device with these options, and what to
    do; None: it can.
    """
    described: Callable[[msgspec.Struct], Driver] | None = None
    """``described(options)`` returns the driver that these options describe. None: always this
    driver.
    """


Registry = Mapping[str, str]
"""Driver name -> ``"module:ATTRIBUTE"`` of its :class:`Driver`. The module is imported on first
use.
"""
