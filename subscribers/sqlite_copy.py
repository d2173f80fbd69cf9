"""SQLite files that copy what others prove, for display: one that cannot be read is set aside."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path


def open_copy(
    path: Path, version: int, statements: Sequence[str], *, check: str
) -> sqlite3.Connection:
    """Open a file with a write-ahead log, creating it if it is missing. An unreadable one, or one
    of another ``version``, is renamed and kept; no evidence is lost, as the daemon's journal has
    everything. ``statements`` create its tables; ``check`` reads from them. Raises
    ``sqlite3.Error`` and ``OSError``.
    """
    for attempt in (1, 2):
        file = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        try:
            (found,) = file.execute("PRAGMA user_version").fetchone()
            if found in (0, version):
                for statement in (
                    "PRAGMA journal_mode = WAL",
                    "PRAGMA synchronous = NORMAL",
                    *statements,
                    f"PRAGMA user_version = {version}",
                    check,
                ):
                    file.execute(statement).fetchall()
                return file
        except sqlite3.DatabaseError:
            if attempt == 2:
                raise
        file.close()
        path.rename(_unused_name(path))
    raise AssertionError("a newly created file has the current version")


def _unused_name(path: Path) -> Path:
    names = (path.with_suffix(f".unreadable-{number}") for number in range(1, 10_000))
    return next(name for name in names if not name.exists())
