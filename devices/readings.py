"""The readings: what a device reports, one frozen struct each.

In JSON a reading is one object on one line, ``{"at": 12.5, "type": "wheel.phase", "device":
"wheel", ...}``. A field that has its default value is left out.
"""

from __future__ import annotations

import codecs
import re
from typing import Annotated, Literal, get_args

import msgspec

MAX_EXACT_INTEGER = 2**53 - 1
"""The largest integer that every reader of JSON takes exactly. We neither read nor write a larger
one.
"""
Whole = Annotated[int, msgspec.Meta(ge=-MAX_EXACT_INTEGER, le=MAX_EXACT_INTEGER)]
Number = Whole | str
"""A pocket of a wheel: an integer, or a string where the wheel shows more than one zero: ``"00"``,
``"000"``, ``"0000"``.
"""

Phase = Literal[
    "closed", "idle", "bets_open", "ball_in_rim", "no_more_bets", "launched", "settling", "settled"
]
"""``launched`` and ``settling`` are of boule and the wheel of fortune: the ball or the wheel was
set going, or is about to come to rest. ``settled`` is of all wheels: it has come to rest.
"""
Direction = Literal["clockwise", "anticlockwise"]
Witness = Literal["status", "bare", "both"]
WheelFaultName = Literal[
    "ball_removed",  # the ball is no longer detected, for longer than the device's ignore time
    "ball_not_in_track",  # the ball never entered the rim
    "ball_with_rotor",  # the ball runs the same way as the rotor
    "failed_launch",
    "ball_out",  # the ball left the wheel
    "between",  # the ball rests between two holes, or the tongue between two cells
    "too_few_turns",  # the wheel stopped before it had made the turns it must make
    "reversed",  # the wheel turned back
    "sensor",  # a sensor is stuck or blind, or the motor or encoder failed
    "witnesses_disagree",  # two reports of one result differ
    "number_changed",  # the wheel now shows another number than it reported
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
    """The base of all readings: when, from which device, and on what evidence."""

    at: float
    """Seconds on the clock of whoever fed the codec: the host's monotonic clock when live, the
    recording's own time in replay.
    """
    device: str = ""
    """The device's id in the configuration."""
    frame: str | None = None
    """The evidence: the frame that made the reading, as received. Bytes outside printable ASCII are
    backslash escapes. Null where no single frame made it.
    """
    reading: Whole | None = None
    """Its number, counted from 1 by its table where cards are dealt: events name it as their
    evidence. Null at other tables, of a link, and until a table has taken it.
    """


class WheelPhase(Reading, frozen=True, tag="wheel.phase"):
    """The phase of the game as the wheel sees it changed, or the spin, direction, standstill or
    ``late`` did.
    """

    phase: Phase
    """What the wheel is doing."""
    spin: Whole | None = None
    """The wheel's own count of spins. It restarts, so it is not unique."""
    rpm: float | None = None
    """The rotor's speed in revolutions per minute; null where the device does not report it."""
    direction: Direction | None = None
    """The direction in which the rotor turns, seen from above; null where the device does not
    report it.
    """
    late: bool = False
    """It may have waited before it was delivered: true, but not live."""


class WheelNumber(Reading, frozen=True, tag="wheel.number"):
    """The result of one spin, sent once per spin."""

    number: Number
    """The pocket: an integer, or ``"00"``, ``"000"`` or ``"0000"`` where a wheel has more than one
    zero.
    """
    spin: Whole | None = None
    """The wheel's own count of spins. It restarts, so it is not unique."""
    late: bool = False
    """It may have waited before it was delivered: a candidate, not a result."""
    witness: Witness = "status"
    """Which of the wheel's two reports gave the number."""
    conflict: Number | None = None
    """What the second report gave, where it differs."""


class WheelCell(Reading, frozen=True, tag="wheel.cell"):
    """Where the ball rests or the wheel stands, by position. The table's own map says what the
    position is worth.
    """

    cell: Whole
    """The hole, 1 to 18, of a boule; the cell, 1 to 54 or 64, of a wheel of fortune."""
    spin: Whole | None = None
    """The device's own count of spins. It restarts, so it is not unique."""
    turns: Whole | None = None
    """Whole turns since the launch; null where they were not counted."""
    late: bool = False
    """It may have waited before it was delivered: a candidate, not a result."""


class WheelFault(Reading, frozen=True, tag="wheel.fault"):
    """A fault of the wheel begins or ends."""

    fault: WheelFaultName
    """What is wrong."""
    active: bool
    """``true`` when the fault begins, ``false`` when it ends."""
    spin: Whole | None = None
    """The wheel's own count of spins. It restarts, so it is not unique."""
    detail: str | None = None
    """The device's own code or value."""


class CardDrawn(Reading, frozen=True, tag="card.drawn"):
    """A card left the shoe."""

    card: str | None
    """The card, rank then suit: ``"7h"``. Null where the device could not read it; nobody
    guesses.
    """
    to: str | None = None
    """The hand that the card is for, as the device claims: ``player``."""
    index: Whole | None = None
    """Which card of that hand, from 1, as the device claims."""
    exposed: bool = False
    """The card came out face up."""
    unsure: bool = False
    """A person must look at the card: an overdrawn card carried over, or a card drawn outside the
    game.
    """
    late: bool = False
    """It may have been drawn earlier: true, but not live."""


class CardCut(Reading, frozen=True, tag="card.cut"):
    """The cut card came out."""

    late: bool = False
    """It may have come out earlier."""


class ShoeReset(Reading, frozen=True, tag="shoe.reset"):
    """The shoe started afresh: power, reset, or new cards."""

    detail: str | None = None
    """What the device said about it."""


class ShoeResult(Reading, frozen=True, tag="shoe.result"):
    """The shoe's own verdict on a baccarat coup: a second witness, never the result."""

    winner: Literal["player", "banker", "tie"] | None
    """Which hand won; null where the device names none."""
    pairs: tuple[Literal["player", "banker"], ...] = ()
    """The hands whose first two cards are a pair."""
    forced: bool = False
    """The coup was ended by hand at the shoe."""
    late: bool = False
    """It may have waited before it was delivered: true, but not live."""


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
    """A fault of the shoe begins or ends."""

    fault: ShoeFaultName
    """What is wrong."""
    active: bool
    """``true`` when the fault begins, ``false`` when it ends."""
    detail: str | None = None
    """The device's own code."""


ShufflerStateName = Literal[
    "idle", "loading", "shuffling", "ready", "dealing", "unloading",
    "door_open", "jam", "recovering", "count_wrong", "set_wrong", "needs_service",
]  # fmt: skip
"""The last six, and ``recovering`` among them, are no states to deal from."""


class ShufflerState(Reading, frozen=True, tag="shuffler.state"):
    """The state of a shuffler changed."""

    state: ShufflerStateName
    """What the shuffler is doing, or what stops it."""
    detail: str | None = None
    """The device's own code or word."""
    late: bool = False
    """It may have waited before it was delivered: true, but not live."""


class ShufflerVerdict(Reading, frozen=True, tag="shuffler.verdict"):
    """A shuffler reports on the cards in it. Whether the count is right and whether the set is
    right are two separate facts. An order of cards is never told.
    """

    decks: Whole | None = None
    """The number of decks that the shuffler was to check."""
    count: Whole | None = None
    """Cards counted; null where the device reports only whether the count is right."""
    count_right: bool | None = None
    """Whether the count is as it must be; null where the device does not judge it."""
    set_right: bool | None = None
    """Whether every card is there once for each deck; null where the device does not judge it."""
    missing: tuple[str, ...] = ()
    """Cards that are absent, by name, where the device reads them."""
    extra: tuple[str, ...] = ()
    """Cards that are there too often or do not belong, by name, where the device reads them."""
    late: bool = False
    """It may have waited before it was delivered: true, but not live."""


class ShufflerPacket(Reading, frozen=True, tag="shuffler.packet"):
    """A packet of cards came out, face down."""

    size: Whole
    """The number of cards in the packet."""
    to: str | None = None
    """The hand that the packet is for, as the device claims."""
    index: Whole | None = None
    """Which packet, from 1, as the device claims."""
    late: bool = False
    """It may have waited before it was delivered: true, but not live."""


class DiceState(Reading, frozen=True, tag="dice.state"):
    """The dice started to move, came to rest, or wait."""

    state: Literal["idle", "moving", "settled"]
    """What the dice are doing."""
    throw: Whole | None = None
    """The device's own count of throws. It restarts, so it is not unique."""
    late: bool = False
    """It may have waited before it was delivered: true, but not live."""


class DiceRead(Reading, frozen=True, tag="dice.read"):
    """The upper faces of the dice at rest, sent once per throw."""

    values: tuple[Whole, ...]
    """One number for each die."""
    throw: Whole | None = None
    """The device's own count of throws. It restarts, so it is not unique."""
    late: bool = False
    """It may have waited before it was delivered: a candidate, not a result."""


DiceFaultName = Literal[
    "no_read",  # the faces could not be read
    "cocked",  # a die leans, or lies on something
    "unchanged",  # the dice were not moved since the last throw
    "missing",  # there are fewer dice than there must be
    "extra",  # there are more
    "sensor",  # the reader or the shaker itself failed
]


class DiceFault(Reading, frozen=True, tag="dice.fault"):
    """A fault of the dice or of their reader begins or ends."""

    fault: DiceFaultName
    """What is wrong."""
    active: bool
    """``true`` when the fault begins, ``false`` when it ends."""
    throw: Whole | None = None
    """The device's own count of throws. It restarts, so it is not unique."""
    detail: str | None = None
    """The device's own code or word."""


class SlotCoin(Reading, frozen=True, tag="slot.coin"):
    """A coin or chip went into the jackpot slot of a box."""

    box: Whole
    """The box whose slot it is."""
    amount: Whole
    """Its value in minor units."""
    late: bool = False
    """It may have waited before it was delivered: true, but not live."""


OutOfPlay = Literal[
    "not_authorised",  # the authorisation is missing, has ended, or is not for this table
    "not_verified",  # the ledger or the program failed the check of itself
    "store",  # the disk of the controller does not take what happens
    "unheard",  # controller and daemon do not hear each other, or a recall is not answered
    "unreadable",  # what is said on the topic of the jackpot is no statement of it
    "gap",  # events of the table are missing, and it cannot tell them any more
    "foreign",  # the table plays in another currency, game or decree than is authorised
    "clock",  # the clocks of controller and daemon differ by more than the stated bound
    "suspended",  # persons suspended it
    "closed",  # its money was accounted for, and it ended
]
"""Why bets on a jackpot are not in play."""


class JackpotStanding(Reading, frozen=True, tag="jackpot.standing"):
    """The jackpot that the table is linked with is in play from here on, or is not: as its
    controller says, or because it says nothing. No device reports it: the daemon heard it over
    MQTT, or heard nothing in time.
    """

    jackpot: str
    """The jackpot's id."""
    in_play: bool | None
    """Bets on the jackpot may be taken; null: the table is linked with no jackpot any more."""
    why: OutOfPlay | None = None
    """Why they may not."""


IdentitySource = Literal["configured", "usb", "device"]
"""Who says which device it is: the configuration, its USB connector, the device's own protocol."""


class DeviceIdentity(Reading, frozen=True, tag="device.identity"):
    """Which device it is: as configured, said when the table starts, or as its USB connector tells,
    said when the link was opened. What the device itself reports is a ``device.report``.
    """

    source: IdentitySource
    """Who says it."""
    serial: str | None = None
    """The serial number; null where none is configured, or USB tells none."""
    maker: str | None = None
    """The maker."""
    model: str | None = None
    """The model."""
    usb: str | None = None
    """Of USB: vendor and product id, ``0403:6001``."""
    usb_serial: str | None = None
    """As configured: the serial number that USB must tell; null where any is right at first."""


class ClockStep(Reading, frozen=True, tag="clock.step"):
    """The clock of the machine was set. No device reports it: the daemon saw it."""

    step: float
    """Seconds; positive: forward."""


class ClockBound(Reading, frozen=True, tag="clock.bound"):
    """By how much the times of the table may be wrong from here on. No device reports it: the
    daemon knows it of who keeps the machine's clock.
    """

    bound: float | None
    """Seconds; 0: no more than the site allows; null: nobody knows."""


class JournalRestore(Reading, frozen=True, tag="journal.restore"):
    """The table goes on from a backup of its journal, or from the journal of the other daemon of a
    pair. No device reports it: the daemon knows it of who restored the backup, or of the store that
    the pair shares.
    """

    journal: str
    """The id of the journal that was backed up, or of the other daemon's."""
    position: Whole
    """The backup's last entry, or the last that the other daemon signed for; 0: none is known."""
    hash: str
    """The hash of that entry, in hexadecimal."""
    since: str
    """When that entry was stored, or the other daemon was last heard of: UTC, ISO 8601."""
    restored: str
    """When the backup was restored, or the table was taken over: UTC, ISO 8601."""
    session: Whole
    """The highest number of a session of this table that is known from there; 0: of none."""
    jump: Whole
    """By how much the numbers of sessions go on beyond it."""
    source: Literal["backup", "other_daemon"] = "backup"
    """What the table goes on from."""
    instance: str | None = None
    """The other daemon's name in the pair; null: a backup."""
    term: Whole | None = None
    """The term of the lease in which it had the table; null: a backup."""
    read: Whole = 0
    """The highest number of a reading at this table that the other daemon told; 0: of none."""


class DeviceReport(Reading, frozen=True, tag="device.report"):
    """A device reports something about itself: a claim, never a proof."""

    report: str
    """What it is about, in lower case: ``mode``, ``firmware``, ``bonus``."""
    value: str
    """The device's own words."""


class DeviceRefused(Reading, frozen=True, tag="device.refused"):
    """A device refused a command."""

    command: str
    """The command, as the device echoes it."""
    reason: str
    """``no`` or ``busy``."""


class LinkUp(Reading, frozen=True, tag="link.up"):
    """Frames arrive: for the first time, or again after ``link.stale``, ``link.lost`` or
    ``link.unintelligible``.
    """


class LinkOpen(Reading, frozen=True, tag="link.open"):
    """The link of a device that sends only when something happens was opened. Nothing has been
    heard yet.
    """


class LinkStale(Reading, frozen=True, tag="link.stale"):
    """No valid frame arrives, though the link is open."""

    age: float
    """Seconds since the last valid frame."""


class LinkLost(Reading, frozen=True, tag="link.lost"):
    """The link is closed: unplugged, refused, or held by another program."""

    reason: str
    """Why the link is closed, for a person."""


class LinkUnintelligible(Reading, frozen=True, tag="link.unintelligible"):
    """Bytes arrive but no frame is among them: most often the wrong baud rate or the wrong
    driver.
    """

    bytes: Whole
    """How many bytes arrived without a frame among them."""


class LinkGarbage(Reading, frozen=True, tag="link.garbage"):
    """Bytes that are no frame were dropped. What continues is collected and reported rarely."""

    bytes: Whole
    """How many bytes were dropped; ``frame`` shows the first 64."""


class LinkLate(Reading, frozen=True, tag="link.late"):
    """Frames may have waited before they were delivered: they came in a burst, after a silence or
    when the link was opened. None of them was acted upon. A burst of more than a minute is reported
    each minute: the device may be faster than its period says.
    """

    frames: Whole
    """The number of valid frames in the burst."""
    silence: float
    """Seconds without a valid frame before the burst; 0: none is known."""


class LinkGap(Reading, frozen=True, tag="link.gap"):
    """Reports of the device were lost on the way. A card may have gone unseen."""

    lost: Whole
    """The least number of reports that were lost."""


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
    | JackpotStanding
    | DeviceIdentity
    | ClockStep
    | ClockBound
    | JournalRestore
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

MaybeLate = (
    WheelPhase
    | WheelNumber
    | WheelCell
    | CardDrawn
    | CardCut
    | ShoeResult
    | ShufflerState
    | ShufflerVerdict
    | ShufflerPacket
    | DiceState
    | DiceRead
    | SlotCoin
)
"""Readings that state whether they are late."""

READINGS: tuple[type[Reading], ...] = get_args(AnyReading)
DAEMON_READINGS = (JackpotStanding, DeviceIdentity, ClockStep, ClockBound, JournalRestore)
"""Readings that no device makes."""


class DamagedBytes(bytes):
    """Bytes of which some were damaged on the line, by the parity of each. ``damaged``: which, from
    0. The others count from the frame that they belong to, which is never valid.

    Only as a whole: a part of it is plain bytes.
    """

    damaged: tuple[int, ...]

    def __new__(cls, data: bytes, damaged: tuple[int, ...]) -> DamagedBytes:
        made = super().__new__(cls, data)
        made.damaged = damaged
        return made


_DAMAGED = re.compile(r"\\(?:\?(?P<byte>[0-9A-Fa-f]{2})|.)", re.DOTALL)
_ESCAPED = re.compile(r"(?:[\x00-\x5b\x5d-\xff]++|\\[\\tnr]|\\x[0-9A-Fa-f]{2})*+")
codecs.lookup("unicode_escape")  # loaded here, not while the first bytes of a device wait


def escape(data: bytes) -> str:
    r"""Bytes as one printable line: printable ASCII stays, a backslash is doubled, the rest is
    ``\xNN``, ``\r``, ``\n``. A byte that was damaged on the line is ``\?NN``.

    >>> escape(b"*X;2\r\n\xff")
    '*X;2\\r\\n\\xff'
    >>> escape(Damaged(b"S4\r\n", (1,)))
    'S\\?34\\r\\n'
    """
    if isinstance(data, DamagedBytes):
        begins = [0, *(at + 1 for at in data.damaged)]
        intact = zip(begins, (*data.damaged, len(data)), strict=True)
        parts = [escape(data[begin:end]) for begin, end in intact]
        marked = [f"\\?{data[at]:02x}" for at in data.damaged]
        return "".join(part + mark for part, mark in zip(parts, (*marked, ""), strict=True))
    return data.decode("latin-1").encode("unicode_escape").decode("ascii")


def unescape(text: str) -> bytes:
    """The inverse of :func:`escape`. Raises ``ValueError`` for a bad escape or a character above
    255.
    """
    if r"\?" not in text:
        return _unescape(text)
    data, damaged, begin = b"", list[int](), 0
    for match in _DAMAGED.finditer(text):
        if match["byte"] is not None:
            data += _unescape(text[begin : match.start()])
            damaged.append(len(data))
            data += bytes.fromhex(match["byte"])
            begin = match.end()
    data += _unescape(text[begin:])
    return DamagedBytes(data, tuple(damaged)) if damaged else data


def _unescape(text: str) -> bytes:
    line = text.removesuffix(r"\r\n")
    if "\\" not in line and line.isascii():  # nearly all of them
        return line.encode() + (b"" if len(line) == len(text) else b"\r\n")
    if not _ESCAPED.fullmatch(text):
        raise ValueError(
            r"a backslash starts \\, \t, \n, \r or \xNN, and no character is above 255"
        )
    return text.encode("latin-1").decode("unicode_escape").encode("latin-1")
