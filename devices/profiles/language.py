r"""The sections of a profile's TOML file as structs. ``docs/technician/profiles.md`` explains them,
with an example.

Bytes are written as text: the character ``\u0002`` is the byte 02; characters above ``\u00ff`` are
not allowed.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from devices.codec import Evidence

Bytes = Annotated[
    str,
    Meta(
        pattern="^[\x00-\xff]*$",
        description="a string of characters from \\u0000 to \\u00ff, one per byte",
    ),
]
Slug = Annotated[
    str,
    Meta(
        pattern=r"^[a-z0-9]+(-[a-z0-9]+)*\Z",
        description="a name of a-z and 0-9, with single hyphens between them",
    ),
]
Text = Annotated[str, Meta(min_length=1, description="a non-empty string")]
Size = Annotated[int, Meta(ge=1, le=4096, description="a whole number from 1 to 4096")]
Count = Annotated[int, Meta(ge=0, le=4096, description="a whole number from 0 to 4096")]
Offset = Annotated[int, Meta(ge=-4096, le=4096, description="a whole number from -4096 to 4096")]
Factor = Annotated[
    int,
    Meta(ge=-(1 << 31), le=1 << 31, description="a whole number from -2147483648 to 2147483648"),
]
Signed = Annotated[
    int, Meta(ge=-(1 << 63), le=(1 << 63) - 1, description="a whole number of 64 bits")
]
Whole = Annotated[
    int, Meta(ge=0, le=(1 << 63) - 1, description="a whole number of 63 bits, 0 or more")
]
Word = Annotated[int, Meta(ge=0, description="a whole number, 0 or more")]
"""A checksum may have 64 bits, more than can be bounded here. The soundness check finds a value
that does not fit.
"""
Seconds = Annotated[float, Meta(ge=0, le=3600, description="seconds, 0 to 3600")]
Conditions = dict[str, Any]
"""Field -> its required value, or a list of allowed values. The empty string means that the field
is absent.
"""


class _ProfileSection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


class FramingSpec(_ProfileSection, frozen=True):
    """``[framing]``: where a frame begins and ends. ``form`` decides which other keys apply.

    ``longest``: maximum size of a frame, which limits the buffer. ``body``: the part of the frame
    in which positions are counted, from and to. ``gap``: bytes that are no known frame may have
    been a report; by default where cards are drawn. ``shown``: show dropped bytes; by default not
    where cards may be face down.
    """

    form: Literal["line", "marks", "length", "fixed", "json"] = "line"
    longest: Annotated[int, Meta(ge=2, le=4096, description="a whole number from 2 to 4096")] = 256
    body: tuple[Offset, Offset] = (0, 0)
    gap: bool | None = None
    shown: bool | None = None
    # line
    ends: Bytes = "\r\n"
    find: str = ""
    before: str = ""
    behind: str = ""
    resync: Bytes = ""
    # marks, length, fixed
    start: Bytes = ""
    ignore: Bytes = ""
    within: Seconds = 0.0
    # marks
    end: Bytes = ""
    tail: Count = 0
    escape: Bytes = ""
    escape_xor: Annotated[int, Meta(ge=0, le=255)] = 0
    # length
    at: Count = 0
    width: Literal[1, 2, 4] = 1
    order: Literal["big", "little"] = "big"
    adds: Offset = 0
    # fixed
    length: Count = 0


class CrcSpec(_ProfileSection, frozen=True):
    """``[checksum.crc]``: a CRC by its parameters, as in catalogues of CRCs."""

    width: Annotated[int, Meta(ge=8, le=64, multiple_of=8, description="8, 16, 24, ... or 64 bits")]
    polynomial: Word
    initial: Word = 0
    final_xor: Word = 0
    reflected_in: bool = False
    reflected_out: bool = False


class ChecksumSpec(_ProfileSection, frozen=True):
    """``[checksum]``: the checksum of every frame. ``at``: its position, negative from the end; or
    ``field``, its piece between ``separator``. It covers the bytes from ``from`` up to ``short``
    bytes before it.
    """

    kind: str
    at: Offset | None = None
    field: Offset | None = None
    separator: Bytes = ""
    first: Count = msgspec.field(default=0, name="from")
    short: Count = 0
    encoding: Literal["hex", "big", "little"] = "hex"
    width: Annotated[int, Meta(ge=0, le=16)] = 0
    keep: Word | None = None
    set: Word = 0
    crc: CrcSpec | None = None


class FieldSpec(_ProfileSection, frozen=True):
    """``[fields.NAME]`` or ``[message.fields.NAME]``: a part of a frame, and how to decode it. See
    ``docs/technician/profiles-reference.md``.
    """

    at: Offset | None = None
    of: str = ""
    value: Any = None
    width: Size | None = None
    fixed: Bytes = msgspec.field(default="", name="is")
    strip: bool = False
    blank: Bytes | None = None
    encoding: Literal["text", "decimal", "hex", "bcd", "big", "little"] = "text"
    signed: bool = False
    double_zero: Bytes | None = None
    bits: tuple[Annotated[int, Meta(ge=0, le=63)], Annotated[int, Meta(ge=1, le=64)]] | None = None
    min: Signed | None = None
    max: Signed | None = None
    times: Factor = 1
    plus: Factor = 0
    decimals: Annotated[int, Meta(ge=0, le=9)] = 0
    map: str | dict[str, Any] | None = None
    otherwise: Any = None
    optional: bool = False
    keep: bool = False


class ReadingSpec(_ProfileSection, frozen=True):
    """``[[say]]`` or ``[[message.say]]``: a reading, its content, and when to report it. ``twice``:
    only if the previous message of the same name gave the same reading.
    """

    reading: str = ""
    fill: dict[str, Any] = msgspec.field(default_factory=dict, name="with")
    when: Conditions = {}
    unless: Conditions = {}
    changed: tuple[str, ...] = ()
    twice: bool | None = None
    stands: str = ""
    ends: str = ""
    forgets: str = ""
    live: bool = False
    frame: bool | None = None


class MessageSpec(_ProfileSection, frozen=True):
    """``[[message]]``: a kind of frame. All its keys must fit; the first message that fits is used.

    ``unknown``: a valid frame of an unknown kind; tried if no other message fits. ``whole``: only
    if the line was received from its beginning. ``beat``: the frame that is sent at a steady pace.
    ``restarts``: the device and its numbers were restarted. ``gap``: such a frame may have been a
    report of another kind; by default an unknown one.
    """

    name: Text
    part: str = msgspec.field(default="", name="in")
    match: str = ""
    starts: Bytes = ""
    separator: Bytes | None = None
    pieces: Size | None = None
    length: Size | None = None
    fields: dict[str, FieldSpec] = {}
    when: Conditions = {}
    unless: Conditions = {}
    unknown: bool = False
    whole: bool = False
    beat: bool = False
    restarts: bool = False
    gap: bool | None = None
    say: tuple[ReadingSpec, ...] = ()


class SequenceSpec(_ProfileSection, frozen=True):
    """``[sequence]``: numbers that increase by one; ``last`` is followed by ``first``. ``copies``:
    a frame equal to one of this many previous frames is a copy.
    """

    field: str
    last: Whole
    first: Whole = 0
    copies: Annotated[int, Meta(ge=0, le=64, description="a whole number from 0 to 64")] = 0


class PaceSpec(_ProfileSection, frozen=True):
    """``[pace]``: when readings are late. ``draw``: minimum seconds between two of the ``draws``;
    ``period``: seconds between two beats.
    """

    draw: Seconds = 0.0
    draws: tuple[str, ...] = ("card.drawn",)
    period: Seconds = 0.0


class PollSpec(_ProfileSection, frozen=True):
    """``[[poll]]``: a harmless request, sent every ``every`` seconds; 0: once after opening."""

    send: Bytes
    every: Seconds = 0.0


class CommandSpec(_ProfileSection, frozen=True):
    """``[command.NAME]``: bytes that change the device; ``{argument}`` and ``{checksum}`` are
    filled in.

    The argument is a whole number from ``min`` to ``max``, padded to ``digits`` digits. ``when``:
    the daemon sends it by itself, with the number of the table's round: ``after`` seconds after the
    bets were closed, then every ``every`` seconds, at most ``times`` times, until the device
    reports that round.
    """

    send: Bytes
    min: Whole | None = None
    max: Whole | None = None
    digits: Annotated[int, Meta(ge=1, le=20)] = 1
    when: Literal["", "bets_closed"] = ""
    after: Annotated[float, Meta(ge=0, le=120, description="seconds, 0 to 120")] = 0.0
    every: Annotated[float, Meta(ge=0, le=120, description="seconds, 0 to 120")] = 0.0
    times: Annotated[int, Meta(ge=1, le=20, description="a whole number from 1 to 20")] = 1


class Profile(_ProfileSection, frozen=True):
    """The complete file."""

    name: Slug
    kind: Literal["wheel", "shoe", "shuffler", "dice", "slot"]
    title: Text
    source: Text
    message: tuple[MessageSpec, ...]
    evidence: Evidence = "profile"
    scheme: Literal["serial", "usb", "mqtt", "http"] = "serial"
    line: str = ""
    steady: bool = False
    separator: Bytes = ""
    framing: FramingSpec = FramingSpec()
    checksum: ChecksumSpec | None = None
    sequence: SequenceSpec | None = None
    pace: PaceSpec = PaceSpec()
    maps: dict[str, dict[str, Any]] = {}
    fields: dict[str, FieldSpec] = {}
    say: tuple[ReadingSpec, ...] = ()
    poll: tuple[PollSpec, ...] = ()
    command: dict[str, CommandSpec] = {}
