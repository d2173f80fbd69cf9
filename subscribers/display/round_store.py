"""The rounds of all tables on the web server's disk, so that a whole day can be shown.

This is a copy for display only. The daemon's journal proves a result.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from common.plain_errors import describe
from subscribers.display.rounds import PlayedRound, merge_rounds
from subscribers.sqlite_copy import open_copy

MAX_UNWRITTEN = 50_000
"""Maximum number of unwritten rounds in memory; after that the oldest are dropped."""
SCHEMA_VERSION = 1
"""Version of the table below. A file of another version is set aside, not read."""

_CREATE = """
CREATE TABLE IF NOT EXISTS rounds (
  tbl TEXT NOT NULL, session INTEGER NOT NULL, round INTEGER NOT NULL, time TEXT,
  body BLOB NOT NULL, PRIMARY KEY (tbl, session, round)
) WITHOUT ROWID
"""
_TIMES = "CREATE INDEX IF NOT EXISTS times ON rounds (tbl, time)"


class RoundStore:
    """The store in one file. ``trouble``: why reading or writing failed last, or None. Rounds that
    could not be written are kept in memory and written later. ``report`` is called once per
    problem, with what went wrong and why.
    """

    def __init__(self, folder: Path, report: Callable[[str, str], None] | None = None) -> None:
        self.trouble: str | None = None
        self._report = report or (lambda *_: None)
        self._path = folder / "rounds.sqlite3"
        self._current_error: str | None = None
        """The error since the last round was stored."""
        self._skipped = False
        """True if an unreadable round of the file was already logged."""
        self._unwritten: dict[tuple[str, int, int], PlayedRound] = {}
        self._unwritable: set[tuple[str, int, int]] = set()
        """Those of them that can never be written."""
        self._file: sqlite3.Connection | None = None
        with self._logged_errors():
            folder.mkdir(parents=True, exist_ok=True)
            self._file = open_copy(
                self._path,
                SCHEMA_VERSION,
                (_CREATE, _TIMES),
                check="SELECT count(*) FROM rounds",
            )

    def store(self, table: str, round_: PlayedRound) -> None:
        """Store a round, merging it with what was known of it."""
        self._current_error = None
        key = table, round_.session, round_.round
        if key in self._unwritten:
            existing: Sequence[PlayedRound] = [self._unwritten[key]]
        else:
            existing = self._read(
                "SELECT body FROM rounds WHERE tbl = ? AND session = ? AND round = ?", key
            )
        (self._unwritten[key],) = merge_rounds((*existing,), (round_,))
        if self._file is not None:
            self._write(self._file)
            if self._current_error is None:
                self.trouble = None
        while len(self._unwritten) > MAX_UNWRITTEN:
            dropped = next(iter(self._unwritten))
            del self._unwritten[dropped]
            self._unwritable.discard(dropped)

    def latest(self, table: str, count: int) -> tuple[PlayedRound, ...]:
        """Return the latest rounds of a table, oldest first."""
        rounds = self._read(
            "SELECT body FROM rounds WHERE tbl = ? ORDER BY session DESC, round DESC LIMIT ?",
            (table, count),
        )
        return self._with_unwritten(table, rounds, lambda _: True)[-count:]

    def between(self, table: str, begin: str, end: str) -> tuple[PlayedRound, ...]:
        """Return the rounds decided from ``begin`` until before ``end``, both UTC, ISO 8601 as on
        the wire, oldest first; and those without a known time before one of these in the same
        session.
        """
        rounds = self._read(
            "SELECT body FROM rounds AS r WHERE tbl = :tbl AND (time >= :begin AND time < :end"
            " OR time IS NULL AND round < (SELECT max(round) FROM rounds WHERE tbl = :tbl"
            " AND session = r.session AND time >= :begin AND time < :end))"
            " ORDER BY session, round",
            {"tbl": table, "begin": begin, "end": end},
        )
        rounds = self._with_unwritten(
            table, rounds, lambda round_: round_.time is not None and begin <= round_.time < end
        )
        last = {round_.session: round_.round for round_ in rounds}
        return self._with_unwritten(
            table,
            rounds,
            lambda round_: (
                round_.time is None and round_.round < last.get(round_.session, round_.round)
            ),
        )

    def times(self, table: str) -> list[str]:
        """Return when the rounds of a table were decided, oldest first, at most one
        time per hour.
        """
        rows = self._rows(
            "SELECT min(time) FROM rounds WHERE tbl = ? AND time IS NOT NULL"
            " GROUP BY substr(time, 1, 13) ORDER BY 1",
            (table,),
        )
        unwritten = self._with_unwritten(table, (), lambda round_: round_.time is not None)
        hours: dict[str, str] = {}
        for time in sorted(
            [*(time for (time,) in rows), *(str(round_.time) for round_ in unwritten)]
        ):
            hours.setdefault(time[:13], time)
        return [*hours.values()]

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def _write(self, file: sqlite3.Connection) -> None:
        """Write pending rounds until a write fails."""
        for key in self._unwritten.keys() - self._unwritable:
            round_ = self._unwritten[key]
            with self._logged_errors():
                try:
                    file.execute(
                        "INSERT OR REPLACE INTO rounds VALUES (?, ?, ?, ?, ?)",
                        (*key, round_.time, msgspec.json.encode(round_)),
                    )
                except (OverflowError, ValueError):  # beyond 64 bits, or invalid text
                    self._unwritable.add(key)
                    raise
                del self._unwritten[key]
            if key in self._unwritten and key not in self._unwritable:
                return

    def _with_unwritten(
        self, table: str, rounds: Sequence[PlayedRound], wanted: Callable[[PlayedRound], bool]
    ) -> tuple[PlayedRound, ...]:
        """Merge these rounds with those in memory, in order."""
        by_number = {(round_.session, round_.round): round_ for round_ in rounds}
        for (owner, *_), round_ in self._unwritten.items():
            if owner == table and wanted(round_):
                by_number[round_.session, round_.round] = round_
        return tuple(by_number[number] for number in sorted(by_number))

    def _read(
        self, query: str, parameters: Sequence[Any] | Mapping[str, Any]
    ) -> Sequence[PlayedRound]:
        """Return the readable rounds of the file."""
        rounds: list[PlayedRound] = []
        for (body,) in self._rows(query, parameters):
            try:
                rounds.append(msgspec.json.decode(body, type=PlayedRound))
            except (ValueError, TypeError, RecursionError) as error:
                if not self._skipped:
                    self._report(f"{self._path}: a round is left out", describe(error, PlayedRound))
                self._skipped = True
        return rounds

    def _rows(self, query: str, parameters: Sequence[Any] | Mapping[str, Any]) -> list[Any]:
        if self._file is not None:
            with self._logged_errors():
                return self._file.execute(query, parameters).fetchall()
        return []

    @contextlib.contextmanager
    def _logged_errors(self) -> Iterator[None]:
        """Report a problem with the file, its folder or a round once, and continue."""
        try:
            yield
        except Exception as error:
            self._current_error = f"{type(error).__name__}: {error}"
            if self._current_error != self.trouble:
                self.trouble = self._current_error
                self._report(
                    f"{self._path}: rounds are in memory only; make room on the disk, or restart "
                    "the web server: it sets a damaged file aside",
                    self._current_error,
                )
