"""The rounds of all tables on the disk of the web server, so that a day can be shown as a whole.

It is a copy for people to look at. The journal of the daemon is what proves a result.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

import msgspec

from subscribers.display.rounds import Round, put

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
    """One file. ``trouble``: why it could not be written last, or None; what could not be written
    is in memory for as long as the server runs.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.trouble: str | None = None
        self._file = _opened(folder / "rounds.sqlite3")

    def put(self, table: str, found: Round) -> None:
        """Keep a round, in place of what was known of it."""
        before = self._file.execute(
            "SELECT body FROM rounds WHERE tbl = ? AND session = ? AND round = ?",
            (table, found.session, found.round),
        ).fetchone()
        (kept,) = put(() if before is None else (_round(before[0]),), (found,))
        try:
            self._file.execute(
                "INSERT OR REPLACE INTO rounds VALUES (?, ?, ?, ?, ?)",
                (table, kept.session, kept.round, kept.time, msgspec.json.encode(kept)),
            )
        except sqlite3.Error as error:
            self.trouble = str(error)
        else:
            self.trouble = None

    def latest(self, table: str, count: int) -> tuple[Round, ...]:
        """The latest rounds of a table, oldest first."""
        rows = self._file.execute(
            "SELECT body FROM rounds WHERE tbl = ? ORDER BY session DESC, round DESC LIMIT ?",
            (table, count),
        ).fetchall()
        return tuple(_round(body) for (body,) in reversed(rows))

    def between(self, table: str, begin: str, end: str) -> tuple[Round, ...]:
        """The rounds that were decided from ``begin`` on and before ``end``, both UTC, ISO 8601 as
        on the wire, oldest first; and those before a round of these in the same session whose time
        nobody heard.
        """
        rows = self._file.execute(
            "SELECT body FROM rounds AS r WHERE tbl = :tbl AND (time >= :begin AND time < :end"
            " OR time IS NULL AND round < (SELECT max(round) FROM rounds WHERE tbl = :tbl"
            " AND session = r.session AND time >= :begin AND time < :end))"
            " ORDER BY session, round",
            {"tbl": table, "begin": begin, "end": end},
        ).fetchall()
        return tuple(_round(body) for (body,) in rows)

    def times(self, table: str) -> list[str]:
        """When its rounds were decided, oldest first; one time for each hour in which there was
        one.
        """
        rows = self._file.execute(
            "SELECT min(time) FROM rounds WHERE tbl = ? AND time IS NOT NULL"
            " GROUP BY substr(time, 1, 13) ORDER BY 1",
            (table,),
        ).fetchall()
        return [time for (time,) in rows]

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _round(body: bytes) -> Round:
    return msgspec.json.decode(body, type=Round)


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
