"""What a device says: the readings, one frozen struct each.

In JSON a reading is one object on one line, ``{"at": 12.5, "type": "wheel.phase", "device":
"wheel", ...}``. A field that has its default value is left out. ``at`` is seconds on the clock of
whoever fed the codec: the host's monotonic clock when live, the recording's own time in replay.
``frame`` is the evidence: the frame that made the reading, as received, with bytes outside
printable ASCII written as backslash escapes.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal, get_args

import msgspec

EXACT = 2**53 - 1
"""The largest whole number that every reader of JSON takes as it is. None that we read or write
lies beyond it.
"""
Whole = Annotated[int, msgspec.Meta(ge=-EXACT, le=EXACT)]
Number = Whole | str
"""A pocket of a wheel: an integer, or a string where the wheel shows more than one zero: ``"00"``,
``"000"``, ``"0000"``.
"""

Phase = Literal[
    "closed", "idle", "bets_open", "ball_in_rim", "no_more_bets", "launched", "settling", "settled"
]
"""The last but two are said of boule and of the wheel of fortune: ``launched``, the ball or the
wheel was set going; ``settling``, it is about to come to rest. ``settled`` all wheels say: it lies,
or stands, for good.
"""
Direction = Literal["clockwise", "anticlockwise"]
Witness = Literal["status", "bare", "both"]
WheelFaultName = Literal[
    "ball_removed",  # the ball is not detected any more, longer than the device's own ignore time
    "ball_not_in_track",  # the ball never entered the rim
    "ball_with_rotor",  # the ball runs the same way as the rotor
    "failed_launch",
    "ball_out",  # the ball left the wheel
    "between",  # the ball rests between two holes, or the tongue between two cells
    "too_few_turns",  # the wheel stopped before it had made the turns that it has to make
    "reversed",  # the wheel turned back
    "sensor",  # a sensor is stuck or blind, or the motor or encoder failed
    "witnesses_disagree",  # two reports of one result differ
    "number_changed",  # a number that was already reported is shown differently afterwards
    "number_unknown",  # the wheel shows a pocket that it should not have
    "self_test",
]


class Reading(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    tag_field="type",
):
    """The base of all readings."""

    at: float
    device: str = ""
    frame: str | None = None


class WheelPhase(Reading, frozen=True, tag="wheel.phase"):
    """The phase of the game as the wheel sees it; said again when spin, direction, standstill or
    ``late`` changes.

    ``spin`` is the device's own counter, not unique. ``rpm`` is the rotor's speed, ``direction``
    the rotor's. ``late`` marks a line that came after a silence, faster than the device speaks:
    true, but not live.
    """

    phase: Phase
    spin: Whole | None = None
    rpm: float | None = None
    direction: Direction | None = None
    late: bool = False


class WheelNumber(Reading, frozen=True, tag="wheel.number"):
    """The result of one spin, said once per spin.

    ``late``: the number was seen only after a silence, so it is a candidate, not a result.
    ``conflict``: what the second witness said, where it said something else.
    """

    number: Number
    spin: Whole | None = None
    late: bool = False
    witness: Witness = "status"
    conflict: Number | None = None


class WheelCell(Reading, frozen=True, tag="wheel.cell"):
    """Where the ball lies or the wheel stands, by position: hole 1 to 18 of a boule, cell 1 to 54
    or 64 of a wheel of fortune. What it is worth says the table's map. ``turns``: whole turns since
    the launch, where they were counted.
    """

    cell: Whole
    spin: Whole | None = None
    turns: Whole | None = None
    late: bool = False


class WheelFault(Reading, frozen=True, tag="wheel.fault"):
    """A fault begins (``active``) or ends. ``detail`` is the device's own code or value."""

    fault: WheelFaultName
    active: bool
    spin: Whole | None = None
    detail: str | None = None


class CardDrawn(Reading, frozen=True, tag="card.drawn"):
    """A card left the shoe. ``card`` is rank then suit (``"7h"``), or null where the device could
    not read it: nobody guesses.

    ``to`` and ``index`` are the device's own claim where the card goes, e.g. ``player`` 1;
    ``exposed``: it came out face up. ``unsure``: the report is one that a person must look at (an
    overdrawn card carried over, a card drawn outside the game).
    """

    card: str | None
    to: str | None = None
    index: Whole | None = None
    exposed: bool = False
    unsure: bool = False
    late: bool = False


class CardCut(Reading, frozen=True, tag="card.cut"):
    """The cut card has come out."""

    late: bool = False


class ShoeReset(Reading, frozen=True, tag="shoe.reset"):
    """The shoe started afresh: power, reset, or new cards. ``detail`` is what the device said."""

    detail: str | None = None


class ShoeResult(Reading, frozen=True, tag="shoe.result"):
    """The shoe's own verdict on a baccarat coup: a second witness, never the result. ``forced``:
    ended by hand at the shoe.
    """

    winner: Literal["player", "banker", "tie"] | None
    pairs: tuple[Literal["player", "banker"], ...] = ()
    forced: bool = False
    late: bool = False


ShoeFaultName = Literal[
    "unread",  # a card could not be read
    "overdraw",  # a card too many was drawn
    "button",  # the shoe's buttons were misused
    "reverse_exit",  # a card ran back at the exit
    "reverse_midway",
    "card_code",  # the card's code is none of this shoe's
    "timeout",  # a draw took too long
    "alarm",  # an alarm that the device names itself
    "warning",
]


class ShoeFault(Reading, frozen=True, tag="shoe.fault"):
    """A fault of the shoe begins (``active``) or ends. ``detail`` is the device's own code."""

    fault: ShoeFaultName
    active: bool
    detail: str | None = None


ShufflerStateName = Literal[
    "idle", "loading", "shuffling", "ready", "dealing", "unloading",
    "door_open", "jam", "recovering", "count_wrong", "set_wrong", "needs_service",
]  # fmt: skip
"""The last six, and ``recovering`` among them, are no states to deal from."""


class ShufflerState(Reading, frozen=True, tag="shuffler.state"):
    """What a shuffler does. ``detail`` is the device's own code or word."""

    state: ShufflerStateName
    detail: str | None = None
    late: bool = False


class ShufflerVerdict(Reading, frozen=True, tag="shuffler.verdict"):
    """What a shuffler says of the cards in it: that their count is right and that the set is right
    are two facts.

    ``count``: cards counted; null where it says only whether that is right. ``count_right`` and
    ``set_right`` are null where it does not judge it. ``missing`` and ``extra``: cards by name,
    where it reads them. An order is never told.
    """

    decks: Whole | None = None
    count: Whole | None = None
    count_right: bool | None = None
    set_right: bool | None = None
    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    late: bool = False


class ShufflerPacket(Reading, frozen=True, tag="shuffler.packet"):
    """A packet of ``size`` cards came out, face down. ``to`` and ``index`` are the device's own
    claim: for whom, which one.
    """

    size: Whole
    to: str | None = None
    index: Whole | None = None
    late: bool = False


class DiceState(Reading, frozen=True, tag="dice.state"):
    """Whether the dice lie, move, or have come to rest. ``throw`` is the device's own counter."""

    state: Literal["idle", "moving", "settled"]
    throw: Whole | None = None
    late: bool = False


class DiceRead(Reading, frozen=True, tag="dice.read"):
    """The upper faces of the dice at rest, said once per throw. ``late``: seen only after a
    silence, a candidate.
    """

    values: tuple[Whole, ...]
    throw: Whole | None = None
    late: bool = False


DiceFaultName = Literal[
    "no_read",  # the faces could not be read
    "cocked",  # a die leans, or lies on something
    "unchanged",  # the dice were not moved since the last throw
    "missing",  # there are fewer dice than there must be
    "extra",  # there are more
    "sensor",  # the reader or the shaker itself failed
]


class DiceFault(Reading, frozen=True, tag="dice.fault"):
    """A fault of the dice or their reader begins (``active``) or ends. ``detail`` is the device's
    own code.
    """

    fault: DiceFaultName
    active: bool
    throw: Whole | None = None
    detail: str | None = None


class SlotCoin(Reading, frozen=True, tag="slot.coin"):
    """A coin or chip of ``amount`` minor units went into the slot of box ``box``."""

    box: Whole
    amount: Whole
    late: bool = False


class DeviceReport(Reading, frozen=True, tag="device.report"):
    """What a device says about itself (``firmware``, ``mode``, ``bonus`` ...). A claim, never a
    proof.
    """

    report: str
    value: str


class DeviceRefused(Reading, frozen=True, tag="device.refused"):
    """A device answered a command with no (``no``, ``busy``)."""

    command: str
    reason: str


class LinkUp(Reading, frozen=True, tag="link.up"):
    """Frames come in: at first, and again after stale, lost or unintelligible."""


class LinkOpen(Reading, frozen=True, tag="link.open"):
    """The link of a device that speaks only when something happens was opened: nothing was heard of
    the device yet.
    """


class LinkStale(Reading, frozen=True, tag="link.stale"):
    """No valid frame for ``age`` seconds, though the link is open."""

    age: float


class LinkLost(Reading, frozen=True, tag="link.lost"):
    """The link is closed: unplugged, refused, or held by another program."""

    reason: str


class LinkUnintelligible(Reading, frozen=True, tag="link.unintelligible"):
    """Bytes arrive but no frame is among them: most often the wrong baud rate or the
    wrong driver.
    """

    bytes: Whole


class LinkGarbage(Reading, frozen=True, tag="link.garbage"):
    """Bytes that are no frame were dropped; ``frame`` shows them (the first 64). What goes on is
    gathered, and told seldom.
    """

    bytes: Whole


class LinkLate(Reading, frozen=True, tag="link.late"):
    """``frames`` frames came in a burst after ``silence`` seconds without any; none of them was
    acted upon.
    """

    frames: Whole
    silence: float


class LinkGap(Reading, frozen=True, tag="link.gap"):
    """Something that the device said never came whole: ``lost`` reports at least. A card may have
    gone unseen.
    """

    lost: Whole


AnyReading = (
    WheelPhase
    | WheelNumber
    | WheelCell
    | WheelFault
    | CardDrawn
    | CardCut
    | ShoeReset
    | ShoeResult
    | ShoeFault
    | ShufflerState
    | ShufflerVerdict
    | ShufflerPacket
    | DiceState
    | DiceRead
    | DiceFault
    | SlotCoin
    | DeviceReport
    | DeviceRefused
    | LinkUp
    | LinkOpen
    | LinkStale
    | LinkLost
    | LinkUnintelligible
    | LinkGarbage
    | LinkLate
    | LinkGap
)

READINGS: tuple[type[Reading], ...] = get_args(AnyReading)


_ESCAPED = re.compile(r"(?:[^\\\u0100-\U0010ffff]|\\[\\tnr]|\\x[0-9A-Fa-f]{2})*")


def escape(data: bytes) -> str:
    r"""Bytes as one printable line: printable ASCII stays, a backslash is doubled, the rest is
    ``\xNN``, ``\r``, ``\n``.

    >>> escape(b"*X;2\r\n\xff")
    '*X;2\\r\\n\\xff'
    """
    return data.decode("latin-1").encode("unicode_escape").decode("ascii")


def unescape(text: str) -> bytes:
    """The inverse of :func:`escape`. Raises ``ValueError`` for a bad escape or a character above
    255.
    """
    if not _ESCAPED.fullmatch(text):
        raise ValueError(
            r"a backslash starts \\, \t, \n, \r or \xNN, and no character is above 255"
        )
    return text.encode("latin-1").decode("unicode_escape").encode("latin-1")
