"""``python -m subscribers.surveillance.export``: writes records of an archive to a file. ``novamas
surveillance export`` starts it.
"""

from __future__ import annotations

import argparse
import errno
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from hashlib import file_digest
from pathlib import Path
from typing import IO, get_args

import msgspec

from devices.command_line import CommandLine, end_process
from subscribers.surveillance import export_forms
from subscribers.surveillance.archive import Archive, Gap, Kind, Query, Row
from subscribers.surveillance.errors import ArchiveError
from subscribers.surveillance.open_archive import open_archive
from subscribers.surveillance.times import TimeError, time_of

EPILOG = """\
parquet: for pyarrow, DuckDB, pandas and others; bodies as they came. csv: a row
for each record; a text that a spreadsheet would take for a formula has an
apostrophe before it. jsonl: a JSON object on each line, as `novamas export`
writes them; `novamas verify --witness FILE` holds a journal against it.

Sealed cards are written as the boxes in which they came.

Times: 1h or 30m (so long ago), 21:30 (the last time that it was), 2026-11-22,
2026-11-22T21:30, 2026-11-22T20:30:00Z.

exit status: 0 written, 1 nothing found, or it cannot be read or written, 2 wrong
usage"""
MODE = 0o640
"""Permissions of the file, less what the umask takes."""


class ExportSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What the program is told. No secret is in it."""

    archive: str


class ExportError(Exception):
    """Nothing was written. The message says why, and what to do."""


def main(words: Sequence[str] | None = None) -> int:
    """Returns the exit status."""
    given = command_line().parse_args(words)
    settings = msgspec.json.decode(given.settings, type=ExportSettings)
    try:
        query, seen = _query(given), set[tuple[str, str]]()
        with closing(open_archive(settings.archive, read_only=True)) as archive:
            rows = _seen(archive.find(query), seen)
            count, digest = export(rows, given.form, given.file, replace=given.replace)
            missing = list(_gaps(archive, seen))
    except TimeError as error:
        sys.stderr.write(f"novamas surveillance export: {error}\n")
        return 2
    except (ArchiveError, ExportError) as error:
        sys.stderr.write(f"novamas surveillance export: {error}\n")
        return 1
    except OSError as error:
        where = error.filename or given.file
        sys.stderr.write(f"novamas surveillance export: {where}: {error.strerror}\n")
        return 1
    for gap in missing:
        sys.stderr.write(
            f"novamas surveillance export: of table {gap.table} at {gap.site}, boot {gap.boot}, "
            f"the events {gap.first} to {gap.last} are missing in the archive\n"
        )
    told = f"{count:,} records" if count != 1 else "1 record"
    sys.stderr.write(f"{told} in {given.file}, SHA-256 {digest}\n")
    return 0


def command_line() -> argparse.ArgumentParser:
    """What it takes on the command line."""
    parser = CommandLine(
        prog="novamas surveillance export",
        description="Write records of the archive to a file.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--settings", required=True, help=argparse.SUPPRESS)
    add = parser.add_argument
    add("action", choices=("export",), help=argparse.SUPPRESS)
    add("file", type=Path, metavar="FILE", help="the file; it must not be there yet")
    add("--form", choices=FORMS, required=True, help="of the file")
    add("--site", action="append", default=[], metavar="SITE", help="of this site; repeatable")
    add("--table", action="append", default=[], metavar="TABLE", help="of this table; repeatable")
    add("--kind", action="append", default=[], choices=get_args(Kind), help="repeatable")
    add("--type", action="append", default=[], metavar="TYPE", help="of event; repeatable")
    add("--from", dest="since", metavar="TIME", help="from then on")
    add("--to", dest="until", metavar="TIME", help="until then")
    add("--replace", action="store_true", help="take the place of a file that is there")
    return parser


def _query(given: argparse.Namespace) -> Query:
    now = datetime.now().astimezone()
    return Query(
        sites=tuple(given.site),
        tables=tuple(given.table),
        kinds=tuple(given.kind),
        types=tuple(given.type),
        since=None if given.since is None else time_of(given.since, now),
        until=None if given.until is None else time_of(given.until, now),
    )


def _seen(rows: Iterable[Row], seen: set[tuple[str, str]]) -> Iterator[Row]:
    """The same; adds the sites and tables that it meets."""
    for row in rows:
        seen.add((row.record.site, row.record.table))
        yield row


def _gaps(archive: Archive, seen: set[tuple[str, str]]) -> Iterator[Gap]:
    """What is missing at those tables, whenever it was."""
    for site in sorted({site for site, _ in seen}):
        yield from (gap for gap in archive.gaps(site) if (site, gap.table) in seen)


def export(rows: Iterable[Row], form: str, path: Path, *, replace: bool = False) -> tuple[int, str]:
    """Write records to a file, which is there whole or not at all. Returns how many, and the
    SHA-256 of the file. Raises :class:`ExportError`, :class:`ArchiveError` and ``OSError``.
    """
    if not replace and (path.exists() or path.is_symlink()):
        raise ExportError(_there(path))
    write = FORMS[form]()
    with _beside(path) as (part, file):
        count = write(rows, file)
        if not count:
            raise ExportError("nothing in the archive matches; no file was written")
        file.flush()
        os.fsync(file.fileno())
        with part.open("rb") as written:
            digest = file_digest(written, "sha256").hexdigest()
        _put(part, path, replace=replace)
    return count, digest


@contextmanager
def _beside(path: Path) -> Iterator[tuple[Path, IO[bytes]]]:
    """A new file in the same folder, which is removed unless it was put in its place."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    descriptor = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, MODE)
    try:
        with open(descriptor, "w+b") as file:  # noqa: PTH123
            yield part, file
    finally:
        part.unlink(missing_ok=True)


def _put(part: Path, path: Path, *, replace: bool) -> None:
    if not replace:
        try:
            path.hardlink_to(part)
        except FileExistsError:
            raise ExportError(_there(path)) from None
        except OSError as error:  # such as on a stick with exFAT
            if error.errno not in (errno.EPERM, errno.EOPNOTSUPP, errno.EINVAL):
                raise
            if path.exists():
                raise ExportError(_there(path)) from None
            part.replace(path)
    else:
        part.replace(path)
    with suppress(OSError):  # where a folder cannot be synced
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _there(path: Path) -> str:
    return f"{path}: it is there already; name another file, or give --replace"


def _csv(rows: Iterable[Row], file: IO[bytes]) -> int:
    file.write(export_forms.head().encode())
    return _lines(rows, export_forms.as_csv, file)


def _jsonl(rows: Iterable[Row], file: IO[bytes]) -> int:
    return _lines(rows, export_forms.as_json, file)


def _lines(rows: Iterable[Row], line: Callable[[Row], str], file: IO[bytes]) -> int:
    count = 0
    for row in rows:
        file.write(line(row).encode("utf-8", "backslashreplace"))
        count += 1
    return count


def _parquet() -> Callable[[Iterable[Row], IO[bytes]], int]:
    try:
        from subscribers.surveillance.export_parquet import write
    except ModuleNotFoundError as error:
        raise ExportError(
            f"an export as Parquet needs {error.name}; install it with `pip install "
            "novamas[archive]`"
        ) from None
    return write


FORMS: dict[str, Callable[[], Callable[[Iterable[Row], IO[bytes]], int]]] = {
    "parquet": _parquet,
    "csv": lambda: _csv,
    "jsonl": lambda: _jsonl,
}
"""The forms, and what writes each."""


if __name__ == "__main__":
    end_process(main())
