"""What a table says: the events, one frozen struct each. This is the wire contract of the topic
``event``.

A game fills the fields that are its own; the table adds the envelope (site, table, seq, boot, time
...). In JSON an event is one flat object on one line. A field of the envelope or an optional field
that has its default value is left out; fields that every event of a kind must show, even as null,
have no default.
"""

from __future__ import annotations

from typing import Literal, get_args

from msgspec import UNSET, UnsetType

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
from devices.readings import Number

Colour = Literal["red", "black"]
Parity = Literal["even", "odd"]
Half = Literal["falta", "pasa"]


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
    """The round has its result. The fields of the other family of games are not there.

    Roulette, always: where the ball lies definitively. Zero has no colour, parity, half, dozen or
    column: they are null. ``zeros`` counts consecutive zeros up to this one; ``last_of_session``:
    settlement of zero differs then. Boule, as roulette, without dozens and columns. Wheel of
    fortune, always: ``number``, the symbol; ``cell``, its place, null where nobody told it;
    ``bets``, what each bet does and pays. Craps, always: the ``dice``, their ``total``, the
    ``point`` that the throw was played against, null at a come-out, and ``bets``. Card games,
    always: the ``hands`` with their cards; ``winner``: a hand, ``tie``, or null where nobody has
    won the pot or each box is for itself; ``marks``, what else wins or loses bets (``natural``,
    ``pair_player``, ``tie``, ``colour`` ...). Black jack: ``bets``, what the bets beside those on
    the hands do and pay, as far as they are decided. Trente et quarante, always: ``winner``, the
    row, ``tie`` (null: stakes go back) or ``refait`` (31-31, the zero of this game: no stake goes
    back whole); ``refaits``, consecutive ones up to this one, ties and null coups left out, and 0
    where it is none; ``choices``, what may be done with a bet then; ``last_of_session``.

    ``confirmed_by``: a person stands for it. ``frames``: the evidence, oldest first.
    """

    number: Number | UnsetType = UNSET
    spin: int | UnsetType | None = UNSET
    colour: Colour | UnsetType | None = UNSET
    parity: Parity | UnsetType | None = UNSET
    half: Half | UnsetType | None = UNSET
    dozen: int | UnsetType | None = UNSET
    column: int | UnsetType | None = UNSET
    zeros: int | UnsetType = UNSET
    refaits: int | UnsetType = UNSET
    choices: tuple[str, ...] | UnsetType = UNSET
    last_of_session: bool | UnsetType = UNSET
    cell: int | UnsetType | None = UNSET
    dice: tuple[int, ...] | UnsetType = UNSET
    total: int | UnsetType = UNSET
    point: int | UnsetType | None = UNSET
    bets: tuple[Settled, ...] | UnsetType = UNSET
    hands: tuple[Hand, ...] | UnsetType = UNSET
    winner: str | UnsetType | None = UNSET
    marks: tuple[str, ...] | UnsetType = UNSET
    frames: tuple[Frame, ...]
    confirmed_by: str | None = None
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
    """A person corrected a published result. ``replaces`` is the ``seq`` of the event that no
    longer holds, ``replaces_boot`` its ``boot``; null where the daemon no longer knows them.
    """

    replaces: int | None
    replaces_boot: str | None
    number: Number | UnsetType = UNSET
    was: Number | UnsetType = UNSET
    colour: Colour | UnsetType | None = UNSET
    parity: Parity | UnsetType | None = UNSET
    half: Half | UnsetType | None = UNSET
    dozen: int | UnsetType | None = UNSET
    column: int | UnsetType | None = UNSET
    zeros: int | UnsetType = UNSET
    winner: str | UnsetType | None = UNSET
    hands: tuple[Hand, ...] | UnsetType = UNSET
    marks: tuple[str, ...] | UnsetType = UNSET
    refaits: int | UnsetType = UNSET
    choices: tuple[str, ...] | UnsetType = UNSET
    last_of_session: bool | UnsetType = UNSET
    dice: tuple[int, ...] | UnsetType = UNSET
    total: int | UnsetType = UNSET
    point: int | UnsetType | None = UNSET
    bets: tuple[Settled, ...] | UnsetType = UNSET
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
