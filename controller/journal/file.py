"""The journal's file on disk: who may use it, opening, beginning, and setting a damaged one aside."""

from __future__ import annotations

import fcntl
import os
import secrets
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from controller.journal.reader import JournalReader
from controller.journal.schema import NONSENSE, SCHEMA, VERSION, JournalUnusable, holds_nonsense

WHOLE_CHECK = 1 << 30
"""Bytes up to which the whole file is checked when it is opened; of a larger one only its last entries."""

TAIL = 1000
"""Entries of which the chain is checked when the file is opened."""


class Damaged(Exception):
    """The file is a journal no more."""


def lock(path: Path) -> int:
    """Take the journal for this process, until the given file descriptor is closed. Raises :class:`JournalUnusable`."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        held = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise JournalUnusable(f"{path}: {error.strerror} ({error.filename}); the daemon must be able to write there") from None
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(held)
        raise JournalUnusable(f"{path}: another daemon uses this journal; end it, or give this one a journal of its own") from None
    return held


def open_or_begin(path: Path) -> tuple[sqlite3.Connection, Path | None]:
    """The writing connection, and where a damaged file was set aside, if one was. Raises :class:`JournalUnusable`."""
    try:
        return open_checked(path), None
    except Damaged:
        aside = move_aside(path)
    try:
        return open_checked(path), aside
    except Damaged as error:  # a fresh file cannot be damaged, unless the disk is
        raise JournalUnusable(f"{path}: damaged at once after it was begun: {error}") from None


def open_checked(path: Path, base: int = 0) -> sqlite3.Connection:
    """The writing connection to a sound file, begun past ``base`` if there is none.

    Raises :class:`Damaged`, :class:`JournalUnusable`.
    """
    try:
        connection = connect(path)
        try:
            if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                _begin(connection, base)
                _sync(path.parent)
            _check(path, connection)
        except BaseException:
            connection.close()
            raise
    except NONSENSE as error:
        if holds_nonsense(error):
            raise Damaged(str(error)) from None
        if isinstance(error, JournalUnusable):
            raise
        raise JournalUnusable(f"{path}: {error}") from None
    except OSError as error:
        raise JournalUnusable(f"{path}: {error}") from None
    return connection


def connect(path: Path) -> sqlite3.Connection:
    """A connection set up for writing: write-ahead log, every commit on the disk, checkpoints only when we say so."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        if mode != "wal":
            raise JournalUnusable(f"{path}: the file system cannot hold a write-ahead log; use a local disk")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
    except BaseException:
        connection.close()
        raise
    return connection


def _begin(connection: sqlite3.Connection, base: int) -> None:
    created = datetime.now(UTC).isoformat(timespec="microseconds")
    connection.executescript(f"BEGIN IMMEDIATE; {SCHEMA}")
    connection.executemany(
        "INSERT INTO meta VALUES (?, ?)",
        [("version", str(VERSION)), ("id", secrets.token_hex(16)), ("created", created), ("base", str(base))],
    )
    connection.execute("COMMIT")


def _check(path: Path, connection: sqlite3.Connection) -> None:
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not {"meta", "entry", "saved", "cursor"} <= tables:
        raise JournalUnusable(f"{path}: a database, but not a journal of ours; give another path")
    version = connection.execute("SELECT value FROM meta WHERE key = 'version'").fetchone()
    if version is None:
        raise Damaged("no version")
    if version[0] != str(VERSION):
        raise JournalUnusable(f"{path}: written by another release (format {version[0]}, this one has {VERSION})")
    if path.stat().st_size <= WHOLE_CHECK:
        found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if found != "ok":
            raise Damaged(found)
    with closing(JournalReader(path)) as reader:
        broken = reader.broken(after=max(reader.beginning().position, reader.head().position - TAIL))
    if broken is not None:
        raise Damaged(f"the chain does not hold at position {broken}")


def move_aside(path: Path) -> Path:
    """Give the damaged file and its companions another name; nothing is deleted. Raises :class:`JournalUnusable`."""
    aside = path.with_name(f"{path.name}.corrupt-{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}")
    try:
        for companion in ("-wal", "-shm", ""):
            old = Path(f"{path}{companion}")
            if old.exists():
                old.rename(f"{aside}{companion}")
        _sync(path.parent)
    except OSError as error:
        raise JournalUnusable(f"{path}: damaged, and cannot be set aside: {error}") from None
    return aside


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
