"""What is known of one table from MQTT alone: a fold over its messages, without clock or I/O.

Retained topics give the state; events tell what is called, and each round as it ends. A message
that this release cannot read changes nothing and is named in ``unread``, so that whoever draws the
table says that it is not up to date.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from controller.contract.events import Announcement, ResultCorrected, RoundResult
from controller.contract.history import AnyLine
from controller.contract.retained import Alert, History, Info, ShoeTopic, State
from controller.contract.shown import FROM_A_SHOE
from subscribers.course import Course, follow

CALLS = ("bets.closed", "bets.last_call", "round.opened", "round.result", "round.void")
"""The events that bring the call of the moment with them, or end it."""
STALE = ("lost", "stale", "unintelligible")
"""The states of a link behind which nothing is up to date."""

Reason = Literal["no_broker", "no_daemon", "daemon_offline", "no_table", "unreadable"]


class Outdated(msgspec.Struct, frozen=True):
    """Why nothing of a table may be shown as current: we do not hear from its daemon, or do not
    understand it. ``since``: UTC, ISO 8601.
    """

    why: Reason
    since: str


class Envelope(msgspec.Struct, frozen=True):
    """What every event has, and the fields that are followed here. Others are left alone."""

    type: str
    boot: str
    seq: int
    time: str
    session: int | None = None
    round: int | None = None
    historical: bool = False
    announcement: Announcement | None = None


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """One table. What was not heard of yet is None or empty."""

    table: str
    simulated: bool = False
    info: Info | None = None
    state: State | None = None
    result: RoundResult | ResultCorrected | None = None
    history: tuple[AnyLine, ...] = ()
    shoe: ShoeTopic | None = None
    alerts: Mapping[str, Alert] = {}
    calls: Announcement = {}
    """What is called at the table now, by language: the decree's words."""
    called: str = ""
    """The type of the event that called it."""
    course: Course = Course()
    """What was said in the round in progress."""
    talla: tuple[int, int] | None = None
    """Session and first round of the shoe in use, or of the last one."""
    unread: Mapping[str, str] = {}
    """The topics whose last message could not be read -> since when."""


TYPES: Mapping[str, Any] = {
    "info": Info,
    "state": State,
    "result": RoundResult | ResultCorrected | None,
    "history": History,
    "shoe": ShoeTopic,
}
"""The retained topics of a table, and what they carry."""


def fold(known: Known, leaf: str, body: bytes, at: str) -> Known:
    """What is known after a message on the table's topic ``leaf``, which came at ``at``."""
    try:
        told = _read(leaf, body)
    except (ValueError, RecursionError):
        return msgspec.structs.replace(known, unread={leaf: at, **known.unread})
    unread = {topic: since for topic, since in known.unread.items() if topic != leaf}
    course = follow(known.course, body) if leaf == "event" else known.course
    return msgspec.structs.replace(_put(known, leaf, told), unread=unread, course=course)


def _read(leaf: str, body: bytes) -> Any:
    if leaf == "event":
        return msgspec.json.decode(body, type=Envelope)
    kind = Alert if leaf.startswith("alert/") else TYPES.get(leaf)
    return None if kind is None or not body else msgspec.json.decode(body, type=kind)


def _put(known: Known, leaf: str, told: Any) -> Known:
    change = msgspec.structs.replace
    if leaf == "event":
        return _heard(known, told)
    if leaf.startswith("alert/"):
        others = {key: alert for key, alert in known.alerts.items() if key != leaf[6:]}
        return change(known, alerts=others if told is None else {**others, leaf[6:]: told})
    if leaf == "history":
        return change(known, history=() if told is None else tuple(told.results))
    if leaf == "state" and told is not None:
        known = change(known, talla=_talla(told) or known.talla)
    return change(known, **{leaf: told}) if leaf in TYPES else known


def _talla(state: State) -> tuple[int, int] | None:
    """Session and first round of the shoe in use."""
    shown = state.shown
    shoe = shown.shoe if isinstance(shown, FROM_A_SHOE) else None
    first = None if shoe is None else shoe.first_round
    return None if first is None else (shown.session, first)


def _heard(known: Known, event: Envelope) -> Known:
    """A call belongs to the moment: what is told afterwards calls nothing."""
    if event.type not in CALLS or event.historical:
        return known
    return msgspec.structs.replace(known, calls=event.announcement or {}, called=event.type)


def daemon_of(known: Known, nodes: Mapping[tuple[bool, str], bytes]) -> str | None:
    """The node whose daemon told the state: the one of its boot. None: none says so.

    ``nodes``: whether it says so among simulated tables, and node -> the body of its ``status``.
    """
    boot = None if known.state is None else known.state.boot
    found = (node for (_, node), body in nodes.items() if _status(body) == ("online", boot))
    return next(found, None)


def _status(body: bytes) -> tuple[str, str] | None:
    try:
        told = msgspec.json.decode(body, type=dict[str, str])
    except (ValueError, RecursionError):
        return None
    return told.get("status", ""), told.get("boot", "")
