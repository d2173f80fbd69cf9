"""An excerpt of a journal: a day, a table, a round, with the evidence: each input with its bytes
and the events that it led to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from controller.journal.schema import Entry
from controller.proof.segment import HOSTILE

COLUMNS = (
    "position",
    "time",
    "table",
    "boot",
    "seq",
    "type",
    "session",
    "round",
    "number",
    "hash",
    "event",
)
"""Of the form ``csv``, which has the events alone."""


class Wanted(msgspec.Struct, frozen=True):
    """What to export; None: all. ``day`` as ``2026-11-19`` (UTC), ``round`` and ``session`` as the
    events count them.
    """

    day: str | None = None
    table: str | None = None
    session: int | None = None
    round: int | None = None


def excerpt(entries: Iterable[Entry], wanted: Wanted) -> Iterator[Entry]:
    """The wanted entries, in order. Those of the daemon itself (``boot``) come with every day that
    is wanted.
    """
    rounds: dict[str, tuple[int, int]] = {}
    for group in _groups(entries):
        first = group[0]
        if first.kind == "boot":
            if (
                (wanted.day is None or first.time.startswith(wanted.day))
                and wanted.round is None
                and wanted.session is None
            ):
                yield first
            continue
        if wanted.table is not None and first.table != wanted.table:
            continue
        inside = _rounds(group, rounds)
        if wanted.day is not None and not first.time.startswith(wanted.day):
            continue
        if any(
            (wanted.session is None or session == wanted.session)
            and (wanted.round is None or number == wanted.round)
            for session, number in inside
        ):
            yield from group


def as_json(entry: Entry) -> bytes:
    """An entry as one line, its body as it stands; a body that is no JSON on one line comes as a
    text.
    """
    try:
        msgspec.json.decode(entry.body)
        body: msgspec.Raw | str = msgspec.Raw(entry.body)
    except HOSTILE:
        body = _text(entry)
    if b"\n" in entry.body:
        body = _text(entry)
    return msgspec.json.encode(
        {
            "position": entry.position,
            "kind": entry.kind,
            "table": entry.table,
            "boot": entry.boot,
            "seq": entry.seq,
            "time": entry.time,
            "mono_ns": entry.mono_ns,
            "hash": entry.hash.hex(),
            "body": body,
        }
    )


def as_row(entry: Entry) -> list[Any]:
    """An event as a row with :data:`COLUMNS`."""
    event = _event(entry)
    own = [event.get(key, "") for key in ("type", "session", "round", "number")]
    return [
        entry.position,
        entry.time,
        entry.table,
        entry.boot,
        entry.seq,
        *own,
        entry.hash.hex(),
        _text(entry),
    ]


def _text(entry: Entry) -> str:
    return entry.body.decode("utf-8", "backslashreplace")


def _groups(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    """What was stored together: the bytes, the input and the events of one step of one table."""
    group: list[Entry] = []
    for entry in entries:
        if group and not _belongs(entry, group[-1]):
            yield group
            group = []
        group.append(entry)
    if group:
        yield group


def _belongs(entry: Entry, before: Entry) -> bool:
    if (entry.table, entry.boot) != (before.table, before.boot):
        return False
    return entry.kind == "event" or (
        entry.kind == "input" and before.kind == "bytes" and entry.time == before.time
    )


def _rounds(group: list[Entry], rounds: dict[str, tuple[int, int]]) -> set[tuple[int, int]]:
    """Which session and round a step belongs to: those of its events, else those that are in hand
    at its table.
    """
    table = group[0].table
    inside: set[tuple[int, int]] = set()
    for entry in group:
        if entry.kind == "event":
            event = _event(entry)
            session, number = event.get("session"), event.get("round", 0)
            if session and isinstance(session, int) and isinstance(number, int):
                rounds[table] = session, number
                inside.add(rounds[table])
    return inside or {rounds.get(table, (0, 0))}


def _event(entry: Entry) -> dict[str, Any]:
    try:
        event = msgspec.json.decode(entry.body)
    except HOSTILE:
        return {}
    return event if isinstance(event, dict) else {}
