"""Asks an archive what a person asked for, and puts a round together."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from itertools import islice

import msgspec

from subscribers.surveillance.archive import Archive, Gap, Query, Row
from subscribers.surveillance.asked import Asked, queries

LONGEST = 5000
"""Records of one round that are looked at."""


def found(archive: Archive, asked: Asked) -> Iterator[Row]:
    """What is asked for, in order. Raises ``AskedError`` and ``ArchiveError``."""
    several = queries(asked)
    rows = heapq.merge(
        *(archive.find(query) for query in several),
        key=lambda row: (row.record.time, row.number),
        reverse=asked.latest,
    )
    return islice(_once(rows), asked.limit)


def latest_session(archive: Archive, site: str, table: str, number: int) -> int | None:
    """The last session of a table that had a round of this number."""
    of = Query(sites=(site,), tables=(table,), kinds=("event",))
    query = msgspec.structs.replace(of, round=number, order="latest", limit=1)
    return next((row.record.session for row in archive.find(query)), None)


def round_rows(archive: Archive, site: str, table: str, session: int, number: int) -> list[Row]:
    """What was said of a round, in order; within one boot in the order of the table."""
    of = Query(sites=(site,), tables=(table,), kinds=("event",))
    query = msgspec.structs.replace(of, session=session, round=number, limit=LONGEST)
    rows = list(archive.find(query))
    first: dict[str, str] = {}
    for row in rows:
        first[row.record.boot] = min(row.record.time, first.get(row.record.boot, row.record.time))
    return sorted(rows, key=lambda row: (first[row.record.boot], row.record.boot, row.record.seq))


def missing(archive: Archive, rows: Sequence[Row]) -> list[Gap]:
    """Events that are missing among those of these rows' tables, in the boots of these rows."""
    boots = {(row.record.site, row.record.table, row.record.boot) for row in rows}
    return [
        gap
        for site in sorted({row.record.site for row in rows})
        for gap in archive.gaps(site)
        if (gap.site, gap.table, gap.boot) in boots
    ]


def _once(rows: Iterator[Row]) -> Iterator[Row]:
    last = 0
    for row in rows:
        if row.number != last:
            yield row
        last = row.number
