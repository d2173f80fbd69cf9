"""The retained topics of a table: ``info``, ``state``, ``result``, ``history``, ``shoe`` and
``alert/<id>``.

``result`` is the last ``round.result`` or the ``result.corrected`` that replaces it, or ``null``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from common.contract.commands import Duty, Role
from common.contract.events import Announcement
from common.contract.history import AnyLine
from common.contract.shown import AnyShown, ShoeCounts
from common.readings import Whole

Status = Literal["open", "closed", "waiting", "stale", "fault"]
"""One word for a table, the worst that applies, so that a client need not combine topics.

``fault``: the table gives no results until a person acts. ``stale``: a device is silent, so the
data shown may be out of date. ``waiting``: a person has to decide, about the round in progress
(``asks`` of ``shown`` names the commands) or about an earlier one without a result (``unresolved``
of ``shown``, and the alert ``round-unresolved``), while play may continue. ``open`` and ``closed``:
the session.
"""

LinkState = Literal["up", "open", "stale", "lost", "unintelligible"]


class DeviceLink(msgspec.Struct, frozen=True, omit_defaults=True):
    """The state of a device's link."""

    state: LinkState
    """The state."""
    since: str
    """Since when: UTC, ISO 8601."""
    detail: str | None = None
    """More about it, for a person."""


class Undo(msgspec.Struct, frozen=True, omit_defaults=True):
    """A command that takes another one back."""

    command: str
    """Its name. It has the same fields for the same hand, bet or round."""
    fields: dict[str, bool] = {}
    """Fields that it must have besides: ``{"valid": false}``."""


class Allowed(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A command that a table knows."""

    roles: tuple[Role, ...]
    """Who may give it here, with the restrictions of the site. The game may require more, depending
    on the fields of the command.
    """
    two_persons: bool = False
    """It may need a second person: the reply then states this."""
    choices: dict[str, tuple[str, ...]] = {}
    """By field: the values that this game and decree accept, if they are fewer than those of the
    contract, or if the contract leaves them to the game.
    """
    leaves_out: tuple[str, ...] = ()
    """Fields that this game does not read, or refuses: leave them out of a form."""
    undone_by: Undo | None = None
    """The command that takes it back while nothing has followed from it; absent if there is none.
    """
    reasons: dict[str, tuple[Role, ...]] = {}
    """By value of its field ``reason``: the roles that the decree names for it, in place of
    ``roles``.
    """


class Identity(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The identity of a device, as configured."""

    maker: str | None = None
    """The maker."""
    model: str | None = None
    """The model."""
    serial: str | None = None
    """The serial number."""


class About(msgspec.Struct, frozen=True, kw_only=True):
    """Properties that do not change while the daemon runs."""

    title: Announcement = {}
    """The name of the game in the decree, by language."""
    languages: tuple[str, ...] = ()
    """The languages of the decree, or those that the site has set."""
    devices: dict[str, str] = {}
    """Device id to the name of its driver."""
    identities: dict[str, Identity] = {}
    """Device id to its maker, model and serial number, as configured; absent if none are."""
    software: str = ""
    """Name and version of the daemon."""
    settings: dict[str, Any] = {}
    """The game's settings in the configuration, by name."""
    jackpot: str | None = None
    """The jackpot that the table is linked with, or null."""
    commands: dict[str, Allowed] = {}
    """The commands that the table knows, by name. ``device.command`` and ``device.command launch``
    are those to its devices; the latter launches the ball or the dice.
    """


class Leaf(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What every retained topic of a table carries, ``alert/<id>`` and ``result`` excepted."""

    site: str
    """The site's id."""
    table: str
    """The table's id."""
    game: str
    """The game's id: ``roulette-french``."""
    decree: str
    """The decree that the table plays under: ``ARA02``."""
    boot: str
    """The run of the daemon."""
    simulated: bool = False
    """The table plays with simulated devices."""


class Info(Leaf, frozen=True, kw_only=True, omit_defaults=True):
    """The retained topic ``info``."""

    about: About
    """Properties that do not change while the daemon runs."""
    node: str = ""
    """The id of the daemon that serves the table: it publishes ``node/<node>/status``."""


class State(Leaf, frozen=True, kw_only=True):
    """The retained topic ``state``."""

    status: Status
    """One word for the table: the worst that applies."""
    seq: Whole
    """The last event that this state includes."""
    time: str
    """When it last changed: UTC, ISO 8601 with microseconds."""
    fault: str | None
    """Why the table gives no results; null if it does."""
    devices: dict[str, DeviceLink]
    """Device id to the state of its link."""
    alerts: tuple[str, ...]
    """The ids of the open alerts."""
    shown: AnyShown
    """The state of the game; ``view`` names its shape."""
    staff: dict[Duty, tuple[str, ...]]
    """The people at the table, as far as reported in this session: names by duty, in the order of
    their arrival.
    """
    takes: tuple[str, ...]
    """The commands that the table accepts in its present state, in the order of
    docs/integrator/vocabulary/commands.md. Any other is refused now; one of these may still be
    refused for its fields, or for the role of its sender.
    """
    witness_round: Whole | None = None
    """The round that ``witness.report`` may name: the one in play once its bets are closed, or else
    the last that ended. Absent if there is none, and at a table without a keypad as a witness.
    """
    node: str = ""
    """The id of the daemon that serves the table: it publishes ``node/<node>/status``."""
    unsigned: bool = False
    """At a real table, anyone who can publish to the broker can give commands in any name: the site
    has accepted that risk.
    """


class History(Leaf, frozen=True, kw_only=True):
    """The retained topic ``history``."""

    session: Whole
    """The session of these rounds."""
    results: list[AnyLine]
    """The latest rounds of the session, oldest first."""


class ShoeTopic(Leaf, frozen=True, kw_only=True):
    """The retained topic ``shoe``, of games dealt from one."""

    shoe: ShoeCounts | None
    """The shoe in use, null between shoes."""


class Alert(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The retained topic ``alert/<id>``, from ``alert.raised`` to ``alert.cleared``."""

    alert: str
    """The alert's id, which is also the last level of its topic."""
    what: str
    """The problem: docs/integrator/vocabulary/irregularities.md lists the words."""
    severity: Literal["warning", "fault"]
    """How serious it is."""
    raised: str
    """When: UTC, ISO 8601."""
    device: str | None = None
    """The device that it concerns."""
    detail: str | None = None
    """More about it, for a person."""
    rounds: tuple[Whole, ...] = ()
    """The rounds of the session that it concerns."""
    settled_by: Mapping[str, tuple[Role, ...]] = {}
    """The commands any one of which settles it, and the roles that may give each."""
    acknowledged_by: str | None = None
    """The person who has seen it."""
    acknowledged_role: Role | None = None
    """That person's role."""
    acknowledged: str | None = None
    """When that person saw it: UTC, ISO 8601."""
