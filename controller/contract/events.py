"""What a table says: the events, one frozen struct each. This is the wire contract of the topic
``event``.

A game fills the fields that are its own; the table adds the envelope (site, table, seq, boot, time
...). In JSON an event is one flat object on one line. A field of the envelope or an optional field
that has its default value is left out; fields that every event of a kind must show, even as null,
have no default.
"""

from __future__ import annotations

from typing import Literal, get_args

from controller.contract.card_events import AwardQualified as AwardQualified
from controller.contract.card_events import BetPlaced as BetPlaced
from controller.contract.card_events import BettingClosed as BettingClosed
from controller.contract.card_events import BettingOpened as BettingOpened
from controller.contract.card_events import ButtonMoved as ButtonMoved
from controller.contract.card_events import CardDealt as CardDealt
from controller.contract.card_events import CardExpected as CardExpected
from controller.contract.card_events import CardRemoved as CardRemoved
from controller.contract.card_events import CardsBurned as CardsBurned
from controller.contract.card_events import CardTurned as CardTurned
from controller.contract.card_events import DeckChecked as DeckChecked
from controller.contract.card_events import Hand as Hand
from controller.contract.card_events import HandDecided as HandDecided
from controller.contract.card_events import Insurance as Insurance
from controller.contract.card_events import JackpotStaked as JackpotStaked
from controller.contract.card_events import ShoeCut as ShoeCut
from controller.contract.card_events import ShoeEnded as ShoeEnded
from controller.contract.card_events import ShoeStarted as ShoeStarted
from controller.contract.commands import Role, VoidReason
from controller.contract.dice_events import DiceChosen as DiceChosen
from controller.contract.dice_events import DiceRegistered as DiceRegistered
from controller.contract.dice_events import DiceThrown as DiceThrown
from controller.contract.dice_events import DieLost as DieLost
from controller.contract.dice_events import PointSet as PointSet
from controller.contract.dice_events import ShooterChanged as ShooterChanged
from controller.contract.event_fields import Announcement as Announcement
from controller.contract.event_fields import Event as Event
from controller.contract.event_fields import Frame as Frame
from controller.contract.event_fields import Settled as Settled
from controller.contract.outcomes import AnyOutcome as AnyOutcome
from controller.contract.outcomes import BaccaratOutcome as BaccaratOutcome
from controller.contract.outcomes import BlackjackOutcome as BlackjackOutcome
from controller.contract.outcomes import BouleOutcome as BouleOutcome
from controller.contract.outcomes import CirclePokerOutcome as CirclePokerOutcome
from controller.contract.outcomes import Colour as Colour
from controller.contract.outcomes import CrapsOutcome as CrapsOutcome
from controller.contract.outcomes import FortuneOutcome as FortuneOutcome
from controller.contract.outcomes import Half as Half
from controller.contract.outcomes import HousePokerOutcome as HousePokerOutcome
from controller.contract.outcomes import Outcome as Outcome
from controller.contract.outcomes import Parity as Parity
from controller.contract.outcomes import RouletteOutcome as RouletteOutcome
from controller.contract.outcomes import TrenteOutcome as TrenteOutcome
from devices.readings import Number


class SessionOpened(Event, frozen=True, tag="session.opened"):
    """A session begins; its number is in ``session``."""

    by: str
    role: Role
    minimum: int | None = None
    currency: str | None = None


class SessionClosed(Event, frozen=True, tag="session.closed"):
    """A session ends. ``locked``: the cylinder was reported locked or sealed."""

    by: str
    role: Role
    locked: bool = False


class RoundOpened(Event, frozen=True, tag="round.opened"):
    """Bets are open for a new round. ``relaunch``: the round before it was void, and the bets may
    be changed where the decree says so. ``last_number`` is where the ball lies or must be put.
    """

    spin: int | None = None
    by: str | None = None
    relaunch: bool = False
    last_number: Number | None = None
    last_of_session: bool = False
    announcement: Announcement | None = None


class BetsClosed(Event, frozen=True, tag="bets.closed"):
    """No more bets. ``unobserved``: it fell into a silence of the device and is known only from
    what followed.
    """

    spin: int | None = None
    by: str | None = None
    unobserved: bool = False
    announcement: Announcement | None = None


class BetsLastCall(Event, frozen=True, tag="bets.last_call"):
    """Are the bets made? Boule or the wheel of fortune is about to come to rest, and bets close
    next.
    """

    spin: int | None = None
    announcement: Announcement | None = None


class RoundResult(Event, frozen=True, kw_only=True, tag="round.result"):
    """The round has its result."""

    outcome: AnyOutcome
    """What it came to; ``family`` names its shape."""
    spin: int | None = None
    """The wheel's own count of its spins, of a wheel that counts."""
    bets: tuple[Settled, ...] = ()
    """What bets do and pay: at craps and the wheel of fortune each kind of bet, then those that the
    table was told of; at boule these alone; at black jack those beside the bets on the hands, as
    far as they are decided. Bets on a hand are with the hand.
    """
    frames: tuple[Frame, ...]
    """The evidence, oldest first."""
    confirmed_by: str | None = None
    """Who stands for the result, where a person does."""
    announcement: Announcement | None = None


class RoundVoid(Event, frozen=True, tag="round.void"):
    """The spin is null: it has no number. The ball goes back into ``last_number`` before it is
    launched again. ``alone``: who says it has said that nobody in charge was there.
    """

    reason: VoidReason
    law: str
    article: str
    last_number: Number | None
    by: str | None = None
    role: Role | None = None
    alone: bool = False
    spin: int | None = None
    announcement: Announcement | None = None


class RoundUnresolved(Event, frozen=True, tag="round.unresolved"):
    """The result of a round is not known for certain. ``candidate`` (of dice: ``dice``) was seen
    afterwards, and is no result until a person confirms it.
    """

    why: Literal[
        "silence",
        "witnesses_disagree",
        "number_unknown",
        "before_no_more_bets",
        "no_launch",
        "restart",
        "undecided",
    ]
    candidate: Number | None
    spin: int | None = None
    dice: tuple[int, ...] | None = None
    frames: tuple[Frame, ...] = ()


class ResultCorrected(Event, frozen=True, kw_only=True, tag="result.corrected"):
    """A person corrected a published result, or an earlier correction changed what it is worth."""

    replaces: int | None
    """The ``seq`` of the event that no longer holds; null where the daemon no longer knows it."""
    replaces_boot: str | None
    """The ``boot`` of that event."""
    outcome: AnyOutcome
    """What the round came to, whole: it takes the place of what was told before."""
    was: Number | None = None
    """The number or the winner that was told before, where a person says another; left out where
    hands or dice changed.
    """
    bets: tuple[Settled, ...] = ()
    """What bets do and pay, as in ``round.result``."""
    by: str
    role: Role


class LastRounds(Event, frozen=True, tag="last_rounds"):
    """So many valid spins are left: before the session closes, or before a new minimum holds. Void
    spins do not count.
    """

    purpose: Literal["close", "limit"]
    left: int
    by: str | None = None
    announcement: Announcement | None = None


class LimitChanged(Event, frozen=True, tag="limit.changed"):
    """A new table minimum holds from now, in minor units of ``currency``."""

    minimum: int
    was: int | None = None
    currency: str | None = None


class Irregularity(Event, frozen=True, tag="irregularity"):
    """Something the decree does not allow, or does not foresee. ``law`` is the rule's id,
    ``article`` where it stands.

    ``asks``: the table waits for a person to say one of these commands; until then the round has no
    result.
    """

    what: str
    law: str
    article: str
    spin: int | None = None
    detail: str | None = None
    asks: tuple[str, ...] = ()
    frames: tuple[Frame, ...] = ()


class AlertRaised(Event, frozen=True, tag="alert.raised"):
    """Something needs a person. The same ``alert`` id is cleared later; in between it is retained
    under ``alert/<id>``.
    """

    alert: str
    what: str
    severity: Literal["warning", "fault"] = "fault"
    device: str | None = None
    detail: str | None = None


class AlertAcknowledged(Event, frozen=True, tag="alert.acknowledged"):
    """A person has seen the alert."""

    alert: str
    by: str
    role: Role


class AlertCleared(Event, frozen=True, tag="alert.cleared"):
    """The cause of the alert is gone."""

    alert: str


class DeviceState(Event, frozen=True, tag="device.state"):
    """The state of a device's link changed."""

    device: str
    state: Literal["up", "open", "stale", "lost", "unintelligible"]
    detail: str | None = None


class DeviceCommanded(Event, frozen=True, tag="device.commanded"):
    """A person commands a device. It is sent once this is stored.

    ``unsent``: the command that was told before could not be sent, and why. What of it reached the
    device is not known.
    """

    device: str
    command: str
    by: str
    role: Role
    argument: str = ""
    unsent: str | None = None


class DataLate(Event, frozen=True, tag="data.late"):
    """A burst of ``frames`` frames came after ``silence`` seconds without any. None of them was
    acted upon.
    """

    device: str
    frames: int
    silence: float


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
    | AlertCleared
    | DeviceState
    | DeviceCommanded
    | DataLate
)

EVENTS: tuple[type[Event], ...] = get_args(AnyEvent)
