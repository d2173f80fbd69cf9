"""Searches the archive for a request, and collects the events of a round."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from itertools import islice

import msgspec

from subscribers.surveillance.archive import ArchiveRow, Gap, Query, RecordArchive
from subscribers.surveillance.duty import DutySpan, find_during, spans
from subscribers.surveillance.search_request import SearchRequest, queries

MAX_ROUND_RECORDS = 5000
"""Maximum number of records read for one round."""


def find_records(archive: RecordArchive, request: SearchRequest) -> Iterator[ArchiveRow]:
    """Yield the records that the request asks for, in order. Raise ``SearchRequestError`` or
    ``ArchiveError``.
    """
    all_queries, duties = queries(request), duties_of(archive, request)
    rows = heapq.merge(
        *(find_during(archive, query, duties) for query in all_queries),
        key=lambda row: (row.record.time, row.number),
        reverse=request.latest,
    )
    return islice(_without_duplicates(rows), request.limit)


def duties_of(archive: RecordArchive, request: SearchRequest) -> list[DutySpan] | None:
    """Return the duties of the person whose duties the request asks for; None if it asks for
    nobody's. Raise ``ArchiveError``.
    """
    if request.on_duty is None:
        return None
    duties, _ = spans(archive, request.sites, request.tables, request.since, request.until)
    return [span for span in duties if span.person == request.on_duty]


def latest_session(archive: RecordArchive, site: str, table: str, number: int) -> int | None:
    """Return the latest session of a table that has a round with this number."""
    base = Query(sites=(site,), tables=(table,), kinds=("event",))
    query = msgspec.structs.replace(base, round=number, order="latest", limit=1)
    return next((row.record.session for row in archive.find(query)), None)


def round_rows(
    archive: RecordArchive, site: str, table: str, session: int, number: int
) -> list[ArchiveRow]:
    """Return the events of a round in order; within one boot in the order of the table."""
    base = Query(sites=(site,), tables=(table,), kinds=("event",))
    query = msgspec.structs.replace(base, session=session, round=number, limit=MAX_ROUND_RECORDS)
    rows = list(archive.find(query))
    boot_starts: dict[str, str] = {}
    for row in rows:
        boot_starts[row.record.boot] = min(
            row.record.time, boot_starts.get(row.record.boot, row.record.time)
        )
    return sorted(
        rows, key=lambda row: (boot_starts[row.record.boot], row.record.boot, row.record.seq)
    )


def duties_during(archive: RecordArchive, rows: Sequence[ArchiveRow]) -> list[DutySpan]:
    """Return who was on duty at the table of a round while it was played. ``rows``: its events."""
    if not rows:
        return []
    played = [row.record for row in rows if row.record.type != "result.corrected"] or [
        row.record for row in rows
    ]
    begin, end = (edge(record.time for record in played) for edge in (min, max))
    duties, _ = spans(archive, (played[0].site,), (played[0].table,), begin, end)
    return duties


def missing_events(archive: RecordArchive, rows: Sequence[ArchiveRow]) -> list[Gap]:
    """Return the missing events of these rows' tables, in the boots of these rows."""
    boots = {(row.record.site, row.record.table, row.record.boot) for row in rows}
    return [
        gap
        for site in sorted({row.record.site for row in rows})
        for gap in archive.gaps(site)
        if (gap.site, gap.table, gap.boot) in boots
    ]


def _without_duplicates(rows: Iterator[ArchiveRow]) -> Iterator[ArchiveRow]:
    last = 0
    for row in rows:
        if row.number != last:
            yield row
        last = row.number
