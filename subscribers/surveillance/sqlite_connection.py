"""Opens the file of an archive in SQLite: creates its tables, or checks that it has them."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import msgspec

from common.chain.sqlite_file import connect_durably, lock_file
from subscribers.surveillance.errors import ArchiveError, ArchiveInUseError
from subscribers.surveillance.sqlite_statements import NOT_REPLACED, SCHEMA

SCHEMA_VERSION = 1
BUSY_TIMEOUT_SECONDS = 30.0
"""Maximum time that one writer waits for another."""
FILE_MODE = 0o640
"""Permissions of a new file: its owner writes, its group reads."""
CHECKPOINT_PAGES = 4000
"""Pages in the write-ahead log at which they are copied into the file: 16 MB. Pages that change
with every transaction, as those of indexes do, are then copied less often than by default (1000).
"""

decode_words = msgspec.json.Decoder(tuple[str, ...]).decode


def lock_for_recorder(path: Path) -> int:
    """Lock the archive for this recorder until the returned file descriptor is closed. Raise
    ``OSError`` or :class:`ArchiveInUseError`.
    """
    try:
        return lock_file(path)
    except BlockingIOError:
        raise ArchiveInUseError(
            f"{path}: another recorder uses this archive; stop it, or give this one another archive"
        ) from None


def connect(path: Path, *, read_only: bool) -> sqlite3.Connection:
    """Return a connection to the archive, which is created if it may be written and is missing.

    Raise ``sqlite3.Error``, ``OSError`` or :class:`ArchiveError`.
    """
    if read_only:
        os.close(os.open(path, os.O_RDONLY | os.O_CLOEXEC))  # gives a clearer error than SQLite
        address = f"{path.absolute().as_uri()}?mode=ro"
        connection = sqlite3.connect(
            address,
            uri=True,
            isolation_level=None,
            check_same_thread=False,
            timeout=BUSY_TIMEOUT_SECONDS,
        )
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = connect_durably(
            path, ArchiveError, file_mode=FILE_MODE, busy_timeout_seconds=BUSY_TIMEOUT_SECONDS
        )
    try:
        connection.create_function("begins_with", 3, _begins_with, deterministic=True)
        if not read_only:
            connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
            _begin(connection)
        _check(connection, path)
        if not read_only:
            _upgrade(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _begin(connection: sqlite3.Connection) -> None:
    """Create the tables in an empty file."""
    connection.execute("BEGIN IMMEDIATE")
    empty = not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    connection.execute("ROLLBACK")
    if empty:
        connection.executescript(
            f"BEGIN IMMEDIATE; {SCHEMA} {NOT_REPLACED}; "  # noqa: S608
            f"INSERT INTO meta VALUES ('archive', '{SCHEMA_VERSION}'); COMMIT;"
        )


def _upgrade(connection: sqlite3.Connection) -> None:
    """Give a file of an earlier release the present trigger and indexes. That release can still use
    it.
    """
    found = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'record_not_replaced'")
    if found.fetchone() != (NOT_REPLACED,):
        connection.executescript(
            f"BEGIN IMMEDIATE; DROP TRIGGER IF EXISTS record_not_replaced; {NOT_REPLACED}; "
            "DROP INDEX IF EXISTS record_seq; COMMIT;"
        )


def _check(connection: sqlite3.Connection, path: Path) -> None:
    """Raise :class:`ArchiveError` unless it is an archive with this schema version."""
    names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    if not {"meta", "record", "run", "word"} <= names:
        raise ArchiveError(f"{path}: not an archive of novamas surveillance; name another file")
    found = connection.execute("SELECT value FROM meta WHERE name = 'archive'").fetchone()
    if found is None or found[0] != str(SCHEMA_VERSION):
        version = "none" if found is None else found[0]
        raise ArchiveError(
            f"{path}: its schema version is {version}, not {SCHEMA_VERSION}; use the release that "
            "wrote it"
        )


def _begins_with(type_: str, words: str, prefix: str) -> bool:
    """Return True if a word of a row starts with ``prefix``. ``words``: the JSON of its column."""
    return any(word.casefold().startswith(prefix) for word in (type_, *decode_words(words)) if word)
