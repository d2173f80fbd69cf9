"""Records as a file of Parquet, one group of rows at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from subscribers.surveillance.archive import Row
from subscribers.surveillance.export_forms import COLUMNS, values

ROWS, BYTES = 20_000, 64 << 20
"""A group has at most so many rows, and ends with the row whose body makes it so many bytes."""
_OFTEN = pa.dictionary(pa.int32(), pa.string())
_MOMENT = pa.timestamp("us", tz="UTC")
_TYPES = {
    "number": pa.int64(),
    **dict.fromkeys(("site", "kind", "table", "node", "boot", "type"), _OFTEN),
    **dict.fromkeys(("time", "heard"), _MOMENT),
    **dict.fromkeys(("seq", "session", "round"), pa.int64()),
    "words": pa.list_(pa.string()),
    "key": pa.string(),
    "body": pa.binary(),
}
SCHEMA = pa.schema([pa.field(name, _TYPES[name]) for name in COLUMNS])


def write(rows: Iterable[Row], file: IO[bytes]) -> int:
    """Write them all. Returns how many. Bodies are as they came; a time that is none is null."""
    count = 0
    with pq.ParquetWriter(file, SCHEMA, compression="zstd") as writer:
        for group in _groups(rows):
            writer.write_table(_table(group))
            count += len(group)
    return count


def _groups(rows: Iterable[Row]) -> Iterator[list[Row]]:
    group: list[Row] = []
    size = 0
    for row in rows:
        group.append(row)
        size += len(row.record.body)
        if len(group) == ROWS or size >= BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group


def _table(group: list[Row]) -> Any:
    columns = dict(zip(COLUMNS, zip(*map(values, group), strict=True), strict=True))
    for name in ("time", "heard"):
        columns[name] = tuple(map(_moment, columns[name]))
    return pa.table([pa.array(columns[name], _TYPES[name]) for name in COLUMNS], schema=SCHEMA)


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None
