"""Writes records to a Parquet file, one row group at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from subscribers.surveillance.archive import ArchiveRow
from subscribers.surveillance.export_forms import COLUMNS, values

MAX_GROUP_ROWS, MAX_GROUP_BYTES = 20_000, 64 << 20
"""A row group ends at this number of rows, or with the row whose body reaches this size."""
_DICTIONARY = pa.dictionary(pa.int32(), pa.string())
_TIMESTAMP = pa.timestamp("us", tz="UTC")
_TYPES = {
    "number": pa.int64(),
    **dict.fromkeys(("site", "kind", "table", "node", "boot", "type"), _DICTIONARY),
    **dict.fromkeys(("time", "heard"), _TIMESTAMP),
    **dict.fromkeys(("seq", "session", "round"), pa.int64()),
    "words": pa.list_(pa.string()),
    "key": pa.string(),
    "body": pa.binary(),
}
SCHEMA = pa.schema([pa.field(name, _TYPES[name]) for name in COLUMNS])


def write(rows: Iterable[ArchiveRow], file: IO[bytes]) -> int:
    """Write all rows and return their number. Bodies are unchanged; an invalid time is written as
    null.
    """
    count = 0
    with pq.ParquetWriter(file, SCHEMA, compression="zstd") as writer:
        for group in _groups(rows):
            writer.write_table(_table(group))
            count += len(group)
    return count


def _groups(rows: Iterable[ArchiveRow]) -> Iterator[list[ArchiveRow]]:
    group: list[ArchiveRow] = []
    size = 0
    for row in rows:
        group.append(row)
        size += len(row.record.body)
        if len(group) == MAX_GROUP_ROWS or size >= MAX_GROUP_BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group


def _table(group: list[ArchiveRow]) -> Any:
    columns = dict(zip(COLUMNS, zip(*map(values, group), strict=True), strict=True))
    for name in ("time", "heard"):
        columns[name] = tuple(map(_moment, columns[name]))
    return pa.table([pa.array(columns[name], _TYPES[name]) for name in COLUMNS], schema=SCHEMA)


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None
