"""Archive records as CSV rows and as JSON lines. No clock, no I/O.

A JSON line has the fields of a journal entry as ``novamas export`` writes it, as far as the archive
knows them: ``novamas verify --witness`` accepts a file of such lines.
"""

from __future__ import annotations

import csv
import io
from typing import Any

import msgspec

from subscribers.surveillance.archive import ArchiveRow

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
"""The columns of the formats ``csv`` and ``parquet``."""
_FORMULA_PREFIXES = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
"""First characters of a cell that a spreadsheet evaluates as a formula."""


def csv_header() -> str:
    """Return the header line of ``csv``."""
    return _line(COLUMNS)


def as_csv(row: ArchiveRow) -> str:
    """Return the CSV line of a record (RFC 4180). Its words are joined by ``; ``. A text that a
    spreadsheet would take for a formula gets a leading apostrophe.
    """
    return _line([_cell(value) for value in values(row)[:-3]] + _last_cells(row))


def as_json(row: ArchiveRow) -> str:
    """Return the JSON line of a record, with its body unchanged. A body that is not JSON on one
    line is written as a string.
    """
    record = row.record
    fields: dict[str, Any] = dict(zip(COLUMNS, values(row), strict=True))
    fields["body"] = msgspec.Raw(record.body) if _is_line(record.body) else _text(record.body)
    return msgspec.json.encode(fields).decode() + "\n"


def values(row: ArchiveRow) -> list[Any]:
    """Return the fields of a record in the order of the columns."""
    record = row.record
    return [
        row.number, record.site, record.kind, record.table, record.node, record.boot, record.seq,
        record.time, record.received, record.type, record.session, record.round, record.words,
        record.key, record.body,
    ]  # fmt: skip


def _last_cells(row: ArchiveRow) -> list[str]:
    record = row.record
    return [_cell("; ".join(record.words)), _cell(record.key), _cell(_text(record.body))]


def _cell(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA_PREFIXES) else value


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
