"""The retained topics of a table: ``info``, ``state``, ``result``, ``history``, ``shoe`` and
``alert/<id>``.

``result`` is the last ``round.result`` or the ``result.corrected`` that replaces it, or ``null``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from controller.contract.commands import Duty, Role
from controller.contract.events import Announcement
from controller.contract.history import AnyLine
from controller.contract.shown import AnyShown, ShoeCounts
from devices.readings import Whole

Status = Literal["open", "closed", "waiting", "stale", "fault"]
"""One word for a table, the worst that applies, so that nobody has to combine topics.

``fault``: the table gives no results until somebody acts. ``stale``: a device is silent, so what is
shown may be out of date. ``waiting``: a person has to decide, about the round in progress (``asks``
of ``shown`` names the commands) or about an earlier one without a result (``unresolved`` of
``shown``, and the alert ``round-unresolved``), while play may go on. ``open`` and ``closed``: the
session.
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
    """Its name. It says the same of the same hand, bet or round."""
    fields: dict[str, bool] = {}
    """Fields that it must have besides: ``{"valid": false}``."""


class Allowed(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A command that a table knows."""

    roles: tuple[Role, ...]
    """Who may give it here, after what the site has narrowed. The game may ask for more, depending
    on what the command says.
    """
    two_persons: bool = False
    """It may take a second person: the reply then says so."""
    choices: dict[str, tuple[str, ...]] = {}
    """By field: the values that this game and decree know, where they are fewer than those of the
    contract, or the contract leaves them to the game.
    """
    leaves_out: tuple[str, ...] = ()
    """Fields that this game does not read, or refuses: leave them out of a form."""
    undone_by: Undo | None = None
    """What takes it back, as long as nothing has followed from it; absent where nothing does."""
    reasons: dict[str, tuple[Role, ...]] = {}
    """By value of its field ``reason``: the roles that the decree names for it, in place of
    ``roles``.
    """


class Identity(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which device it is, as configured."""

    maker: str | None = None
    """The maker."""
    model: str | None = None
    """The model."""
    serial: str | None = None
    """The serial number."""


class About(msgspec.Struct, frozen=True, kw_only=True):
    """What does not change while the daemon runs."""

    title: Announcement = {}
    """What the decree calls the game, by language."""
    languages: tuple[str, ...] = ()
    """The languages of the decree, or those that the site has set."""
    devices: dict[str, str] = {}
    """Device id to the name of its driver."""
    identities: dict[str, Identity] = {}
    """Device id to its maker, model and serial number, as configured; absent where none is."""
    software: str = ""
    """Name and version of the daemon."""
    settings: dict[str, Any] = {}
    """What the configuration sets of the game, by name."""
    jackpot: str | None = None
    """The jackpot that the table is linked with, or null."""
    commands: dict[str, Allowed] = {}
    """The commands that the table knows, by name. ``device.command`` and ``device.command launch``
    are those to its devices; the latter set the ball or the dice going.
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
    """What does not change while the daemon runs."""


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
    """What the game shows of itself; ``view`` names its shape."""
    staff: dict[Duty, tuple[str, ...]]
    """Who is at the table, as far as it was said in this session: by duty the names, in the order
    in which they came.
    """
    takes: tuple[str, ...]
    """The commands that the table takes as it stands, in the order of
    docs/integrator/vocabulary/commands.md. Any other is refused now, whatever it says; one of
    these may still be refused for what it says, or for the role of who says it.
    """
    unsigned: bool = False
    """At a real table, whoever may publish at the broker may give commands in any name: the site
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
    """What is wrong: docs/integrator/vocabulary/irregularities.md lists the words."""
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
