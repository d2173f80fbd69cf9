"""A signed export: the records of a search as CSV and PDF, and a statement over both files, which
the exporting person signs with the own key. No clock, no I/O. Loading it takes as long as a start
of the web server, because of PDF and signature: load it when something is exported.

The statement is a JWS (RFC 7515) of JSON, as signed commands are: its key is in the people file.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256
from textwrap import wrap
from typing import Literal

import msgspec

from common.paper import Paper, printable
from common.people.jws import sign
from subscribers.surveillance.archive import ArchiveRow
from subscribers.surveillance.export_forms import as_csv, csv_header
from subscribers.surveillance.export_statement import Statement
from subscribers.surveillance.items import item
from subscribers.surveillance.words import room_text

CSV_NAME, PDF_NAME = "records.csv", "records.pdf"
STATEMENT_NAME, SIGNED_NAME = "statement.json", "statement.jws"
_COLUMNS = (38.0, 30.0, 72.0, 88.0, 0.0)
"""Widths of the columns of the PDF in millimetres; 0: the rest."""
_LINE_MM, _CHARACTER_MM = 3.2, 1.4
"""Height of a line, and the width of a character, somewhat more than the mean."""


def signed_export(
    rows: Sequence[ArchiveRow], statement: Statement, key: bytes, language: str
) -> bytes:
    """Return the ZIP file with the records, the statement and its signature. ``key``: the person's
    secret key, 32 bytes.
    """
    files = {
        CSV_NAME: (csv_header() + "".join(map(as_csv, rows))).encode("utf-8", "backslashreplace"),
        PDF_NAME: as_pdf(rows, statement, language),
    }
    hashes = {name: sha256(data).hexdigest() for name, data in files.items()}
    body = msgspec.json.format(
        msgspec.json.encode(msgspec.structs.replace(statement, files=hashes)), indent=2
    )
    files |= {STATEMENT_NAME: body, SIGNED_NAME: sign(key, body).encode()}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return packed.getvalue()


def as_pdf(rows: Sequence[ArchiveRow], statement: Statement, language: str) -> bytes:
    """Return the records in words as a PDF document, whose pages all name query, head and
    exporter.
    """

    def words(key: str, /, **fields: object) -> str:
        return room_text(f"page.{key}", language, **fields)

    asked = "; ".join(
        f"{name} = {', '.join([value] if isinstance(value, str) else value)}"
        for name, value in statement.query.items()
    )
    head = [
        f"{words('title')} · {statement.site}",
        words("export_query", query=asked),
        words("export_head", through=statement.through, count=statement.records),
        *(
            f"{head.node} {head.journal}: {head.position} {head.hash}"
            for head in statement.checkpoints
        ),
        words("export_by", name=statement.name, id=statement.person, time=statement.time),
    ]
    page = Paper(head, language, datetime.fromisoformat(statement.time), landscape=True)
    heading = [words(name) for name in ("time", "table", "what", "article", "said_by")]
    _add_row(page, heading, "B")
    for row in rows:
        shown = item(row, language)
        place = f" {shown.session}/{shown.round}" if shown.round else ""
        cells = [
            shown.time,
            f"{shown.table or shown.node}{place}",
            shown.title,
            f"{shown.article} {shown.law}".strip(),
            shown.by,
        ]
        if page.will_page_break(_LINE_MM * max(map(len, _wrapped(page, cells)))):
            page.add_page()
            _add_row(page, heading, "B")
        _add_row(page, cells)
    return bytes(page.output())


def _add_row(page: Paper, cells: Sequence[str], style: Literal["", "B"] = "") -> None:
    """Print one row. A table of the library takes a hundred times as long."""
    page.set_font("Helvetica", style, 7)
    wrapped = _wrapped(page, cells)
    top, left = page.get_y(), page.l_margin
    for lines, width in zip(wrapped, _widths(page), strict=True):
        for number, line in enumerate(lines):
            page.set_xy(left, top + number * _LINE_MM)
            page.cell(width, _LINE_MM, line)
        left += width
    bottom = top + _LINE_MM * max(map(len, wrapped)) + 0.4
    page.line(page.l_margin, bottom, page.w - page.r_margin, bottom)
    page.set_xy(page.l_margin, bottom + 0.4)


def _wrapped(page: Paper, cells: Sequence[str]) -> list[list[str]]:
    """Return the lines of each cell."""
    return [
        wrap(printable(text), int(width / _CHARACTER_MM)) or [""]
        for text, width in zip(cells, _widths(page), strict=True)
    ]


def _widths(page: Paper) -> list[float]:
    return [width or page.epw - sum(_COLUMNS) for width in _COLUMNS]
