"""The events of the topic ``event``, one frozen struct each.

A game fills in its own fields; the table adds the envelope (site, table, seq, boot, time and so
on). In JSON an event is one object on one line. A field that has its default value is left out.
Fields that every event of a kind must show, even as null, have no default.
"""

# Long: a reader of the contract finds every event in one file, and its vocabulary is written from
# it.

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

from common.contract.card_events import AwardQualified as AwardQualified
from common.contract.card_events import BetPlaced as BetPlaced
from common.contract.card_events import BettingClosed as BettingClosed
from common.contract.card_events import BettingOpened as BettingOpened
from common.contract.card_events import ButtonMoved as ButtonMoved
from common.contract.card_events import CardDealt as CardDealt
from common.contract.card_events import CardExpected as CardExpected
from common.contract.card_events import CardRemoved as CardRemoved
from common.contract.card_events import CardsBurned as CardsBurned
from common.contract.card_events import CardTurned as CardTurned
from common.contract.card_events import DeckChecked as DeckChecked
from common.contract.card_events import Hand as Hand
from common.contract.card_events import HandDecided as HandDecided
from common.contract.card_events import Insurance as Insurance
from common.contract.card_events import JackpotInPlay as JackpotInPlay
from common.contract.card_events import JackpotStaked as JackpotStaked
from common.contract.card_events import ShoeCut as ShoeCut
from common.contract.card_events import ShoeEnded as ShoeEnded
from common.contract.card_events import ShoeStarted as ShoeStarted
from common.contract.commands import Duty, Role, VoidReason, Work
from common.contract.dice_events import DiceChosen as DiceChosen
from common.contract.dice_events import DiceRegistered as DiceRegistered
from common.contract.dice_events import DiceThrown as DiceThrown
from common.contract.dice_events import DieLost as DieLost
from common.contract.dice_events import PointSet as PointSet
from common.contract.dice_events import ShooterChanged as ShooterChanged
from common.contract.event_fields import Announcement as Announcement
from common.contract.event_fields import Event as Event
from common.contract.event_fields import Frame as Frame
from common.contract.event_fields import Settled as Settled
from common.contract.event_fields import WitnessStatement as WitnessStatement
from common.contract.outcomes import AnyOutcome as AnyOutcome
from common.contract.outcomes import BaccaratOutcome as BaccaratOutcome
from common.contract.outcomes import BlackjackOutcome as BlackjackOutcome
from common.contract.outcomes import BouleOutcome as BouleOutcome
from common.contract.outcomes import CirclePokerOutcome as CirclePokerOutcome
from common.contract.outcomes import Colour as Colour
from common.contract.outcomes import CrapsOutcome as CrapsOutcome
from common.contract.outcomes import FortuneOutcome as FortuneOutcome
from common.contract.outcomes import Half as Half
from common.contract.outcomes import HousePokerOutcome as HousePokerOutcome
from common.contract.outcomes import Outcome as Outcome
from common.contract.outcomes import Parity as Parity
from common.contract.outcomes import RouletteOutcome as RouletteOutcome
from common.contract.outcomes import TrenteOutcome as TrenteOutcome
from common.readings import IdentitySource, Number, WheelLogProblem, Whole


class SessionOpened(Event, frozen=True, tag="session.opened"):
    """A session begins; ``session`` has its number."""

    by: str
    """The person who opened it."""
    role: Role
    """That person's role."""
    minimum: Whole | None = None
    """The table minimum, in minor units of ``currency``."""
    currency: str | None = None
    """ISO 4217: ``EUR``."""


class SessionClosed(Event, frozen=True, tag="session.closed"):
    """A session ends."""

    by: str
    """The person who closed it."""
    role: Role
    """That person's role."""
    locked: bool = False
    """The cylinder was reported locked or sealed."""


class RoundOpened(Event, frozen=True, tag="round.opened"):
    """Bets are open for a new round."""

    spin: Whole | None = None
    """The count of the spin, by the device or by its driver. It restarts, so it is not unique."""
    by: str | None = None
    """The person who opened the bets; absent where a device did."""
    relaunch: bool = False
    """The previous round was void and is played again; bets may be changed if the decree allows it.
    """
    last_number: Number | None = None
    """The last valid number: where the ball is, or must be put back."""
    last_of_session: bool = False
    """This is the last round before closing. Zero, and 31-31, are settled differently then."""
    announcement: Announcement | None = None
    """The call at the table in the decree's words, by language: ``{"es": "no va más"}``."""


class BetsClosed(Event, frozen=True, tag="bets.closed"):
    """No more bets."""

    spin: Whole | None = None
    """The count of the spin, by the device or by its driver. It restarts, so it is not unique."""
    by: str | None = None
    """The person who closed the bets; absent where a device did."""
    unobserved: bool = False
    """It happened while the device was silent and is known only from what followed."""
    announcement: Announcement | None = None
    """The call at the table in the decree's words, by language: ``{"es": "no va más"}``."""


class BetsLastCall(Event, frozen=True, tag="bets.last_call"):
    """Last call: the ball or the wheel of boule or the wheel of fortune is about to come to rest,
    and bets close next.
    """

    spin: Whole | None = None
    """The count of the spin, by the device or by its driver. It restarts, so it is not unique."""
    announcement: Announcement | None = None
    """The call at the table in the decree's words, by language: ``{"es": "no va más"}``."""


class RoundResult(Event, frozen=True, kw_only=True, tag="round.result"):
    """The round has its result."""

    outcome: AnyOutcome
    """The outcome; its ``family`` names its shape."""
    spin: Whole | None = None
    """The count of the spin, by the device or by its driver. It restarts, so it is not unique."""
    bets: tuple[Settled, ...] = ()
    """The settlement of bets. Craps and wheel of fortune: of each kind of bet, then of the reported
    bets. Boule: of the reported bets only. Black jack: of the bets other than those on the hands,
    as far as they are decided. Bets on a hand are with the hand; for other games it is empty.
    """
    frames: tuple[Frame, ...]
    """The evidence of a wheel or of dice, oldest first; empty where cards are dealt."""
    readings: tuple[Whole, ...] = ()
    """The evidence where cards are dealt, oldest first: readings of the table in the journal, by
    their numbers.
    """
    confirmed_by: str | None = None
    """The name and role of the person who vouches for the result; absent where a device's report
    suffices.
    """
    witnesses: tuple[WitnessStatement, ...] = ()
    """What each second witness of the table had reported of the round at this moment; absent at a
    table without one.
    """
    announcement: Announcement | None = None
    """The call at the table in the decree's words, by language: ``{"es": "no va más"}``."""


class RoundVoid(Event, frozen=True, tag="round.void"):
    """The round is void: it has no result."""

    reason: VoidReason
    """Why it is void."""
    law: str
    """The id of the rule that makes it void."""
    article: str
    """Where that rule is printed."""
    last_number: Number | None
    """The last valid number, in whose pocket the ball is put back before it is launched again; null
    before the first of a session.
    """
    by: str | None = None
    """The person who declared it void; absent where a device's report did."""
    role: Role | None = None
    """That person's role."""
    alone: bool = False
    """The person stated that no person in charge was at the table."""
    spin: Whole | None = None
    """The count of the spin, by the device or by its driver. It restarts, so it is not unique."""
    announcement: Announcement | None = None
    """The call at the table in the decree's words, by language: ``{"es": "no va más"}``."""


class RoundUnresolved(Event, frozen=True, tag="round.unresolved"):
    """The result of a round is not known for certain. A person may still confirm one."""

    why: Literal[
        "silence",
        "witnesses_disagree",
        "number_unknown",
        "before_no_more_bets",
        "no_launch",
        "restart",
        "undecided",
    ]
    """Why it is not known."""
    candidate: Number | None
    """The number that was seen afterwards; null where none was. No result until a person confirms
    it.
    """
    spin: Whole | None = None
    """The count of the spin, by the device or by its driver. It restarts, so it is not unique."""
    dice: tuple[Whole, ...] | None = None
    """Craps: the dice that were seen. No result until a person confirms them."""
    frames: tuple[Frame, ...] = ()
    """The evidence of a wheel or of dice, oldest first."""
    readings: tuple[Whole, ...] = ()
    """The evidence where cards are dealt, oldest first: readings of the table in the journal, by
    their numbers.
    """
    witnesses: tuple[WitnessStatement, ...] = ()
    """What each second witness of the table had reported of the round at this moment: evidence for
    the person who decides. Absent at a table without one.
    """


class WitnessReported(Event, frozen=True, kw_only=True, tag="witness.reported"):
    """A second witness of the table reported what it saw of a round: evidence, never a result."""

    device: str
    """The device's id in the configuration; ``keypad``: a person, with ``witness.report``."""
    number: Number | None = None
    """Wheels: the number that it saw."""
    dice: tuple[Whole, ...] | None = None
    """Craps: the dice that it saw."""
    agrees: bool | None = None
    """Whether that is the published result; absent while the round has none. The result will say
    then whether it agrees.
    """
    frames: tuple[Frame, ...] = ()
    """The evidence, as received."""
    by: str | None = None
    """The name of the person who reported it; absent where a device did."""
    role: Role | None = None
    """The person's role."""


class ResultCorrected(Event, frozen=True, kw_only=True, tag="result.corrected"):
    """A person corrected a published result, or the correction of an earlier one changed
    this one.
    """

    replaces: Whole | None
    """The ``seq`` of the event that no longer applies; null if the daemon no longer knows it."""
    replaces_boot: str | None
    """The ``boot`` of that event; null where the daemon no longer knows it."""
    outcome: AnyOutcome
    """The complete outcome: it replaces the one published before."""
    was: Number | None = None
    """The number or winner published before, where it was another; absent where only hands or dice
    changed.
    """
    bets: tuple[Settled, ...] = ()
    """The settlement of bets, as in ``round.result``."""
    by: str
    """The person who corrected it."""
    role: Role
    """That person's role."""


class LastRounds(Event, frozen=True, tag="last_rounds"):
    """A number of rounds are left before the session closes, or before a new minimum takes
    effect.
    """

    purpose: Literal["close", "limit"]
    """What follows them."""
    left: Whole
    """Rounds still to be played; void rounds do not count. At craps the shooters, at black jack
    under EUS96 the shoes.
    """
    by: str | None = None
    """The person who announced them; absent when a round has been played since."""
    announcement: Announcement | None = None
    """The call at the table in the decree's words, by language: ``{"es": "no va más"}``."""


class LimitChanged(Event, frozen=True, tag="limit.changed"):
    """A new table minimum takes effect."""

    minimum: Whole
    """The minimum from now on, in minor units of ``currency``."""
    was: Whole | None = None
    """The minimum before, in minor units."""
    currency: str | None = None
    """ISO 4217: ``EUR``."""


class Irregularity(Event, frozen=True, tag="irregularity"):
    """Something happened that the decree does not allow or does not foresee."""

    what: str
    """The irregularity: docs/integrator/vocabulary/irregularities.md lists the words."""
    law: str
    """The id of the rule that it breaks, or that says what follows."""
    article: str
    """Where that rule is printed."""
    spin: Whole | None = None
    """The count of the spin, by the device or by its driver. It restarts, so it is not unique."""
    detail: str | None = None
    """A short description of what was seen."""
    asks: tuple[str, ...] = ()
    """The table waits for one of these commands. Until then the round has no result. Empty if it
    does not wait.
    """
    frames: tuple[Frame, ...] = ()
    """The evidence of a wheel or of dice, oldest first."""
    readings: tuple[Whole, ...] = ()
    """The evidence where cards are dealt, oldest first: readings of the table in the journal, by
    their numbers.
    """


class AlertRaised(Event, frozen=True, tag="alert.raised"):
    """Something needs a person. Until ``alert.cleared`` it is retained under ``alert/<id>``."""

    alert: str
    """The alert's id, which is also the last level of its topic."""
    what: str
    """The problem: docs/integrator/vocabulary/irregularities.md lists the words."""
    severity: Literal["warning", "fault"] = "fault"
    """How serious it is."""
    device: str | None = None
    """The device that it concerns."""
    detail: str | None = None
    """More about it, for a person."""
    rounds: tuple[Whole, ...] = ()
    """The rounds of the session that it concerns."""
    settled_by: Mapping[str, tuple[Role, ...]] = {}
    """The commands any one of which settles it, and the roles that may give each."""


class AlertAcknowledged(Event, frozen=True, tag="alert.acknowledged"):
    """A person has seen the alert."""

    alert: str
    """The alert's id."""
    by: str
    """The person."""
    role: Role
    """That person's role."""


class StaffArrived(Event, frozen=True, tag="staff.arrived"):
    """A person is at the table from now on."""

    person: str
    """The person."""
    duty: Duty
    """The duty."""
    by: str
    """The person who reported it."""
    role: Role
    """That person's role."""


class StaffLeft(Event, frozen=True, tag="staff.left"):
    """A person has left the table. When the session closes, those still there leave as well,
    without an event.
    """

    person: str
    """The person."""
    duty: Duty
    """The duty that the person had."""
    by: str
    """The person who reported it."""
    role: Role
    """That person's role."""


class AlertCleared(Event, frozen=True, tag="alert.cleared"):
    """The cause of the alert is gone."""

    alert: str
    """The alert's id."""


class DeviceState(Event, frozen=True, tag="device.state"):
    """The state of a device's link changed."""

    device: str
    """The device's id in the configuration."""
    state: Literal["up", "open", "stale", "lost", "unintelligible"]
    """The state of the link."""
    detail: str | None = None
    """More about it, for a person."""


class DeviceCommanded(Event, frozen=True, tag="device.commanded"):
    """A person commands a device. The command is sent after this event is stored."""

    device: str
    """The device's id in the configuration."""
    command: str
    """The device's command, by the name that its driver gives it."""
    by: str
    """The person."""
    role: Role
    """That person's role."""
    argument: str = ""
    """The command's argument, if it has one."""
    unsent: str | None = None
    """Why it could not be sent. This is then the second event of its command; how much of it
    reached the device is not known.
    """


class DeviceIdentified(Event, frozen=True, tag="device.identified"):
    """A device was identified for the first time, or its identity changed."""

    device: str
    """The device's id in the configuration."""
    source: IdentitySource
    """The source of the identity. An identity that a device or its connector reports is a claim,
    not a proof.
    """
    serial: str | None = None
    """The serial number."""
    maker: str | None = None
    """The maker."""
    model: str | None = None
    """The model."""
    usb: str | None = None
    """Of USB: vendor and product id, ``0403:6001``."""
    was: str | None = None
    """The serial number that the same source reported before."""


class DeviceParameterRead(Event, frozen=True, tag="device.parameter"):
    """A device stated a parameter with which it works for the first time, or another value than
    before. It is asked where the site allows commands to it; what it states is a claim.
    """

    device: str
    """The device's id in the configuration."""
    parameter: str
    """The parameter, as the device names it: ``m``; its page in docs/technician/devices says what
    it means.
    """
    value: str | None
    """The value in the device's own words; null: it did not answer."""
    was: str | None = None
    """The value before, also of an earlier run of the daemon; null: none is known."""
    expected: str | None = None
    """The expected value or range; null: the value makes sense."""


class DeviceServiced(Event, frozen=True, tag="device.serviced"):
    """A person reported that a device was serviced: a line of its maintenance log."""

    device: str
    """The device's id in the configuration."""
    work: Work
    """What was done."""
    by: str
    """The person."""
    role: Role
    """That person's role."""
    serial: str | None = None
    """The serial number of what is there now: of the device that was ``replaced``, or of the part,
    ball or cards.
    """
    note: str | None = None
    """The person's remark."""


WheelDifferenceName = Literal[
    "unresolved",  # the number of an unresolved round, offered as evidence
    "missing_in_journal",  # a result in the wheel's log that the journal lacks
    "missing_in_wheel",  # a result in the journal that the wheel's log lacks
    "different",  # another number
    "order",  # two results in the other order
    "ambiguous",  # several explanations are possible
]


WheelLogObstacle = Literal[
    "first",  # it was read for the first time; the next reading is compared with this one
    "cleared",  # it has fewer entries than before
    "rewritten",  # entries that were read before have changed
    "too_old",  # more was played since the reading before than is read
    "too_many",  # more spins were played since the reading before than the table stores
    "restored",  # the journal lacks a part, since it was restored or another daemon had the table
]


class WheelReconciled(Event, frozen=True, tag="wheel.reconciled"):
    """The wheel's own log, read while the wheel was closed, has the same results in the same order
    as the journal since the reading before.
    """

    device: str
    """The device's id in the configuration."""
    spins: Whole
    """Results in the wheel's log since the reading before."""
    failed: Whole
    """Failed launches in the wheel's log since then."""


class WheelDifference(Event, frozen=True, tag="wheel.difference"):
    """The wheel's own log and the journal differ in one place. It changes no result: a person
    decides.
    """

    device: str
    """The device's id in the configuration."""
    what: WheelDifferenceName
    """The difference."""
    wheel: tuple[Number, ...] = ()
    """The numbers in the wheel's log, oldest first."""
    journal: tuple[Number | None, ...] = ()
    """The numbers in the journal, oldest first; null: not known."""
    rounds: tuple[Whole, ...] = ()
    """The rounds of ``session`` that it concerns."""
    after: Whole | None = None
    """The last round of ``session`` before it; null: none."""


class WheelUnreconciled(Event, frozen=True, tag="wheel.unreconciled"):
    """The wheel's own log was not compared with the journal."""

    device: str
    """The device's id in the configuration."""
    why: WheelLogProblem | WheelLogObstacle
    """Why not. After ``cleared``, ``rewritten``, ``too_old``, ``too_many`` and ``restored`` the
    spins until now are never compared; after the others, the next reading compares them.
    """
    spins: Whole
    """Spins in the journal that were not compared."""


class DataLate(Event, frozen=True, tag="data.late"):
    """Frames may have waited before they were delivered: they came in a burst, after a silence or
    when the link was opened. None of them was used for a decision. A burst of more than a minute is
    reported each minute: the device may be faster than its ``period``.
    """

    device: str
    """The device's id in the configuration."""
    frames: Whole
    """The number of valid frames in the burst."""
    silence: float
    """Seconds without a valid frame before the burst; 0 if unknown."""


class ClockStepped(Event, frozen=True, tag="clock.stepped"):
    """The clock of the table's machine was set: times before and after it cannot be compared. It is
    published once, at every table of the daemon; its own ``time`` is from after the step.
    """

    step: float
    """Seconds; positive: forward."""


class JournalRestored(Event, frozen=True, tag="journal.restored"):
    """The table continues from a backup of its journal, or from the other daemon of a pair: the
    first event of its run. Events that the table published after `since` and before this event are
    not in its journal. They remain with those who stored them; the table neither confirms nor
    corrects them. An open session has ended; a person opens the next one.
    """

    journal: str
    """The id of the journal that was backed up and that a new one continues, or of the other
    daemon's journal.
    """
    position: Whole
    """The backup's last entry, or the last one that the other daemon signed; 0 if unknown."""
    hash: str
    """The hash of that entry, in hexadecimal."""
    since: str
    """The start of the gap: when that entry was stored, or the other daemon last reported; the gap
    ends with this event. UTC, ISO 8601.
    """
    restored: str
    """When the backup was restored, or the table was taken over: UTC, ISO 8601."""
    next_session: Whole
    """The number of the next session. The numbers between the last known one and it may have been
    used in the gap, and are not used again.
    """
    was_open: Whole | None = None
    """The session that was open in the backup, or when this daemon last had the table; null if
    there was none. It has ended.
    """
    in_progress: Whole | None = None
    """The round in progress in it, which gets no result here; null if there was none."""
    unresolved: tuple[Whole, ...] = ()
    """Its rounds without a result; they can no longer get one here."""
    source: Literal["backup", "other_daemon"] = "backup"
    """The source from which the table continues."""
    instance: str | None = None
    """The other daemon's name in the pair; null for a backup."""
    term: Whole | None = None
    """The term of the lease in which it had the table; null for a backup."""


AnyEvent = (
    SessionOpened
    | SessionClosed
    | RoundOpened
    | BetsLastCall
    | BetsClosed
    | RoundResult
    | RoundVoid
    | RoundUnresolved
    | ResultCorrected
    | WitnessReported
    | LastRounds
    | LimitChanged
    | ShoeStarted
    | ShoeCut
    | ShoeEnded
    | CardsBurned
    | CardExpected
    | CardDealt
    | CardTurned
    | CardRemoved
    | HandDecided
    | Insurance
    | ButtonMoved
    | BettingOpened
    | BettingClosed
    | BetPlaced
    | AwardQualified
    | JackpotStaked
    | JackpotInPlay
    | DeckChecked
    | DiceRegistered
    | DiceChosen
    | DieLost
    | DiceThrown
    | ShooterChanged
    | PointSet
    | Irregularity
    | AlertRaised
    | AlertAcknowledged
    | StaffArrived
    | StaffLeft
    | AlertCleared
    | DeviceIdentified
    | DeviceParameterRead
    | DeviceServiced
    | WheelReconciled
    | WheelDifference
    | WheelUnreconciled
    | DeviceState
    | DeviceCommanded
    | DataLate
    | ClockStepped
    | JournalRestored
)

EVENTS: tuple[type[Event], ...] = get_args(AnyEvent)

ROUND_EVENTS = frozenset[type[Event]](
    {
        *(RoundOpened, BetsLastCall, BetsClosed, BettingOpened, BettingClosed),
        *(RoundResult, ResultCorrected, RoundVoid, RoundUnresolved, WitnessReported),
        *(CardTurned, Insurance, AwardQualified, JackpotStaked, DiceThrown, PointSet),
    }
)
"""Events that always belong to a round: ``session`` and ``round`` are never absent."""

SESSION_EVENTS = ROUND_EVENTS | frozenset[type[Event]](
    {
        *(SessionOpened, SessionClosed, LastRounds, LimitChanged, HandDecided, BetPlaced),
        *(ShoeStarted, ShoeCut, ShoeEnded, CardsBurned, CardExpected, CardDealt, CardRemoved),
        *(DeckChecked, DiceRegistered, DiceChosen, ShooterChanged, ButtonMoved),
    }
)
"""Events that always belong to a session: ``session`` is never absent."""
