"""The rounds of all tables on the disk of the web server, so that a day can be shown as a whole.

It is a copy for people to look at. The journal of the daemon is what proves a result.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from subscribers.display.rounds import Round, put

MAX_UNWRITTEN = 50_000
"""Rounds in memory that could not be written; beyond them the oldest are dropped."""
VERSION = 1
"""Of the table below. A file of another version is put aside, not read."""

_CREATE = """
CREATE TABLE IF NOT EXISTS rounds (
  tbl TEXT NOT NULL, session INTEGER NOT NULL, round INTEGER NOT NULL, time TEXT,
  body BLOB NOT NULL, PRIMARY KEY (tbl, session, round)
) WITHOUT ROWID
"""
_TIMES = "CREATE INDEX IF NOT EXISTS times ON rounds (tbl, time)"


class RoundStore:
    """One file. ``trouble``: why it could not be read or written last, or None; what could not be
    written is in memory for as long as the server runs, and is written once that is possible.
    ``tell`` is called once with what has gone wrong and why.
    """

    def __init__(self, folder: Path, tell: Callable[[str, str], None] | None = None) -> None:
        self.trouble: str | None = None
        self._tell = tell or (lambda *_: None)
        self._path = folder / "rounds.sqlite3"
        self._error: str | None = None
        """What was wrong since the last round came."""
        self._skipped = False
        """Whether the log says that a round of the file cannot be read."""
        self._unwritten: dict[tuple[str, int, int], Round] = {}
        self._unfit: set[tuple[str, int, int]] = set()
        """Those of them that no file would take."""
        self._file: sqlite3.Connection | None = None
        with self._noting():
            folder.mkdir(parents=True, exist_ok=True)
            self._file = _opened(self._path)

    def put(self, table: str, found: Round) -> None:
        """Keep a round, in place of what was known of it."""
        self._error = None
        place = table, found.session, found.round
        if place in self._unwritten:
            before: Sequence[Round] = [self._unwritten[place]]
        else:
            before = self._read(
                "SELECT body FROM rounds WHERE tbl = ? AND session = ? AND round = ?", place
            )
        (self._unwritten[place],) = put((*before,), (found,))
        if self._file is not None:
            self._write(self._file)
            if self._error is None:
                self.trouble = None
        while len(self._unwritten) > MAX_UNWRITTEN:
            dropped = next(iter(self._unwritten))
            del self._unwritten[dropped]
            self._unfit.discard(dropped)

    def latest(self, table: str, count: int) -> tuple[Round, ...]:
        """The latest rounds of a table, oldest first."""
        rounds = self._read(
            "SELECT body FROM rounds WHERE tbl = ? ORDER BY session DESC, round DESC LIMIT ?",
            (table, count),
        )
        return self._with_unwritten(table, rounds, lambda _: True)[-count:]

    def between(self, table: str, begin: str, end: str) -> tuple[Round, ...]:
        """The rounds that were decided from ``begin`` on and before ``end``, both UTC, ISO 8601 as
        on the wire, oldest first; and those before a round of these in the same session whose time
        nobody heard.
        """
        rounds = self._read(
            "SELECT body FROM rounds AS r WHERE tbl = :tbl AND (time >= :begin AND time < :end"
            " OR time IS NULL AND round < (SELECT max(round) FROM rounds WHERE tbl = :tbl"
            " AND session = r.session AND time >= :begin AND time < :end))"
            " ORDER BY session, round",
            {"tbl": table, "begin": begin, "end": end},
        )
        rounds = self._with_unwritten(
            table, rounds, lambda each: each.time is not None and begin <= each.time < end
        )
        last = {each.session: each.round for each in rounds}
        return self._with_unwritten(
            table,
            rounds,
            lambda each: each.time is None and each.round < last.get(each.session, each.round),
        )

    def times(self, table: str) -> list[str]:
        """When its rounds were decided, oldest first; one time for each hour in which there was
        one.
        """
        rows = self._rows(
            "SELECT min(time) FROM rounds WHERE tbl = ? AND time IS NOT NULL"
            " GROUP BY substr(time, 1, 13) ORDER BY 1",
            (table,),
        )
        unwritten = self._with_unwritten(table, (), lambda each: each.time is not None)
        hours: dict[str, str] = {}
        for time in sorted([*(time for (time,) in rows), *(str(each.time) for each in unwritten)]):
            hours.setdefault(time[:13], time)
        return [*hours.values()]

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def _write(self, file: sqlite3.Connection) -> None:
        """Write what waits, until the file takes nothing."""
        for place in self._unwritten.keys() - self._unfit:
            kept = self._unwritten[place]
            with self._noting():
                try:
                    file.execute(
                        "INSERT OR REPLACE INTO rounds VALUES (?, ?, ?, ?, ?)",
                        (*place, kept.time, msgspec.json.encode(kept)),
                    )
                except (OverflowError, ValueError):  # beyond 64 bits, or no text
                    self._unfit.add(place)
                    raise
                del self._unwritten[place]
            if place in self._unwritten and place not in self._unfit:
                return

    def _with_unwritten(
        self, table: str, rounds: Sequence[Round], wanted: Callable[[Round], bool]
    ) -> tuple[Round, ...]:
        """These rounds with those in memory in their places, in order."""
        by_number = {(each.session, each.round): each for each in rounds}
        for (of, *_), each in self._unwritten.items():
            if of == table and wanted(each):
                by_number[each.session, each.round] = each
        return tuple(by_number[number] for number in sorted(by_number))

    def _read(self, question: str, of: Sequence[Any] | Mapping[str, Any]) -> Sequence[Round]:
        """The rounds of the file, as far as it can be read."""
        rounds: list[Round] = []
        for (body,) in self._rows(question, of):
            try:
                rounds.append(msgspec.json.decode(body, type=Round))
            except (ValueError, TypeError, RecursionError) as error:
                if not self._skipped:
                    self._tell(f"{self._path}: a round is left out", str(error))
                self._skipped = True
        return rounds

    def _rows(self, question: str, of: Sequence[Any] | Mapping[str, Any]) -> list[Any]:
        if self._file is not None:
            with self._noting():
                return self._file.execute(question, of).fetchall()
        return []

    @contextlib.contextmanager
    def _noting(self) -> Iterator[None]:
        """Log what is wrong with the file, its folder or a round, once, and go on."""
        try:
            yield
        except Exception as error:
            self._error = f"{type(error).__name__}: {error}"
            if self._error != self.trouble:
                self.trouble = self._error
                self._tell(
                    f"{self._path}: rounds are in memory only; make room on the disk, or restart "
                    "the web server: it puts a damaged file aside",
                    self._error,
                )


def _opened(path: Path) -> sqlite3.Connection:
    """The file, made where it is missing. One that cannot be read is put aside under another name:
    it removes no evidence, and the daemon has all of it.
    """
    for attempt in (1, 2):
        file = sqlite3.connect(path, isolation_level=None)
        try:
            (version,) = file.execute("PRAGMA user_version").fetchone()
            if version in (0, VERSION):
                for line in (
                    "PRAGMA journal_mode = WAL",
                    "PRAGMA synchronous = NORMAL",
                    _CREATE,
                    _TIMES,
                    f"PRAGMA user_version = {VERSION}",
                    "SELECT count(*) FROM rounds",
                ):
                    file.execute(line).fetchall()
                return file
        except sqlite3.DatabaseError:
            if attempt == 2:
                raise
        file.close()
        path.rename(_free(path))
    raise AssertionError("a file that was just made has our version")


def _free(path: Path) -> Path:
    names = (path.with_suffix(f".unreadable-{number}") for number in range(1, 10_000))
    return next(name for name in names if not name.exists())
