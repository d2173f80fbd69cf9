"""Exports an excerpt of a journal, such as a day, a table or a round, with its evidence: each input
with its bytes and its events.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from common.chain.schema import Entry
from controller.proof.segment import DECODE_ERRORS

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
"""The columns of the format ``csv``, which contains only events."""


class ExportFilter(msgspec.Struct, frozen=True):
    """What to export; None means everything. ``day`` such as ``2026-11-19`` (UTC); ``round`` and
    ``session`` as the events number them.
    """

    day: str | None = None
    table: str | None = None
    session: int | None = None
    round: int | None = None


def excerpt(entries: Iterable[Entry], wanted: ExportFilter) -> Iterator[Entry]:
    """Yield the wanted entries, in order. Those of the daemon (``boot``) are included if whole days
    are wanted.
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


def as_json(entry: Entry, rests_on: list[dict[str, Any]] | None = None) -> bytes:
    """Encode an entry as one line, with its body unchanged; a body that is not JSON on one line
    becomes a string. ``rests_on``: the readings that an event names.
    """
    try:
        msgspec.json.decode(entry.body)
        body: msgspec.Raw | str = msgspec.Raw(entry.body)
    except DECODE_ERRORS:
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
            **({"rests_on": rests_on} if rests_on else {}),
        }
    )


def as_row(entry: Entry) -> list[Any]:
    """Return an event as a row of :data:`COLUMNS`."""
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
    """Group the entries by step of a table: the bytes, the input and its events."""
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
    """Return the sessions and rounds of a step: those of its events, or else the one in progress at
    its table.
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
    except DECODE_ERRORS:
        return {}
    return event if isinstance(event, dict) else {}
