"""``python -m subscribers.surveillance.export``: writes records of an archive to a file. ``novamas
surveillance export`` starts it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from hashlib import file_digest
from pathlib import Path
from typing import IO, get_args

import msgspec

from common import clock
from common.command_line import CommandLine, end_process
from common.new_file import creating, replacing
from subscribers.surveillance import export_forms
from subscribers.surveillance.archive import ArchiveRow, Gap, Kind, Query, RecordArchive
from subscribers.surveillance.errors import ArchiveError
from subscribers.surveillance.open_archive import open_archive
from subscribers.surveillance.times import TimeError, time_of

EPILOG = """\
parquet: for pyarrow, DuckDB, pandas and others; bodies as received. csv: a row
for each record; a text that a spreadsheet would take for a formula gets a leading
apostrophe. jsonl: a JSON object on each line, as `novamas export` writes them;
`novamas verify --witness FILE` compares a journal with it.

Sealed cards are exported as received, in their boxes.

Times: 1h or 30m (ago), 21:30 (the most recent one), 2026-11-22,
2026-11-22T21:30, 2026-11-22T20:30:00Z.

exit status: 0 written, 1 nothing found, or reading or writing failed, 2 wrong usage"""
FILE_MODE = 0o640
"""Permissions of the new file, before the umask."""


class ExportSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of the program. They contain no secret."""

    archive: str


class ExportError(Exception):
    """Nothing was written. The message states why, and what to do."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the export and return the exit status."""
    options = command_line().parse_args(arguments)
    settings = msgspec.json.decode(options.settings, type=ExportSettings)
    try:
        query, tables = _query(options), set[tuple[str, str]]()
        with closing(open_archive(settings.archive, read_only=True)) as archive:
            rows = _collect_tables(archive.find(query), tables)
            count, digest = export(rows, options.form, options.file, replace=options.replace)
            gaps = list(_gaps(archive, tables))
    except TimeError as error:
        sys.stderr.write(f"novamas surveillance export: {error}\n")
        return 2
    except (ArchiveError, ExportError) as error:
        sys.stderr.write(f"novamas surveillance export: {error}\n")
        return 1
    except OSError as error:
        place = error.filename or options.file
        sys.stderr.write(f"novamas surveillance export: {place}: {error.strerror}\n")
        return 1
    for gap in gaps:
        sys.stderr.write(
            f"novamas surveillance export: of table {gap.table} at {gap.site}, boot {gap.boot}, "
            f"the events {gap.first} to {gap.last} are missing in the archive\n"
        )
    summary = f"{count:,} records" if count != 1 else "1 record"
    sys.stderr.write(f"{summary} in {options.file}, SHA-256 {digest}\n")
    return 0


def command_line() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = CommandLine(
        prog="novamas surveillance export",
        description="Write records of the archive to a file.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--settings", required=True, help=argparse.SUPPRESS)
    add = parser.add_argument
    add("action", choices=("export",), help=argparse.SUPPRESS)
    add("file", type=Path, metavar="FILE", help="the file; it must not exist yet")
    add("--form", choices=WRITERS, required=True, help="file format")
    add("--site", action="append", default=[], metavar="SITE", help="only this site; repeatable")
    add("--table", action="append", default=[], metavar="TABLE", help="only this table; repeatable")
    add(
        "--kind",
        action="append",
        default=[],
        choices=get_args(Kind),
        help="only this kind; repeatable",
    )
    add(
        "--type",
        action="append",
        default=[],
        metavar="TYPE",
        help="only this type of event; repeatable",
    )
    add("--from", dest="since", metavar="TIME", help="first time to include")
    add("--to", dest="until", metavar="TIME", help="first time to exclude")
    add("--replace", action="store_true", help="replace an existing file")
    return parser


def _query(options: argparse.Namespace) -> Query:
    now = clock.now().astimezone()
    return Query(
        sites=tuple(options.site),
        tables=tuple(options.table),
        kinds=tuple(options.kind),
        types=tuple(options.type),
        since=None if options.since is None else time_of(options.since, now),
        until=None if options.until is None else time_of(options.until, now),
    )


def _collect_tables(
    rows: Iterable[ArchiveRow], tables: set[tuple[str, str]]
) -> Iterator[ArchiveRow]:
    """Yield the rows, and add their sites and tables to ``tables``."""
    for row in rows:
        tables.add((row.record.site, row.record.table))
        yield row


def _gaps(archive: RecordArchive, tables: set[tuple[str, str]]) -> Iterator[Gap]:
    """Yield the missing events of these tables, at any time."""
    for site in sorted({site for site, _ in tables}):
        yield from (gap for gap in archive.gaps(site) if (site, gap.table) in tables)


def export(
    rows: Iterable[ArchiveRow], form: str, path: Path, *, replace: bool = False
) -> tuple[int, str]:
    """Write records to a file, completely or not at all. Return their number and the SHA-256 of the
    file. Raise :class:`ExportError`, :class:`ArchiveError` or ``OSError``.
    """
    if not replace and (path.exists() or path.is_symlink()):
        raise ExportError(_exists_message(path))
    write = WRITERS[form]()
    digest = ""

    def finish(part: Path) -> None:
        nonlocal digest
        with part.open("rb") as written:
            digest = file_digest(written, "sha256").hexdigest()

    opened = replacing if replace else creating
    try:
        with opened(path, mode=FILE_MODE, finish=finish) as file:
            count = write(rows, file)
            if not count:
                raise ExportError("nothing in the archive matches; no file was written")
    except FileExistsError:
        raise ExportError(_exists_message(path)) from None
    return count, digest


def _exists_message(path: Path) -> str:
    return f"{path}: the file exists; name another file, or give --replace"


def _csv(rows: Iterable[ArchiveRow], file: IO[bytes]) -> int:
    file.write(export_forms.csv_header().encode())
    return _lines(rows, export_forms.as_csv, file)


def _jsonl(rows: Iterable[ArchiveRow], file: IO[bytes]) -> int:
    return _lines(rows, export_forms.as_json, file)


def _lines(rows: Iterable[ArchiveRow], line: Callable[[ArchiveRow], str], file: IO[bytes]) -> int:
    count = 0
    for row in rows:
        file.write(line(row).encode("utf-8", "backslashreplace"))
        count += 1
    return count


def _parquet() -> Callable[[Iterable[ArchiveRow], IO[bytes]], int]:
    try:
        from subscribers.surveillance.export_parquet import write
    except ModuleNotFoundError as error:
        raise ExportError(
            f"an export as Parquet needs {error.name}; install it with `pip install "
            "novamas[archive]`"
        ) from None
    return write


WRITERS: dict[str, Callable[[], Callable[[Iterable[ArchiveRow], IO[bytes]], int]]] = {
    "parquet": _parquet,
    "csv": lambda: _csv,
    "jsonl": lambda: _jsonl,
}
"""By format, a function that returns its writer."""


if __name__ == "__main__":
    end_process(main())
