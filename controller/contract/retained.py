"""What a table keeps retained: the bodies of the topics ``info state result history shoe
alert/<id>``.

``result`` is the last ``round.result`` or the ``result.corrected`` that replaces it, or ``null``.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from controller.contract.commands import Role
from controller.contract.events import Announcement
from controller.contract.history import AnyLine

Status = Literal["open", "closed", "waiting", "stale", "fault"]
"""One word for a table, the worst that holds, so that nobody has to join topics:

``fault``: the table gives no results until someone acts; ``stale``: a device is silent, so what is
shown may be old; ``waiting``: a person has to decide; ``open`` and ``closed``: the session.
"""

LinkState = Literal["up", "open", "stale", "lost", "unintelligible"]


class DeviceLink(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a device's link stands, and since when."""

    state: LinkState
    since: str
    detail: str | None = None


class About(msgspec.Struct, frozen=True, kw_only=True):
    """What does not change while the daemon runs, beside the table's own names. ``devices``: device
    id -> driver.
    """

    title: Announcement = {}
    languages: tuple[str, ...] = ()
    devices: dict[str, str] = {}
    software: str = ""
    settings: dict[str, Any] = {}


class Leaf(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What every retained body says."""

    site: str
    table: str
    game: str
    decree: str
    boot: str
    simulated: bool = False


class Info(Leaf, frozen=True, kw_only=True, omit_defaults=True):
    """Topic ``info``."""

    about: About


class State(Leaf, frozen=True, kw_only=True):
    """Topic ``state``. ``seq`` is the last event that it takes into account, ``time`` when it last
    changed. ``fault``: why the table gives no results, or null; ``alerts``: the open ones;
    ``shown``: the game's own, as ``Game.show`` gives it.
    """

    status: Status
    seq: int
    time: str
    fault: str | None
    devices: dict[str, DeviceLink]
    alerts: tuple[str, ...]
    shown: dict[str, Any]


class History(Leaf, frozen=True, kw_only=True):
    """Topic ``history``."""

    results: list[AnyLine]
    """The latest rounds of the session, oldest first."""


class ShoeTopic(Leaf, frozen=True, kw_only=True):
    """Topic ``shoe``, of games dealt from one: counts of the shoe in use, never cards; null between
    tallas.
    """

    shoe: dict[str, Any] | None


class Alert(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Topic ``alert/<id>``, retained from ``alert.raised`` to ``alert.cleared``."""

    alert: str
    what: str
    severity: Literal["warning", "fault"]
    raised: str
    device: str | None = None
    detail: str | None = None
    acknowledged_by: str | None = None
    acknowledged_role: Role | None = None
    acknowledged: str | None = None
