"""The envelope of every event, and parts of the events of several games."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from common.contract.command_fields import Signer
from common.readings import MAX_EXACT_INTEGER, Number, Whole

Announcement = dict[str, str]
"""The call at the table in the decree's own words, by language: ``{"es": "no va más"}``."""


MonoNs = Annotated[int, msgspec.Meta(ge=0, extra_json_schema={"maximum": MAX_EXACT_INTEGER})]
"""A time of :func:`common.clock.mono_ns`. Not bounded when read: journals of older releases count
from the start of the machine.
"""


class Frame(msgspec.Struct, frozen=True, omit_defaults=True):
    """One piece of evidence: a frame as received."""

    at: float
    """Seconds, as in the reading of this frame."""
    frame: str
    """The bytes as received. Those outside printable ASCII are backslash escapes. If several lines
    confirm one another, they are joined by CR LF, without what came between them.
    """
    device: str = ""
    """The device's id in the configuration."""


WITNESS_KEYPAD = "keypad"
"""Id of the second witness that is a person, in place of the id of a device."""


class WitnessStatement(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a second witness has reported of a round so far. It is silent if it names neither a
    number nor dice.
    """

    device: str
    """The device's id in the configuration; ``keypad``: a person, with ``witness.report``."""
    number: Number | None = None
    """Wheels: the number that it saw."""
    dice: tuple[Whole, ...] | None = None
    """Craps: the dice that it saw."""
    agrees: bool | None = None
    """Whether that is the result of the event, or its candidate; absent if the witness is silent,
    or there is nothing to compare with.
    """


class Event(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    tag_field="type",
    gc=False,
):
    """The envelope of every event."""

    site: str = ""
    """The site's id."""
    table: str = ""
    """The table's id."""
    game: str = ""
    """The game's id: ``roulette-french``."""
    decree: str = ""
    """The decree that the table plays under: ``ARA02``."""
    boot: str = ""
    """One run of the daemon. ``seq`` starts again with each."""
    seq: Whole = 0
    """The table's event number, from 1 and without gaps within one ``boot``."""
    time: str = ""
    """UTC, ISO 8601 with microseconds."""
    mono_ns: MonoNs = 0
    """Nanoseconds of the host's monotonic clock since the daemon started, for durations within one
    ``boot``. After 2^53 - 1, some 104 days, comes 0: take differences modulo 2^53.
    """
    time_bound: float | None = 0.0
    """Seconds by which ``time`` may be wrong, if that is more than the site allows; null if
    unknown. Absent if it is not more, and if the site sets no limit: docs/technician/time.md.
    """
    simulated: bool = False
    """The table plays with simulated devices."""
    historical: bool = False
    """The event answers a recall, or was delivered late after an outage of the broker."""
    session: Whole = 0
    """The number of the session, counted per table from 1; absent outside a session."""
    round: Whole = 0
    """The number of the round, counted per session from 1; absent where the event belongs to no
    round.
    """
    signed_by: tuple[Signer, ...] = ()
    """Who signed the command that led to the event: one person, or both where it took two. Absent
    where a device did, or where commands need no signature.
    """


class Settled(msgspec.Struct, frozen=True, omit_defaults=True):
    """The settlement of one kind of bet."""

    bet: str
    """The bet's name."""
    outcome: Literal["win", "lose", "tie", "void", "stays"]
    """The result of the bet."""
    pays: tuple[Whole, Whole] | None = None
    """The odds of a winning bet to 1, as numerator and denominator."""
    who: str | None = None
    """Whose bet, where it belongs to one hand. Craps: the number on which it lies."""
