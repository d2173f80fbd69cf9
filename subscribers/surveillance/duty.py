"""Who was on duty at a table, and when its sessions were open: from the events of people and
sessions, which every archive has. No clock, no I/O but the archive's.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice

import msgspec
from msgspec.structs import replace

from common.contract.events import EVENTS
from common.days import on_wire
from subscribers.surveillance.archive import ArchiveRow, Query, RecordArchive
from subscribers.surveillance.items import fields_of

DUTY_TYPES = ("staff.arrived", "staff.left", "session.opened", "session.closed")
"""The events that begin or end duties and sessions."""
LOOK_BACK = timedelta(days=2)
"""How long before a period a duty or session may have begun that is still found: a session ends
with its gaming day.
"""
AUTHOR_TYPES = tuple(
    str(kind.__struct_config__.tag)
    for kind in EVENTS
    if {"by", "confirmed_by"} & {*kind.__struct_fields__}
)
"""The types of events that name their author."""
MAX_AUTHOR_EVENTS = 5000
"""Maximum number of events that are read for the names of their authors."""


class DutySpan(msgspec.Struct, frozen=True):
    """A person on duty at a table."""

    site: str
    table: str
    person: str
    duty: str
    """The duty, such as ``croupier``."""
    since: str
    until: str | None
    """None: not over yet."""


class SessionSpan(msgspec.Struct, frozen=True):
    """A session of a table."""

    site: str
    table: str
    since: str
    until: str | None
    """None: not over yet."""


Spans = tuple[list[DutySpan], list[SessionSpan]]


def spans(
    archive: RecordArchive,
    sites: tuple[str, ...],
    tables: tuple[str, ...],
    since: str | None = None,
    until: str | None = None,
) -> Spans:
    """Return the duties and sessions that overlap a period, in the order of their begin. Raise
    ``ArchiveError`` or ``ValueError``.
    """
    query = Query(
        sites=sites,
        tables=tables,
        kinds=("event",),
        types=DUTY_TYPES,
        since=None if since is None else _look_back(since),
        until=until,
    )
    duties, sessions = fold_spans(archive.find(query))
    return (
        [span for span in duties if _ends_after(span.until, since)],
        [span for span in sessions if _ends_after(span.until, since)],
    )


def fold_spans(rows: Iterable[ArchiveRow]) -> Spans:
    """Return the duties and sessions of these events, in the order of their begin. The end of a
    session, or the begin of the next, ends all duties at its table.
    """
    duties = list[DutySpan]()
    sessions = list[SessionSpan]()
    on_duty: dict[tuple[str, str], dict[tuple[str, str], DutySpan]] = {}
    open_sessions: dict[tuple[str, str], SessionSpan] = {}
    for row in rows:
        record = row.record
        place = record.site, record.table
        here = on_duty.setdefault(place, {})
        if record.type in ("session.opened", "session.closed"):
            duties += [replace(span, until=record.time) for span in here.values()]
            here.clear()
            session = open_sessions.pop(place, None)
            if session is not None:
                sessions.append(replace(session, until=record.time))
            if record.type == "session.opened":
                open_sessions[place] = SessionSpan(*place, record.time, None)
            continue
        fields = fields_of(record.body)
        person, duty = str(fields.get("person", "")), str(fields.get("duty", ""))
        if record.type == "staff.arrived":
            here.setdefault((person, duty), DutySpan(*place, person, duty, record.time, None))
        elif (span := here.pop((person, duty), None)) is not None:
            duties.append(replace(span, until=record.time))
    duties += [span for here in on_duty.values() for span in here.values()]
    sessions += open_sessions.values()
    return (
        sorted(duties, key=lambda span: (span.since, span.table, span.person)),
        sorted(sessions, key=lambda span: (span.since, span.table)),
    )


def find_during(
    archive: RecordArchive, query: Query, duties: Sequence[DutySpan] | None
) -> Iterator[ArchiveRow]:
    """Yield the records of a query, ordered by time, that fall into any of these duties at their
    tables. None: all records of the query.
    """
    if duties is None:
        return archive.find(query)
    return islice(_find_during(archive, query, duties), query.limit)


def _find_during(
    archive: RecordArchive, query: Query, duties: Sequence[DutySpan]
) -> Iterator[ArchiveRow]:
    latest = query.order == "latest"
    overlapping = _overlapping(duties)
    for together in reversed(overlapping) if latest else overlapping:
        rows = heapq.merge(
            *(archive.find(_within(query, span)) for span in together),
            key=lambda row: (row.record.time, row.number),
            reverse=latest,
        )
        last = 0
        for row in rows:
            if row.number != last:  # a person with two duties
                yield row
            last = row.number


def authors(
    archive: RecordArchive,
    sites: tuple[str, ...],
    tables: tuple[str, ...],
    since: str | None,
    until: str | None,
) -> list[str]:
    """Return the people who gave or signed what is recorded in a period, by name."""
    query = Query(
        sites=sites,
        tables=tables,
        kinds=("event",),
        types=AUTHOR_TYPES,
        since=since,
        until=until,
        order="latest",
        limit=MAX_AUTHOR_EVENTS,
    )
    names = set[str]()
    for row in archive.find(query):
        fields = fields_of(row.record.body)
        signers = fields.get("signed_by")
        names.update(
            name
            for name in (
                fields.get("by"),
                fields.get("confirmed_by"),
                *(
                    signer.get("name")
                    for signer in (signers if isinstance(signers, list) else ())
                    if isinstance(signer, dict)
                ),
            )
            if isinstance(name, str) and name
        )
    return sorted(names, key=str.casefold)


def _look_back(since: str) -> str | None:
    try:
        return on_wire(datetime.fromisoformat(since) - LOOK_BACK)
    except OverflowError:  # in the first days of year 1
        return None


def _overlapping(duties: Sequence[DutySpan]) -> list[list[DutySpan]]:
    """Divide duties into groups that do not overlap in time, in the order of their begin."""
    groups = list[list[DutySpan]]()
    end: str | None = ""
    for span in sorted(duties, key=lambda span: span.since):
        if groups and (end is None or span.since < end):
            groups[-1].append(span)
            end = None if end is None or span.until is None else max(end, span.until)
        else:
            groups.append([span])
            end = span.until
    return groups


def _within(query: Query, span: DutySpan) -> Query:
    """Return the part of a query that falls into a duty."""
    untils = [until for until in (query.until, span.until) if until is not None]
    return replace(
        query,
        sites=(span.site,),
        tables=(span.table,),
        since=max(query.since or "", span.since),
        until=min(untils) if untils else None,
        limit=None,
    )


def _ends_after(until: str | None, since: str | None) -> bool:
    return until is None or since is None or until > since
