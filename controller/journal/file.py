"""The journal's file on disk: locking, opening, creating, and setting a damaged one aside."""

from __future__ import annotations

import fcntl
import os
import secrets
import sqlite3
import struct
import time
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path

from controller.journal.reader import JournalReader
from controller.journal.schema import (
    BOOT_INDEX,
    READ_ERRORS,
    SCHEMA,
    VERSION,
    JournalReadError,
    JournalUnusableError,
    is_damage,
    is_invalid_content,
    is_read_failure,
    may_be_intact,
    quick_check,
)
from controller.journal.wal_index import check_space
from devices.errors import NovamasError

FULL_CHECK_MAX_BYTES = 1 << 26
"""Bytes; all pages of a file up to this size are checked when it is opened. Of a larger one, those
of ``SMALL_TABLES`` are; it is read back whole while the tables work.
"""

SMALL_TABLES = ("meta", "cursor", "saved")
"""The tables that a start reads whole; they do not grow with the journal."""

TAIL_ENTRIES = 20_000
"""Entries whose chain is checked when the file is opened: more than a thousand tables store between
two checkpoints.
"""

REPUBLISH_ENTRIES = 10_000
"""Entries that are published again if it is unknown how far publishing had come."""

OPEN_TIMEOUT_SECONDS = 10.0
"""Seconds for which the disk may fail to return the file when it is opened."""
OPEN_RETRY_SECONDS = 0.5
"""Seconds between two tries."""

_FLOCK = "hhqqi4x"
"""``struct flock`` (fcntl(2)): kind, whence, start, length, process."""


class UnfinishedRestoreError(JournalUnusableError):
    """A restore was begun and not finished: a journal that began anew would number twice."""


def restoring_path(path: Path) -> Path:
    """Where a restore writes the new journal, before it becomes the journal at ``path``."""
    return path.with_name(f"{path.name}.restoring")


class DamagedFileError(NovamasError):
    """The file is no longer a journal."""


def lock(path: Path) -> int:
    """Lock the journal for this process, until the returned file descriptor is closed. Raises
    :class:`JournalUnusableError`.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        held = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise JournalUnusableError(
            f"{path}: {error.strerror} ({error.filename}); the daemon must be able to write there"
        ) from None
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(held)
        raise JournalUnusableError(
            f"{path}: another daemon uses this journal; stop it, or give this one a journal of its "
            "own"
        ) from None
    return held


def mark_serving(held: int) -> None:
    """Have :func:`serving_process` return this process until ``held`` is closed.

    A second lock is used for it: unlike flock, which keeps others out, it names its holder.
    """
    fcntl.lockf(held, fcntl.LOCK_EX | fcntl.LOCK_NB)


def serving_process(path: Path) -> int | None:
    """The daemon that serves the journal at ``path`` and takes a hangup as the order to reload, or
    None. Raises ``OSError`` if that may not be asked, or there was never one.
    """
    asked = os.open(f"{path}.lock", os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        wanted = struct.pack(_FLOCK, fcntl.F_RDLCK, os.SEEK_SET, 0, 0, 0)
        kind, _, _, _, pid = struct.unpack(_FLOCK, fcntl.fcntl(asked, fcntl.F_GETLK, wanted))
    finally:
        os.close(asked)
    return None if kind == fcntl.F_UNLCK or pid <= 0 else int(pid)


def open_or_replace(path: Path) -> tuple[sqlite3.Connection, Path | None]:
    """The writing connection, and where a file was set aside because it was damaged twice, or
    because the disk did not return it for too long.

    Raises :class:`JournalUnusableError`.
    """
    if restoring_path(path).exists():
        raise UnfinishedRestoreError(
            f"{path}: a restore was begun and is not finished: run `novamas restore` again, or "
            f"remove {restoring_path(path)} if the journal is to stay as it is"
        )
    end, damaged = time.monotonic() + OPEN_TIMEOUT_SECONDS, 0
    while damaged == 1 or (damaged == 0 and time.monotonic() < end):
        try:
            return open_checked(path), None
        except DamagedFileError:
            damaged += 1
        except JournalReadError:
            damaged = 0
        time.sleep(OPEN_RETRY_SECONDS)
    head, cursors = _last_readable(path)
    aside = aside_path(path)
    move_aside(path, aside)
    try:
        return open_checked(path, head, aside, cursors), aside
    except DamagedFileError as error:  # a fresh file cannot be damaged, unless the disk is
        raise JournalUnusableError(f"{path}: damaged at once after it was begun: {error}") from None


def open_checked(
    path: Path, base: int = 0, aside: Path | None = None, cursors: dict[str, int] | None = None
) -> sqlite3.Connection:
    """The writing connection to an intact file. If there is none, it is created: starting after
    ``base``, replacing ``aside``, with these cursors.

    Raises :class:`DamagedFileError`, :class:`JournalReadError` and :class:`JournalUnusableError`.
    """
    try:
        connection = connect_writing(path)
        try:
            if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                _create(connection, base, aside, cursors or {})
                sync_directory(path.parent)
            _check(path, connection)
        except BaseException:
            connection.close()
            raise
    except READ_ERRORS as error:
        if is_read_failure(error) or (is_damage(error) and may_be_intact(path)):
            raise JournalReadError(f"{path}: the disk does not give it: {error}") from None
        if is_invalid_content(error):
            raise DamagedFileError(str(error)) from None
        if isinstance(error, JournalUnusableError):
            raise
        raise JournalUnusableError(f"{path}: {error}") from None
    except OSError as error:
        raise JournalUnusableError(f"{path}: {error}") from None
    return connection


def connect_writing(path: Path) -> sqlite3.Connection:
    """A connection for writing: write-ahead log, every commit synced, checkpoints only on request.

    Raises ``sqlite3.Error``, ``OSError`` and :class:`JournalUnusableError`.
    """
    check_space(path)
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        if mode != "wal":
            raise JournalUnusableError(
                f"{path}: the file system cannot hold a write-ahead log; use a local disk"
            )
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
    except BaseException:
        connection.close()
        raise
    return connection


def _last_readable(path: Path) -> tuple[int, dict[str, int]]:
    """The last position of a damaged file and its cursors, as far as they can be read; the next
    file continues there.
    """
    head = 0
    try:
        with closing(JournalReader(path)) as reader:
            sound = reader.last_intact(TAIL_ENTRIES)
            head = reader.base() if sound is None else sound.position
            return head, {name: min(at, head) for name, at in reader.cursors().items()}
    except READ_ERRORS:  # rather once more than not at all
        return head, {"mqtt": max(0, head - REPUBLISH_ENTRIES)}


def _create(
    connection: sqlite3.Connection, base: int, aside: Path | None, cursors: dict[str, int]
) -> None:
    created = datetime.now(UTC).isoformat(timespec="microseconds")
    connection.executescript(f"BEGIN IMMEDIATE; {SCHEMA}")
    connection.executemany(
        "INSERT INTO meta VALUES (?, ?)",
        [
            ("version", str(VERSION)),
            ("id", secrets.token_hex(16)),
            ("created", created),
            ("base", str(base)),
        ],
    )
    connection.executemany(
        "INSERT INTO meta VALUES (?, ?)", [("aside", aside.name)] if aside is not None else []
    )
    connection.executemany("INSERT INTO cursor VALUES (?, ?)", list(cursors.items()))
    connection.execute("COMMIT")


def _check(path: Path, connection: sqlite3.Connection) -> None:
    tables = {
        name
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    }
    if not {"meta", "entry", "saved", "cursor"} <= tables:
        raise JournalUnusableError(
            f"{path}: a database, but not a journal of Novamás; choose another path"
        )
    version = connection.execute("SELECT value FROM meta WHERE key = 'version'").fetchone()
    if version is None:
        raise DamagedFileError("no version")
    if version[0] != str(VERSION):
        raise JournalUnusableError(
            f"{path}: written by another release (format {version[0]}, this one has {VERSION})"
        )
    for part in (None,) if is_fully_checked(path) else SMALL_TABLES:
        if (found := quick_check(connection, part)) is not None:
            raise DamagedFileError(found)
    with suppress(sqlite3.OperationalError):  # a full disk: a start takes longer without it
        connection.execute(BOOT_INDEX)
    with closing(JournalReader(path)) as reader:
        broken = reader.first_broken(
            after=max(reader.beginning().position, reader.head().position - TAIL_ENTRIES)
        )
    if broken is not None:
        raise DamagedFileError(f"the chain does not hold at position {broken}")


def is_fully_checked(path: Path) -> bool:
    """Whether all pages of the file are checked when it is opened. Raises ``OSError``."""
    return path.stat().st_size <= FULL_CHECK_MAX_BYTES


def aside_path(path: Path) -> Path:
    """A name for the file if it is set aside now."""
    return path.with_name(f"{path.name}.corrupt-{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}")


def move_aside(path: Path, aside: Path) -> None:
    """Rename the damaged file and its companions; nothing is deleted. May be repeated after a
    failure.

    Raises :class:`JournalUnusableError`.
    """
    try:
        for companion in ("-wal", "-shm", ""):
            old = Path(f"{path}{companion}")
            if old.exists():
                old.rename(f"{aside}{companion}")
    except OSError as error:
        raise JournalUnusableError(f"{path}: damaged, and cannot be set aside: {error}") from None
    with suppress(
        OSError
    ):  # where the new name is not on the disk yet, the damaged file is found once more
        sync_directory(path.parent)


def sync_directory(folder: Path) -> None:
    """Have the names in a folder on the disk. Raises ``OSError``."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
