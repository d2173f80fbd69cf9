"""The readings: what a device reports, one frozen struct each.

In JSON a reading is one object on one line, ``{"at": 12.5, "type": "wheel.phase", "device":
"wheel", ...}``. A field that has its default value is left out.
"""

# Long: a reader of the contract finds every reading in one file, and its vocabulary is written
# from it.

from __future__ import annotations

import codecs
import re
from typing import Annotated, Literal, get_args

import msgspec

MAX_EXACT_INTEGER = 2**53 - 1
"""The largest integer that every JSON parser reads exactly. Larger ones are neither read nor
written.
"""
Whole = Annotated[int, msgspec.Meta(ge=-MAX_EXACT_INTEGER, le=MAX_EXACT_INTEGER)]
Number = Whole | str
"""A pocket of a wheel: an integer, or one of the strings ``"00"``, ``"000"`` and ``"0000"`` on
wheels with more than one zero.
"""

Phase = Literal[
    "closed", "idle", "bets_open", "ball_in_rim", "no_more_bets", "launched", "settling", "settled"
]
"""``launched`` and ``settling`` exist only for boule and the wheel of fortune: the ball or the
wheel was set in motion, or is about to come to rest. ``settled`` exists for all wheels: it has come
to rest.
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
    "other_fault",  # the device reports a fault that no other word names
]


class Reading(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    tag_field="type",
    gc=False,  # frozen, so part of no cycle; as the structs of events, states and entries
):
    """The base of all readings: when, from which device, and on what evidence."""

    at: float
    """Seconds on the codec's clock: the host's monotonic clock when live, the recording's own time
    in replay.
    """
    device: str = ""
    """The device's id in the configuration."""
    frame: str | None = None
    """The evidence: the frame that produced the reading, as received. Bytes outside printable ASCII
    are backslash escapes. Null if no single frame produced it.
    """
    reading: Whole | None = None
    """Its number, counted from 1 by its table where cards are dealt: events name it as their
    evidence. Null at other tables, for readings about a link, and until a table has accepted it.
    """


class WheelPhase(Reading, frozen=True, tag="wheel.phase"):
    """The phase of the game as the wheel sees it changed, or the spin, the direction, the
    standstill or ``late``.
    """

    phase: Phase
    """The wheel's phase."""
    spin: Whole | None = None
    """The count of the spin, by the device or by its driver. It restarts, so it is not unique."""
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
    """The count of the spin, by the device or by its driver. It restarts, so it is not unique."""
    late: bool = False
    """It may have waited before it was delivered: a candidate, not a result."""
    witness: Witness = "status"
    """Which of the wheel's two reports gave the number."""
    conflict: Number | None = None
    """The number in the second report, or a second witness's, if it differs."""


class WheelCell(Reading, frozen=True, tag="wheel.cell"):
    """The position in which the ball rests or the wheel has stopped. The table's own map gives the
    value of the position.
    """

    cell: Whole
    """The hole, 1 to 18, of a boule; the cell, 1 to 54 or 64, of a wheel of fortune."""
    spin: Whole | None = None
    """The count of the spin, by the device or by its driver. It restarts, so it is not unique."""
    turns: Whole | None = None
    """Whole turns since the launch; null where they were not counted."""
    late: bool = False
    """It may have waited before it was delivered: a candidate, not a result."""
    claimed: tuple[Number, ...] = ()
    """The numbers that second witnesses have reported of the spin so far. No device sets it."""


WheelLogProblem = Literal[
    "unanswered",  # the wheel did not answer
    "refused",  # the wheel refused, as when it is busy
    "checksum",  # the sum of a page was wrong
    "truncated",  # a page was too short or too long
    "wrapped",  # an entry follows an empty place: the log began again at its beginning
    "interrupted",  # the wheel started meanwhile
]


class WheelLog(Reading, frozen=True, tag="wheel.log"):
    """The wheel's own log of its results, as it was read while the wheel was closed."""

    pages: Whole | None
    """The pages in use; null: unknown."""
    first: Whole
    """How many older entries were not read."""
    entries: tuple[Number | None, ...] = ()
    """The entries, oldest first; null: a launch that failed. Empty if there is a problem."""
    problem: WheelLogProblem | None = None
    """Why the log could not be read; null: it was read completely."""


class WheelFault(Reading, frozen=True, tag="wheel.fault"):
    """A fault of the wheel begins or ends."""

    fault: WheelFaultName
    """What is wrong."""
    active: bool
    """``true`` when the fault begins, ``false`` when it ends."""
    spin: Whole | None = None
    """The count of the spin, by the device or by its driver. It restarts, so it is not unique."""
    detail: str | None = None
    """The device's own code or value."""


class CardDrawn(Reading, frozen=True, tag="card.drawn"):
    """A card left the shoe."""

    card: str | None
    """The card, rank then suit: ``"7h"``. Null where the device could not read it; it is never
    guessed.
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
    """The shoe was restarted: power, reset, or new cards."""

    detail: str | None = None
    """The device's own description."""


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
    "card_code",  # the card's code does not belong to this shoe
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
"""In the last six, which include ``recovering``, no cards may be dealt."""


class ShufflerState(Reading, frozen=True, tag="shuffler.state"):
    """The state of a shuffler changed."""

    state: ShufflerStateName
    """The shuffler's activity, or what stops it."""
    detail: str | None = None
    """The device's own code or word."""
    late: bool = False
    """It may have waited before it was delivered: true, but not live."""


class ShufflerVerdict(Reading, frozen=True, tag="shuffler.verdict"):
    """A shuffler reports on the cards in it. Whether the count is right and whether the set is
    right are two separate facts. The order of the cards is never reported.
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
    """The state of the dice."""
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
    conflict: tuple[Whole, ...] | None = None
    """The dice in a second witness's report, if they differ."""


DiceFaultName = Literal[
    "no_read",  # the faces could not be read
    "cocked",  # a die leans, or lies on something
    "unchanged",  # the dice were not moved since the last throw
    "missing",  # there are too few dice
    "extra",  # there are too many dice
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
    "not_verified",  # the ledger or the program failed its own verification
    "store",  # the controller cannot store events on its disk
    "unheard",  # controller or daemon receives nothing, or a recall is not answered
    "unreadable",  # the message on the jackpot's topic is not a valid statement
    "gap",  # events of the table are missing, and the table cannot repeat them
    "foreign",  # the table's currency, game or decree is not the authorised one
    "clock",  # the clocks of controller and daemon differ by more than the stated bound
    "suspended",  # persons suspended it
    "closed",  # its money was accounted for, and it ended
]
"""Why bets on a jackpot are not in play."""


class JackpotStanding(Reading, frozen=True, tag="jackpot.standing"):
    """The jackpot that the table is linked with came into play or went out of play, as its
    controller states or because the controller is silent. No device reports it: the daemon received
    it over MQTT, or received nothing in time.
    """

    jackpot: str
    """The jackpot's id."""
    in_play: bool | None
    """Whether bets on the jackpot may be taken; null: the table is no longer linked with a
    jackpot.
    """
    why: OutOfPlay | None = None
    """Why bets may not be taken."""


IdentitySource = Literal["configured", "usb", "device"]
"""Source of a device's identity: the configuration, USB, or the device's own protocol."""


class DeviceIdentity(Reading, frozen=True, tag="device.identity"):
    """The identity of a device: as configured, reported when the table starts, or as read over USB,
    reported when the link was opened. A device's own statements are a ``device.report``.
    """

    source: IdentitySource
    """Where the identity comes from."""
    serial: str | None = None
    """The serial number; null if it is not configured, or USB gives none."""
    maker: str | None = None
    """The maker."""
    model: str | None = None
    """The model."""
    usb: str | None = None
    """USB vendor and product id, ``0403:6001``."""
    usb_serial: str | None = None
    """The configured USB serial number; null if the first one seen is accepted."""


class ClockStep(Reading, frozen=True, tag="clock.step"):
    """The clock of the machine was set. No device reports it: the daemon noticed it."""

    step: float
    """Seconds; positive: forward."""


class ClockBound(Reading, frozen=True, tag="clock.bound"):
    """The maximum error of the table's times from now on. No device reports it: the daemon asks the
    service that synchronises the machine's clock.
    """

    bound: float | None
    """Seconds; 0: within what the site allows; null: unknown."""


class JournalRestore(Reading, frozen=True, tag="journal.restore"):
    """The table continues from a backup of its journal, or from the journal of the other daemon of
    a pair. No device reports it: the daemon learns it from the restored backup, or from the store
    that the pair shares.
    """

    journal: str
    """The id of the journal that was backed up, or of the other daemon's."""
    position: Whole
    """The backup's last entry, or the last one that the other daemon signed; 0: unknown."""
    hash: str
    """The hash of that entry, in hexadecimal."""
    since: str
    """When that entry was stored, or when the other daemon was last seen: UTC, ISO 8601."""
    restored: str
    """When the backup was restored, or the table was taken over: UTC, ISO 8601."""
    session: Whole
    """The highest session number of this table that is known from it; 0: none."""
    jump: Whole
    """How many session numbers are skipped after it."""
    source: Literal["backup", "other_daemon"] = "backup"
    """The source from which the table continues."""
    instance: str | None = None
    """The other daemon's name in the pair; null: a backup."""
    term: Whole | None = None
    """The lease term in which it had the table; null: a backup."""
    read: Whole = 0
    """The highest number of a reading at this table that the other daemon published; 0: none."""


class DeviceReport(Reading, frozen=True, tag="device.report"):
    """A device reports something about itself: a claim, never a proof."""

    report: str
    """The subject, in lower case: ``mode``, ``firmware``, ``bonus``."""
    value: str
    """The device's own words."""


class DeviceParameter(Reading, frozen=True, tag="device.parameter"):
    """A device states a parameter with which it works, because it was asked."""

    parameter: str
    """The parameter, as the device names it: ``m``; its driver's page says what it means."""
    value: str | None
    """The value in the device's own words; null: it did not answer."""
    expected: str | None = None
    """The expected value or range; null: the value makes sense."""


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
    """The link of a device that sends only when something happens was opened. Nothing was received
    yet.
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
    """Bytes that are not a frame were dropped. Continuous garbage is summed up and reported
    rarely.
    """

    bytes: Whole
    """How many bytes were dropped; ``frame`` shows the first 64."""


class LinkLate(Reading, frozen=True, tag="link.late"):
    """Frames may have waited before they were delivered: they came in a burst, after a silence or
    when the link was opened. None of them was acted upon. A burst longer than a minute is reported
    every minute: the device may be faster than its configured period.
    """

    frames: Whole
    """The number of valid frames in the burst."""
    silence: float
    """Seconds without a valid frame before the burst; 0: no silence was seen."""


class LinkGap(Reading, frozen=True, tag="link.gap"):
    """Reports of the device were lost on the way. A card may have gone unseen."""

    lost: Whole
    """The minimum number of reports that were lost."""


AnyReading = (
    WheelPhase
    | WheelNumber
    | WheelCell
    | WheelFault
    | WheelLog
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
    | DeviceParameter
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
"""Readings with a field ``late``."""

READINGS: tuple[type[Reading], ...] = get_args(AnyReading)
DAEMON_READINGS = (JackpotStanding, DeviceIdentity, ClockStep, ClockBound, JournalRestore)
"""Readings that the daemon itself produces."""


class DamagedBytes(bytes):
    """Received bytes of which some failed the parity check. ``damaged``: their positions, from 0. A
    frame that contains one of them is never valid.

    A slice of it is plain bytes, without the marks.
    """

    damaged: tuple[int, ...]

    def __new__(cls, data: bytes, damaged: tuple[int, ...]) -> DamagedBytes:
        instance = super().__new__(cls, data)
        instance.damaged = damaged
        return instance


_DAMAGED = re.compile(r"\\(?:\?(?P<byte>[0-9A-Fa-f]{2})|.)", re.DOTALL)
_ESCAPED = re.compile(r"(?:[\x00-\x5b\x5d-\xff]++|\\[\\tnr]|\\x[0-9A-Fa-f]{2})*+")
codecs.lookup("unicode_escape")  # load the codec now, not while the first bytes of a device wait


def escape(data: bytes) -> str:
    r"""Format bytes as one printable line: printable ASCII stays, a backslash is doubled, the rest
    is ``\xNN``, ``\r``, ``\n``. A byte that was damaged on the line is ``\?NN``.

    >>> escape(b"*X;2\r\n\xff")
    '*X;2\\r\\n\\xff'
    >>> escape(DamagedBytes(b"S4\r\n", (1,)))
    'S\\?34\\r\\n'
    """
    if isinstance(data, DamagedBytes):
        begins = [0, *(at + 1 for at in data.damaged)]
        intact = zip(begins, (*data.damaged, len(data)), strict=True)
        parts = [escape(data[begin:end]) for begin, end in intact]
        marked = [f"\\?{data[at]:02x}" for at in data.damaged]
        return "".join(part + mark for part, mark in zip(parts, (*marked, ""), strict=True))
    text = data.decode("latin-1")
    if text.isascii() and text.isprintable() and "\\" not in text:  # as mostly
        return text
    return text.encode("unicode_escape").decode("ascii")


def unescape(text: str) -> bytes:
    """Parse the output of :func:`escape`. Raises ``ValueError`` for a bad escape or a character
    above 255.
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
    if "\\" not in line and line.isascii():  # the common case
        return line.encode() + (b"" if len(line) == len(text) else b"\r\n")
    if not _ESCAPED.fullmatch(text):
        raise ValueError(
            r"a backslash starts \\, \t, \n, \r or \xNN, and no character is above 255"
        )
    return text.encode("latin-1").decode("unicode_escape").encode("latin-1")
