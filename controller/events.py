"""What a table says: the events, one frozen struct each. This is the wire contract of the topic ``event``.

A game fills the fields that are its own; the table adds the envelope (site, table, seq, boot, time ...).
In JSON an event is one flat object on one line. A field of the envelope or an optional field that has its
default value is left out; fields that every event of a kind must show, even as null, have no default.
"""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

from controller.commands import Role, VoidReason
from devices.readings import Number

Colour = Literal["red", "black"]
Parity = Literal["even", "odd"]
Half = Literal["falta", "pasa"]
Announcement = dict[str, str]
"""What is called at the table, in the decree's own words, by language: ``{"es": "no va más"}``."""


class Frame(msgspec.Struct, frozen=True, omit_defaults=True):
    """One piece of evidence: the frame as received, and when."""

    at: float
    frame: str
    device: str = ""


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type"):
    """The envelope. ``seq`` is contiguous per table and ``boot``; ``time`` is UTC, ISO 8601 with microseconds;
    ``mono_ns`` is the host's monotonic clock. ``session`` counts the table's sessions, ``round`` the rounds of a
    session, both from 1; ``historical`` marks an answer to a recall or a delivery after an outage.
    """

    site: str = ""
    table: str = ""
    game: str = ""
    decree: str = ""
    boot: str = ""
    seq: int = 0
    time: str = ""
    mono_ns: int = 0
    simulated: bool = False
    historical: bool = False
    session: int = 0
    round: int = 0


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
    """Bets are open for a new round. ``relaunch``: the round before it was void, and the bets may be changed
    where the decree says so. ``last_number`` is where the ball lies or must be put.
    """

    spin: int | None = None
    by: str | None = None
    relaunch: bool = False
    last_number: Number | None = None
    last_of_session: bool = False
    announcement: Announcement | None = None


class BetsClosed(Event, frozen=True, tag="bets.closed"):
    """No more bets. ``unobserved``: it fell into a silence of the device and is known only from what followed."""

    spin: int | None = None
    by: str | None = None
    unobserved: bool = False
    announcement: Announcement | None = None


class Hand(msgspec.Struct, frozen=True, omit_defaults=True):
    """One hand, or row, as it lay at the end of a round. ``kind``: what it makes (``natural``, ``blackjack``, ``bust`` ...)."""

    who: str
    cards: tuple[str, ...]
    points: int
    kind: str | None = None
    outcome: Literal["win", "lose", "tie"] | None = None


class RoundResult(Event, frozen=True, kw_only=True, tag="round.result"):
    """The round has its result. The fields of the other family of games are not there.

    Roulette, always: where the ball lies definitively. Zero has no colour, parity, half, dozen or column: they are null.
    ``zeros`` counts consecutive zeros up to this one; ``last_of_session``: settlement of zero differs then.
    Card games, always: the ``hands`` with their cards; ``winner``, null for none (a tie, or each box for itself); ``marks``,
    what else wins or loses bets (``natural``, ``pair_player``, ``tie``, ``colour``, ``inverse``, ``refait`` ...).

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
    last_of_session: bool | UnsetType = UNSET
    hands: tuple[Hand, ...] | UnsetType = UNSET
    winner: str | UnsetType | None = UNSET
    marks: tuple[str, ...] | UnsetType = UNSET
    frames: tuple[Frame, ...]
    confirmed_by: str | None = None
    announcement: Announcement | None = None


class RoundVoid(Event, frozen=True, tag="round.void"):
    """The spin is null: it has no number. The ball goes back into ``last_number`` before it is launched again."""

    reason: VoidReason
    law: str
    article: str
    last_number: Number | None
    by: str | None = None
    role: Role | None = None
    spin: int | None = None
    announcement: Announcement | None = None


class RoundUnresolved(Event, frozen=True, tag="round.unresolved"):
    """The result of a round is not known for certain. ``candidate`` was seen afterwards, and is no result until a
    person confirms it.
    """

    why: Literal["silence", "witnesses_disagree", "number_unknown", "before_no_more_bets", "no_launch", "restart", "undecided"]
    candidate: Number | None
    spin: int | None = None
    frames: tuple[Frame, ...] = ()


class ResultCorrected(Event, frozen=True, kw_only=True, tag="result.corrected"):
    """A person corrected a published result. ``replaces`` is the ``seq`` of the event that no longer holds,
    ``replaces_boot`` its ``boot``; null where the daemon no longer knows them.
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
    winner: str | UnsetType | None = UNSET
    by: str
    role: Role


class LastRounds(Event, frozen=True, tag="last_rounds"):
    """So many valid spins are left: before the session closes, or before a new minimum holds. Void spins do not count."""

    purpose: Literal["close", "limit"]
    left: int
    by: str | None = None
    announcement: Announcement | None = None


class LimitChanged(Event, frozen=True, tag="limit.changed"):
    """A new table minimum holds from now, in minor units of ``currency``."""

    minimum: int
    was: int | None = None
    currency: str | None = None


class ShoeStarted(Event, frozen=True, tag="shoe.started"):
    """A talla begins: shoe ``shoe`` of ``model`` with ``cards`` cards of ``decks`` decks, ``cut`` of them behind the cut card."""

    shoe: str
    model: str | None
    decks: int
    cards: int
    cut: int
    by: str
    role: Role
    announcement: Announcement | None = None


class ShoeCut(Event, frozen=True, tag="shoe.cut"):
    """The cut card has come: ``drawn`` cards came before it, ``left`` are behind it by the count; null without a count.

    ``rounds_left``: how many rounds may still be played, the one in hand among them.
    """

    drawn: int
    left: int | None
    rounds_left: int
    announcement: Announcement | None = None


class ShoeEnded(Event, frozen=True, tag="shoe.ended"):
    """The talla is over. ``missing`` and ``extra``: what the cards seen say against the composition, as far as all were read."""

    why: Literal["cut", "person", "reset"]
    drawn: int
    unread: int
    left: int | None = None
    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()


class CardsBurned(Event, frozen=True, tag="cards.burned"):
    """``count`` cards were burned, unseen. ``shown``: the card that was shown and said how many, where the decree has one."""

    count: int
    shown: str | None = None


class CardExpected(Event, frozen=True, tag="card.expected"):
    """Where the next card belongs; null: none may come now."""

    to: str | None


class CardDealt(Event, frozen=True, tag="card.dealt"):
    """A card went to a hand as its ``index``-th. ``card`` is null while it lies face down.

    ``was``: it lay with that hand before, where it did not belong.
    """

    to: str
    index: int
    card: str | None
    was: str | None = None


class CardTurned(Event, frozen=True, tag="card.turned"):
    """A card that lay face down is turned."""

    to: str
    index: int
    card: str


class CardRemoved(Event, frozen=True, tag="card.removed"):
    """A card leaves the game. ``card`` is null where nobody at the table has seen it. ``to``: the hand that it lay with."""

    why: str
    card: str | None
    to: str | None = None
    law: str | None = None
    article: str | None = None


class HandDecided(Event, frozen=True, tag="hand.decided"):
    """What a hand does, by its holder's word or because the rules leave no choice (``by`` is absent then)."""

    who: str
    decision: Literal["draw", "stand", "double", "split", "surrender", "natural", "bust"]
    by: str | None = None
    announcement: Announcement | None = None


class Insurance(Event, frozen=True, tag="insurance"):
    """Insurance is offered, or closed."""

    offered: bool
    announcement: Announcement | None = None


class Irregularity(Event, frozen=True, tag="irregularity"):
    """Something the decree does not allow, or does not foresee. ``law`` is the rule's id, ``article`` where it stands.

    ``asks``: the table waits for a person to say one of these commands; until then the round has no result.
    """

    what: str
    law: str
    article: str
    spin: int | None = None
    detail: str | None = None
    asks: tuple[str, ...] = ()
    frames: tuple[Frame, ...] = ()


class AlertRaised(Event, frozen=True, tag="alert.raised"):
    """Something needs a person. The same ``alert`` id is cleared later; in between it is retained under ``alert/<id>``."""

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
    state: Literal["up", "stale", "lost", "unintelligible"]
    detail: str | None = None


class DataLate(Event, frozen=True, tag="data.late"):
    """A burst of ``frames`` frames came after ``silence`` seconds without any. None of them was acted upon."""

    device: str
    frames: int
    silence: float


AnyEvent = (
    SessionOpened
    | SessionClosed
    | RoundOpened
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
    | Irregularity
    | AlertRaised
    | AlertAcknowledged
    | AlertCleared
    | DeviceState
    | DataLate
)

EVENTS: tuple[type[Event], ...] = (
    SessionOpened,
    SessionClosed,
    RoundOpened,
    BetsClosed,
    RoundResult,
    RoundVoid,
    RoundUnresolved,
    ResultCorrected,
    LastRounds,
    LimitChanged,
    ShoeStarted,
    ShoeCut,
    ShoeEnded,
    CardsBurned,
    CardExpected,
    CardDealt,
    CardTurned,
    CardRemoved,
    HandDecided,
    Insurance,
    Irregularity,
    AlertRaised,
    AlertAcknowledged,
    AlertCleared,
    DeviceState,
    DataLate,
)
