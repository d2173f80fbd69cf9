"""The retained topics of a table: ``info``, ``state``, ``result``, ``history``, ``shoe`` and
``alert/<id>``.

``result`` is the last ``round.result`` or the ``result.corrected`` that replaces it, or ``null``.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from controller.contract.commands import Role
from controller.contract.events import Announcement
from controller.contract.history import AnyLine
from controller.contract.shown import AnyShown, ShoeCounts

Status = Literal["open", "closed", "waiting", "stale", "fault"]
"""One word for a table, the worst that applies, so that nobody has to combine topics.

``fault``: the table gives no results until somebody acts. ``stale``: a device is silent, so what is
shown may be out of date. ``waiting``: a person has to decide. ``open`` and ``closed``: the session.
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


class About(msgspec.Struct, frozen=True, kw_only=True):
    """What does not change while the daemon runs."""

    title: Announcement = {}
    """What the decree calls the game, by language."""
    languages: tuple[str, ...] = ()
    """The languages of the decree."""
    devices: dict[str, str] = {}
    """Device id to the name of its driver."""
    software: str = ""
    """Name and version of the daemon."""
    settings: dict[str, Any] = {}
    """What the configuration sets of the game, by name."""


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
    seq: int
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
    unsigned: bool = False
    """At a real table, whoever may publish at the broker may give commands in any name: the site
    has accepted that risk.
    """


class History(Leaf, frozen=True, kw_only=True):
    """The retained topic ``history``."""

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
    """What is wrong: docs/vocabulary/irregularities.md lists the words."""
    severity: Literal["warning", "fault"]
    """How serious it is."""
    raised: str
    """When: UTC, ISO 8601."""
    device: str | None = None
    """The device that it concerns."""
    detail: str | None = None
    """More about it, for a person."""
    acknowledged_by: str | None = None
    """The person who has seen it."""
    acknowledged_role: Role | None = None
    """That person's role."""
    acknowledged: str | None = None
    """When that person saw it: UTC, ISO 8601."""
