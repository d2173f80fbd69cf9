"""What a table says: the events, one frozen struct each. This is the wire contract of the topic ``event``.

A game fills the fields that are its own; the table adds the envelope (site, table, seq, boot, time ...).
In JSON an event is one flat object on one line. A field of the envelope or an optional field that has its
default value is left out; fields that every event of a kind must show, even as null, have no default.
"""

from __future__ import annotations

from typing import Literal

import msgspec

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


class RoundResult(Event, frozen=True, tag="round.result"):
    """The ball lies definitively in a pocket. Zero has no colour, parity, half, dozen or column: they are null.

    ``zeros`` counts consecutive zeros up to this one; ``last_of_session``: settlement of zero differs then.
    ``confirmed_by``: a person stands for it. ``frames``: the evidence, oldest first.
    """

    number: Number
    spin: int | None
    colour: Colour | None
    parity: Parity | None
    half: Half | None
    dozen: int | None
    column: int | None
    zeros: int
    last_of_session: bool
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


class ResultCorrected(Event, frozen=True, tag="result.corrected"):
    """A person corrected a published result. ``replaces`` is the ``seq`` of the event that no longer holds,
    ``replaces_boot`` its ``boot``; null where the daemon no longer knows them.
    """

    replaces: int | None
    replaces_boot: str | None
    number: Number
    was: Number
    colour: Colour | None
    parity: Parity | None
    half: Half | None
    dozen: int | None
    column: int | None
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
    Irregularity,
    AlertRaised,
    AlertAcknowledged,
    AlertCleared,
    DeviceState,
    DataLate,
)
