"""Reads a list of results."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from itertools import pairwise
from typing import NamedTuple

from common.errors import NovamasError
from common.suggestions import unknown_word
from controller.shadow.list_format import Column, ListFormat, zone_of
from controller.shadow.results import ListedResult

MAX_LIST_BYTES = 64_000_000
MAX_RESULTS = 20_000
"""Maximum number of results of one table in a list: more than five days of the fastest wheel."""
MAX_FIELD = 200
"""Maximum characters of a cell."""


class ListError(NovamasError):
    """A list cannot be read. The message has the line and what was expected there."""


class _Row(NamedTuple):
    line: int
    cells: Sequence[str]


def read_list(
    data: bytes,
    form: ListFormat,
    *,
    table: str,
    day: date,
    day_begins: time,
) -> tuple[ListedResult, ...]:
    """Return the results of a list, oldest first. ``table``: its name in the list, if it has a
    column for it; ``day``: the compared day, for times without one. Raises :class:`ListError`.
    """
    rows = list(_rows(data, form))
    columns = _columns(form, rows)
    if form.headings:
        rows = rows[1:]
    if form.newest_first:
        rows.reverse()
    if "table" in columns:
        names = {_cell(row, columns["table"], "table"): None for row in rows}
        if table not in names:
            raise ListError(f"{unknown_word('table', table, list(names))} in the list")
    listed: list[tuple[int, str, str | None]] = []
    for row in rows:
        if "table" in columns and _cell(row, columns["table"], "table") != table:
            continue
        cell = _cell(row, columns["number"], "number")
        if cell in form.no_result:
            continue
        number = form.numbers.get(cell) or (cell[1:] if re.fullmatch("0[1-9]", cell) else cell)
        if not re.fullmatch("[A-Za-z0-9]{1,16}", number):
            raise ListError(
                f"line {row.line}: the number's column has {cell!r}, which is no result; name "
                "other spellings in `numbers`, and rows that are no results in `no_result` of the "
                "format"
            )
        listed.append((row.line, number, _time_text(row, columns)))
        if len(listed) > MAX_RESULTS:
            raise ListError(f"line {row.line}: more than {MAX_RESULTS} results")
    return _timed(listed, form, day, day_begins)


def _rows(data: bytes, form: ListFormat) -> Iterator[_Row]:
    if len(data) > MAX_LIST_BYTES:
        raise ListError(f"longer than {MAX_LIST_BYTES} bytes")
    try:
        text = data.decode("utf-8-sig" if form.encoding == "utf-8" else form.encoding)
    except UnicodeError as error:
        at = getattr(error, "start", 0)
        raise ListError(
            f"line {data.count(bytes([10]), 0, at) + 1}: not {form.encoding}; state the list's "
            "`encoding` in the format"
        ) from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise ListError(f"line {line}: a NUL character; the list's `encoding` may be utf-16")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=form.delimiter, strict=True)
    before = 0
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise ListError(f"line {before + 1}: {error}") from None
        line, before = before + 1, reader.line_num
        is_comment = form.comment is not None and cells[:1] and cells[0].startswith(form.comment)
        if line > form.skip and not is_comment and any(cell.strip() for cell in cells):
            yield _Row(line, cells)


def _columns(form: ListFormat, rows: Sequence[_Row]) -> dict[str, int]:
    """Return the index of each column that the format names."""
    if form.headings and not rows:
        raise ListError("the list is empty: not even its headings are there")
    headings = [cell.strip() for cell in rows[0].cells] if form.headings else []
    wanted: dict[str, Column | None] = {
        "time": form.time,
        "date": form.date,
        "table": form.table,
        "number": form.number,
    }
    found = {}
    for name, column in wanted.items():
        if isinstance(column, int):
            found[name] = column - 1
        elif column is not None:
            if headings.count(column) != 1:
                problem = (
                    "two columns have this heading"
                    if column in headings
                    else unknown_word("column", column, headings)
                )
                raise ListError(f"line {rows[0].line}: `{name}` of the format: {problem}")
            found[name] = headings.index(column)
    return found


def _cell(row: _Row, column: int, name: str) -> str:
    if column >= len(row.cells):
        raise ListError(
            f"line {row.line}: {len(row.cells)} columns, and `{name}` is column {column + 1}"
        )
    cell = row.cells[column].strip()
    if len(cell) > MAX_FIELD:
        raise ListError(f"line {row.line}: column {column + 1} has {len(cell)} characters")
    return cell


def _time_text(row: _Row, columns: dict[str, int]) -> str | None:
    if "time" not in columns:
        return None
    at = _cell(row, columns["time"], "time")
    return f"{_cell(row, columns['date'], 'date')} {at}" if "date" in columns else at


def _timed(
    listed: Sequence[tuple[int, str, str | None]], form: ListFormat, day: date, begins: time
) -> tuple[ListedResult, ...]:
    """Return the results with their times."""
    zone = None if form.zone is None else zone_of(form.zone)
    timed: list[ListedResult] = []
    latest: float | None = None
    for line, number, text in listed:
        at = None
        if text is not None:
            at = _moment(line, text, form, day, begins, zone, latest)
            latest = at
        timed.append(ListedResult(line=line, number=number, at=at))
    steps = [
        after.at < before.at
        for before, after in pairwise(timed)
        if before.at is not None and after.at is not None
    ]
    if sum(steps) > len(steps) / 2:
        raise ListError(
            f"line {timed[0].line}: the times from here on go back; state `newest_first` in the "
            "format"
        )
    return tuple(timed)


def _moment(
    line: int,
    text: str,
    form: ListFormat,
    day: date,
    begins: time,
    zone: tzinfo | None,
    latest: float | None,
) -> float:
    """Return a time in seconds since 1970. Of a local time that occurs twice, the first counts that
    is not before the row before it.
    """
    try:
        local = datetime.strptime(text, form.time_format)  # noqa: DTZ007 - the zone follows
    except ValueError:
        raise ListError(
            f"line {line}: the time {text!r} does not have the form {form.time_format}"
        ) from None
    if not form.has_day:
        after_midnight = local.time() < begins
        local = datetime.combine(day + timedelta(days=after_midnight), local.time())
    if local.tzinfo is not None:
        return local.timestamp()
    if not 1971 <= local.year <= 9990:
        raise ListError(f"line {line}: the time {text!r} has an impossible year")
    first, second = (
        (local.replace(fold=fold, tzinfo=zone)).astimezone(UTC).timestamp() for fold in (0, 1)
    )
    return second if latest is not None and first < latest - 1 and second >= latest - 1 else first
