"""A record as a row of a table of text and as a line of JSON. Without clock or I/O.

A line is an entry as ``novamas export`` writes those of a journal, with what the archive knows and
without what it does not: ``novamas verify --witness`` takes a file of such lines.
"""

from __future__ import annotations

import csv
import io
from typing import Any

import msgspec

from subscribers.surveillance.archive import Row

COLUMNS = (
    "number",
    "site",
    "kind",
    "table",
    "node",
    "boot",
    "seq",
    "time",
    "heard",
    "type",
    "session",
    "round",
    "words",
    "key",
    "body",
)
"""The columns of the forms ``csv`` and ``parquet``."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
"""With what a cell begins that a spreadsheet reckons instead of showing it."""


def head() -> str:
    """The first line of ``csv``."""
    return _line(COLUMNS)


def as_csv(row: Row) -> str:
    """A line for a record (RFC 4180). Its words are joined by ``; ``. A text that a spreadsheet
    would take for a formula has an apostrophe before it.
    """
    return _line([_cell(value) for value in values(row)[:-3]] + _last_cells(row))


def as_json(row: Row) -> str:
    """A line for a record, with its body unchanged; a body that is not JSON on one line becomes a
    string.
    """
    record = row.record
    told: dict[str, Any] = dict(zip(COLUMNS, values(row), strict=True))
    told["body"] = msgspec.Raw(record.body) if _is_line(record.body) else _text(record.body)
    return msgspec.json.encode(told).decode() + "\n"


def values(row: Row) -> list[Any]:
    """A record in the order of the columns."""
    record = row.record
    return [
        row.number, record.site, record.kind, record.table, record.node, record.boot, record.seq,
        record.time, record.heard, record.type, record.session, record.round, record.words,
        record.key, record.body,
    ]  # fmt: skip


def _last_cells(row: Row) -> list[str]:
    record = row.record
    return [_cell("; ".join(record.words)), _cell(record.key), _cell(_text(record.body))]


def _cell(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def _is_line(body: bytes) -> bool:
    if b"\n" in body or b"\r" in body:
        return False
    try:
        msgspec.json.decode(body)
    except (ValueError, RecursionError):
        return False
    return True


def _text(body: bytes) -> str:
    return body.decode("utf-8", "backslashreplace")


def _line(cells: Any) -> str:
    page = io.StringIO()
    csv.writer(page, lineterminator="\r\n").writerow(cells)
    return page.getvalue()
