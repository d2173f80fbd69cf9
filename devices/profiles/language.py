r"""What a profile may say: the sections of its TOML file as structs. The whole language, with an
example: ``docs/profiles.md``.

Bytes are written as text: the character ``\u0002`` is the byte 02, and there is none above
``\u00ff``.
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
        description="a text of characters from \\u0000 to \\u00ff, one for each byte",
    ),
]
Slug = Annotated[
    str,
    Meta(
        pattern=r"^[a-z0-9]+(-[a-z0-9]+)*\Z",
        description="a name of a-z, 0-9 and single hyphens between them",
    ),
]
Text = Annotated[str, Meta(min_length=1, description="a text that is not empty")]
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
"""Of a check, which may have 64 bits: no bound of that size can be stated here. What does not fit
in it is not sound.
"""
Seconds = Annotated[float, Meta(ge=0, le=3600, description="seconds, 0 to 3600")]
Conditions = dict[str, Any]
"""Field -> the value it must have, or a list of those it may have. The empty text stands for a
field that is not there.
"""


class _Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


class Framing(_Section, frozen=True):
    """``[framing]``: where a frame begins and ends. ``form`` decides which of the other keys have a
    meaning.

    ``longest``: bytes of the longest frame, which bounds the buffer. ``body``: the part that fields
    count in, from and to. ``gap``: what is dropped may have been a report. ``shown``: dropped bytes
    are shown; not by default where cards may lie face down.
    """

    form: Literal["line", "marks", "length", "fixed"] = "line"
    longest: Annotated[int, Meta(ge=2, le=4096, description="a whole number from 2 to 4096")] = 256
    body: tuple[Offset, Offset] = (0, 0)
    gap: bool = False
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


class Crc(_Section, frozen=True):
    """``[checksum.crc]``: a CRC by its parameters, as catalogues of CRCs give them."""

    width: Annotated[int, Meta(ge=8, le=64, multiple_of=8, description="8, 16, 24, ... or 64 bits")]
    polynomial: Word
    initial: Word = 0
    final_xor: Word = 0
    reflected_in: bool = False
    reflected_out: bool = False


class Checksum(_Section, frozen=True):
    """``[checksum]``: the check of every frame. ``at``: where it stands, negative from the end; or
    ``field``, a piece between ``separator``. It covers the bytes ``from`` there to as many as
    ``short`` before it.
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
    crc: Crc | None = None


class Field(_Section, frozen=True):
    """``[fields.NAME]`` or ``[message.fields.NAME]``: a part of a frame, and what it is taken for.
    See ``docs/profiles.md``.
    """

    at: Offset | None = None
    of: str = ""
    value: Any = None
    width: Size | None = None
    fixed: Bytes = msgspec.field(default="", name="is")
    strip: bool = False
    blank: Bytes | None = None
    encoding: Literal["text", "decimal", "hex", "big", "little"] = "text"
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


class Say(_Section, frozen=True):
    """``[[say]]`` or ``[[message.say]]``: one reading, what is in it, and when it is said.
    ``twice``: only where the message before of the same name said the same.
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


class Message(_Section, frozen=True):
    """``[[message]]``: one kind of frame. All that is given must fit; the first message that fits
    is taken.

    ``unknown``: whole, but of a kind that nobody knows; tried when no other fits. ``whole``: only
    where the line was seen from its beginning on. ``beat``: the frame that comes at a steady pace.
    ``restarts``: the device began anew, and its numbers do.
    """

    name: Text
    part: str = msgspec.field(default="", name="in")
    match: str = ""
    starts: Bytes = ""
    separator: Bytes | None = None
    pieces: Size | None = None
    length: Size | None = None
    fields: dict[str, Field] = {}
    when: Conditions = {}
    unless: Conditions = {}
    unknown: bool = False
    whole: bool = False
    beat: bool = False
    restarts: bool = False
    say: tuple[Say, ...] = ()


class Sequence(_Section, frozen=True):
    """``[sequence]``: numbers that rise by one, ``last`` followed by ``first``. ``copies``: a frame
    that is the same as one of so many before it is a copy of it.
    """

    field: str
    last: Whole
    first: Whole = 0
    copies: Annotated[int, Meta(ge=0, le=64, description="a whole number from 0 to 64")] = 0


class Pace(_Section, frozen=True):
    """``[pace]``: what is late. ``draw``: seconds between two of the ``draws`` at least;
    ``period``: seconds between two beats.
    """

    draw: Seconds = 0.0
    draws: tuple[str, ...] = ("card.drawn",)
    period: Seconds = 0.0


class Poll(_Section, frozen=True):
    """``[[poll]]``: a harmless request, sent ``every`` so many seconds; 0: once after opening."""

    send: Bytes
    every: Seconds = 0.0


class Command(_Section, frozen=True):
    """``[command.NAME]``: bytes that change the device; ``{argument}`` and ``{checksum}`` are
    filled in.

    The argument is a whole number from ``min`` to ``max``, with ``digits`` digits at least.
    """

    send: Bytes
    min: Whole | None = None
    max: Whole | None = None
    digits: Annotated[int, Meta(ge=1, le=20)] = 1


class Profile(_Section, frozen=True):
    """The whole file."""

    name: Slug
    kind: Literal["wheel", "shoe", "shuffler", "dice", "slot"]
    title: Text
    source: Text
    message: tuple[Message, ...]
    evidence: Evidence = "profile"
    scheme: Literal["serial", "usb"] = "serial"
    line: str = ""
    steady: bool = False
    separator: Bytes = ""
    framing: Framing = Framing()
    checksum: Checksum | None = None
    sequence: Sequence | None = None
    pace: Pace = Pace()
    maps: dict[str, dict[str, Any]] = {}
    fields: dict[str, Field] = {}
    say: tuple[Say, ...] = ()
    poll: tuple[Poll, ...] = ()
    command: dict[str, Command] = {}
