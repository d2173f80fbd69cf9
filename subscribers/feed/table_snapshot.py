"""State of one table as received over MQTT: a fold over its messages, without clock or I/O.

Retained topics give the state; events give the dealer's calls and each round as it ends. A message
that this release cannot decode changes nothing and is listed in ``unreadable``, so that displays
can mark the table as outdated.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from common.contract.events import Announcement, ResultCorrected, RoundResult
from common.contract.history import AnyLine
from common.contract.retained import Alert, History, Info, ShoeTopic, State
from common.contract.shown import FROM_A_SHOE
from subscribers.feed.round_progress import RoundProgress, follow

CALL_EVENT_TYPES = ("bets.closed", "bets.last_call", "round.opened", "round.result", "round.void")
"""Events that carry the current call, or end it."""
STALE_LINK_STATES = ("open", "lost", "stale", "unintelligible")
"""Link states in which nothing at the table is up to date."""

OutdatedReason = Literal[
    "no_broker", "no_daemon", "daemon_offline", "daemon_silent", "no_table", "unreadable"
]


class Outdated(msgspec.Struct, frozen=True):
    """Why a table's data must not be shown as current: its daemon is unreachable, or its messages
    cannot be decoded. ``since``: UTC, ISO 8601.
    """

    why: OutdatedReason
    since: str


class EventEnvelope(msgspec.Struct, frozen=True):
    """Fields common to all events, and those used here; others are ignored."""

    type: str
    boot: str
    seq: int
    time: str
    session: int | None = None
    round: int | None = None
    historical: bool = False
    announcement: Announcement | None = None


class TableSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """One table. Fields that have not been received yet are None or empty."""

    table: str
    simulated: bool = False
    info: Info | None = None
    state: State | None = None
    result: RoundResult | ResultCorrected | None = None
    history: tuple[AnyLine, ...] = ()
    history_session: int | None = None
    """The session of these rounds."""
    shoe: ShoeTopic | None = None
    alerts: Mapping[str, Alert] = {}
    announcement: Announcement = {}
    """The current call at the table, by language, in the decree's words."""
    announced_by: str = ""
    """Type of the event that carried the call."""
    progress: RoundProgress = RoundProgress()
    """Actions in the round in progress."""
    talla: tuple[int, int] | None = None
    """Session and first round of the shoe in use, or of the last one."""
    unreadable: Mapping[str, str] = {}
    """Topics whose last message could not be decoded, and since when."""


RETAINED_TYPES: Mapping[str, Any] = {
    "info": Info,
    "state": State,
    "result": RoundResult | ResultCorrected | None,
    "history": History,
    "shoe": ShoeTopic,
}
"""The retained topics of a table, and the types of their bodies."""


def fold(table: TableSnapshot, leaf: str, body: bytes, at: str) -> TableSnapshot:
    """Apply a message on the table's topic ``leaf``, received at ``at``, and return the result."""
    try:
        value = _read(leaf, body)
    except (ValueError, RecursionError):
        return msgspec.structs.replace(table, unreadable={leaf: at, **table.unreadable})
    unreadable = {topic: since for topic, since in table.unreadable.items() if topic != leaf}
    progress = follow(table.progress, body) if leaf == "event" else table.progress
    return msgspec.structs.replace(
        _put(table, leaf, value), unreadable=unreadable, progress=progress
    )


def _read(leaf: str, body: bytes) -> Any:
    if leaf == "event":
        return msgspec.json.decode(body, type=EventEnvelope)
    kind = Alert if leaf.startswith("alert/") else RETAINED_TYPES.get(leaf)
    return None if kind is None or not body else msgspec.json.decode(body, type=kind)


def _put(table: TableSnapshot, leaf: str, value: Any) -> TableSnapshot:
    change = msgspec.structs.replace
    if leaf == "event":
        return _with_call(table, value)
    if leaf.startswith("alert/"):
        others = {key: alert for key, alert in table.alerts.items() if key != leaf[6:]}
        return change(table, alerts=others if value is None else {**others, leaf[6:]: value})
    if leaf == "history":
        if value is None:
            return change(table, history=(), history_session=None)
        return change(table, history=tuple(value.results), history_session=value.session)
    if leaf == "state" and value is not None:
        table = change(table, talla=_talla(value) or table.talla)
    return change(table, **{leaf: value}) if leaf in RETAINED_TYPES else table


def _talla(state: State) -> tuple[int, int] | None:
    shown = state.shown
    shoe = shown.shoe if isinstance(shown, FROM_A_SHOE) else None
    first = None if shoe is None else shoe.first_round
    return None if first is None else (shown.session, first)


def _with_call(table: TableSnapshot, event: EventEnvelope) -> TableSnapshot:
    """Set the current call. Historical events do not change it."""
    if event.type not in CALL_EVENT_TYPES or event.historical:
        return table
    return msgspec.structs.replace(
        table, announcement=event.announcement or {}, announced_by=event.type
    )


def daemon_of(table: TableSnapshot, nodes: Mapping[tuple[bool, str], bytes]) -> str | None:
    """Return the node whose daemon published the state, matched by its boot id; None if unknown.

    ``nodes``: (simulated, node) -> body of its retained ``status``.
    """
    boot = None if table.state is None else table.state.boot
    matching = (node for (_, node), body in nodes.items() if _status(body) == ("online", boot))
    return next(matching, None)


def _status(body: bytes) -> tuple[str, str] | None:
    try:
        fields = msgspec.json.decode(body, type=dict[str, str])
    except (ValueError, RecursionError):
        return None
    return fields.get("status", ""), fields.get("boot", "")
