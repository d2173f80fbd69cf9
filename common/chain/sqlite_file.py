"""An SQLite file with a write-ahead log, each commit of which is on the disk when it returns: the
journal, a ledger, an archive.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from common import clock

DEFAULT_BUSY_TIMEOUT_SECONDS = 5.0
"""Time that a commit waits for another writer; the default of sqlite3."""
BUSY_RETRY_SECONDS = 0.01


def lock_file(path: Path) -> int:
    """Lock a file for this process until the returned file descriptor is closed: the lock is on
    ``<path>.lock``, because closing a second descriptor of the file would drop SQLite's own locks.

    Raises ``BlockingIOError`` if another process has it, and ``OSError`` if it cannot be created.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(f"{path}.lock", flags, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        raise BlockingIOError(error.errno, error.strerror, f"{path}.lock") from None
    return descriptor


def connect_durably(
    path: Path,
    refuse: Callable[[str], Exception],
    *,
    file_mode: int | None = None,
    busy_timeout_seconds: float = DEFAULT_BUSY_TIMEOUT_SECONDS,
    factory: type[sqlite3.Connection] = sqlite3.Connection,
) -> sqlite3.Connection:
    """Return a writing connection with a write-ahead log in which every commit is synced; the file
    is created if it is missing, with the permissions ``file_mode`` if given.

    Raises ``sqlite3.Error``, ``OSError``, and what ``refuse`` makes of a message if the file system
    cannot hold such a log.
    """
    if file_mode is not None:
        with suppress(FileExistsError):  # not opened if it exists: see lock_file
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            os.close(os.open(path, flags, file_mode))
    connection = sqlite3.connect(
        path,
        isolation_level=None,
        check_same_thread=False,
        timeout=busy_timeout_seconds,
        factory=factory,
    )
    try:
        if _write_ahead(connection, busy_timeout_seconds) != "wal":
            raise refuse(f"{path}: the file system cannot hold a write-ahead log; use a local disk")
        connection.execute("PRAGMA synchronous = FULL")
    except BaseException:
        connection.close()
        raise
    return connection


def _write_ahead(connection: sqlite3.Connection, timeout_seconds: float) -> str:
    """Turn on the write-ahead log and return the resulting journal mode. SQLite's busy timeout does
    not apply here, and several processes may create a file at once.
    """
    end = clock.monotonic() + timeout_seconds
    while True:
        try:
            return str(connection.execute("PRAGMA journal_mode = WAL").fetchone()[0])
        except sqlite3.OperationalError as error:
            code = getattr(error, "sqlite_errorcode", None)  # only SQLite's own errors have one
            if code != sqlite3.SQLITE_BUSY or clock.monotonic() > end:
                raise
        clock.block(BUSY_RETRY_SECONDS)


def inode(path: Path) -> int | None:
    """Return the inode of a file, which shows whether it was replaced; None if it is gone."""
    try:
        return os.stat(path).st_ino  # noqa: PTH116 - avoids a new Path for each commit
    except FileNotFoundError:
        return None
