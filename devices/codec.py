"""The contract of a codec: bytes in, readings out, and nothing else.

A codec knows the protocol of one device family. It has no clock (``now`` is passed in), does no I/O
and never logs. Splitting the byte stream differently does not change the readings. Garbage produces
a reading, never an exception. Its buffer is bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import Any, Literal, Protocol, runtime_checkable

import msgspec

from common.device_health import Counters
from common.readings import AnyReading, DamagedBytes

Evidence = Literal["documented", "observed", "profile"]
"""Source of our knowledge of the protocol: the vendor's document, only recordings, or a profile
that a site wrote.
"""


class FrameProof(IntEnum):
    """How strongly one valid frame proves that it comes from the device that the codec decodes, and
    not from a device server or another device.
    """

    TEXT = 0
    """Nothing: any line of text is a frame."""
    FORM = 1
    """The frame has a form or content that hardly any other device sends."""
    CHECKED = 2
    """The frame has a correct checksum."""


class Codec(Protocol):
    """Decodes one device. One object per device, kept across reconnects."""

    counters: Counters
    steady: bool
    """Whether the device repeats itself at a steady pace, so that silence means a fault. A device
    that is not steady sends only when something happens and never becomes stale.
    """

    @property
    def proof(self) -> FrameProof:
        """The minimum that a frame proves which is counted in ``counters.frames``."""
        ...

    @property
    def deadline(self) -> float | None:
        """When to call ``feed(b"", now)`` even if no byte has arrived. None: never."""
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
"""Bytes that lay unread for longer than this are treated as if they had waited on the wire: what
was true five seconds ago must not be acted upon.
"""


@runtime_checkable
class DelayAware(Protocol):
    """A codec that distinguishes our own delay from a delay on the wire. Without this, what arrives
    after this process was not scheduled is treated as if it had waited on the wire.
    """

    def delayed(self, since: float, now: float) -> None:
        """The bytes fed next, at ``now``, arrived at an unknown time from ``since`` on: the port
        was not polled in between. Treat them as live only if the protocol proves it.
        """
        ...


OPENING_SECONDS = 1.0
"""Time after opening in which bytes count as kept, unless the codec states its own."""


@runtime_checkable
class KeptBytesAware(Protocol):
    """A codec that accounts for kept bytes: those that a device server may have stored until a
    client connected, or the kernel while the machine was suspended or this process did not read for
    longer than :data:`MAX_LIVE_DELAY_SECONDS`. The watch marks the readings of such bytes as late
    in any case; this codec also uses them to judge the bytes that follow.
    """

    @property
    def opening(self) -> float | None:
        """Time after opening, in seconds, in which all bytes count as kept. None: the first bytes
        do, however long after opening, and the codec recognises by the device's pace when the
        backlog is over.
        """
        ...

    def kept(self, now: float) -> None:
        """The bytes fed next, at ``now``, may have been kept for any time: they are not live."""
        ...


@runtime_checkable
class GreetingAware(Protocol):
    """A codec for which any line of text may be a frame. It must not mistake a device server's
    banner or refusal for data of the device.
    """

    def opened(self, now: float) -> None:
        """The link was opened. Text that proves nothing is dropped for the next
        :data:`GREETING_SECONDS` seconds.
        """
        ...


GREETING_SECONDS = 1.0
"""Time after opening in which a device server may greet or refuse its client."""

STABLE_LINK_SECONDS = 5.0
"""Time after which an open link counts as stable. A link that ended sooner, without a valid frame,
was not a connection with the device.
"""


DAMAGE_SUBSTITUTE = b"\xff"
"""Byte fed to a codec in place of a damaged byte, unless the codec is :class:`DamageAware`: no text
frame contains it, so the frame is dropped. ``tests/devices/test_damage.py`` checks this for every
driver.
"""


@runtime_checkable
class DamageAware(Protocol):
    """A codec in whose protocol the byte FF may be part of a frame."""

    def damaged(self, byte: bytes, now: float) -> list[AnyReading]:
        """Handle a byte that arrived at ``now`` and was damaged on the line. Its frame is not
        valid.
        """
        ...


def feed(codec: Codec, data: bytes, now: float) -> list[AnyReading]:
    """Feed bytes to a codec; some may be marked as damaged
    (:class:`common.readings.DamagedBytes`).
    """
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
    """A codec that chooses its next request by the answers, for a line on which only one side may
    send at a time. Its requests depend only on the calls made to it, so a replay produces the same
    requests.
    """

    own: int
    """Bytes of our own requests that were echoed on the line since the codec was created: neither a
    sign of the device nor noise.
    """

    def ask(self, now: float) -> bytes:
        """Return the harmless request to send now; empty: none is due. Call it at ``deadline``. A
        returned request counts as sent.
        """
        ...


class RoundRequest(msgspec.Struct, frozen=True):
    """A command that asks a device about a round of its table, with the round's number as argument.
    It is sent ``after`` seconds after the bets were closed, then every ``every`` seconds, at most
    ``times`` times, until the device reports that round.
    """

    command: str
    after: float = 0.0
    every: float = 0.0
    times: int = 1


class Driver(msgspec.Struct, frozen=True, kw_only=True):
    """One driver, as registered in ``devices/drivers.py``."""

    name: str
    kind: Literal["wheel", "shoe", "shuffler", "dice", "slot", "any"]
    title: str
    evidence: Evidence
    line: str
    """The usual line settings, as the query of a ``serial://`` address: ``baud=9600``."""
    scheme: Literal["serial", "usb", "mqtt", "http"] = "serial"
    """How the device is connected: a serial port (also behind a device server), USB HID, a topic of
    an MQTT broker, or requests that it posts.
    """
    options: type[msgspec.Struct]
    """The settings allowed in ``[table.device.options]``: a struct with defaults."""
    framings: tuple[Mapping[str, Any], ...] = ({},)
    """Options that change which bytes are frames: each is tried to identify a device. Empty: only a
    site can say what its frames are.
    """
    games: tuple[str, ...] = ()
    """Games that the device is built for: a boule table cannot use a roulette wheel. Empty: any
    game.
    """
    commands: tuple[str, ...]
    """Commands that change the device. They are sent only if the site sets ``commands = true``."""
    requests: tuple[RoundRequest, ...] = ()
    """Those of its commands that the daemon itself sends when bets are closed."""
    parameters: tuple[str, ...] = ()
    """Parameters that the device states if the option ``ask`` is set."""
    make: Callable[[str, msgspec.Struct], Codec]
    """``make(device id, options)`` returns a new codec."""
    blind: Callable[[msgspec.Struct], str | None] = lambda _: None
    """``blind(options)``: why a device with these options can never give a result, and what to do;
    None if it can.
    """
    unsafe: Callable[[msgspec.Struct], str | None] = lambda _: None
    """``unsafe(options)``: which of these options lets a report be lost without a question to a
    person, and what to do; None if none does.
    """
    described: Callable[[msgspec.Struct], Driver] | None = None
    """``described(options)`` returns the driver that these options describe. None: always this
    driver.
    """


Registry = Mapping[str, str]
"""Driver name -> ``"module:ATTRIBUTE"`` of its :class:`Driver`. The module is imported on first
use.
"""
