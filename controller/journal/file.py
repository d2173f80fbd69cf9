"""The journal's file: locks, opens and creates it, and sets a damaged one aside."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import struct
from contextlib import closing, suppress
from pathlib import Path

from common import clock, randomness
from common.chain.schema import (
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
from common.chain.sqlite_file import connect_durably, lock_file
from common.chain.wal_index import check_space
from common.errors import NovamasError
from common.new_file import sync_folder
from controller.journal.reader import JournalReader, first_broken

FULL_CHECK_MAX_BYTES = 1 << 26
"""Up to this size, all pages of the file are checked when it is opened. Of a larger file only the
pages of ``SMALL_TABLES`` are; the rest is read back while the tables work.
"""

SMALL_TABLES = ("meta", "cursor", "saved")
"""The tables that are read whole at a start; they do not grow with the journal."""

TAIL_ENTRIES = 20_000
"""Number of last entries whose chain is checked when the file is opened. A thousand tables store
fewer between two checkpoints.
"""

REPUBLISH_ENTRIES = 10_000
"""Number of last entries that are published again if the publishing position cannot be read."""

OPEN_TIMEOUT_SECONDS = 10.0
"""How long reading may fail, when the file is opened, before it is set aside."""
OPEN_RETRY_SECONDS = 0.5

_FLOCK = "hhqqi4x"
"""``struct flock`` (fcntl(2)): kind, whence, start, length, process."""


class UnfinishedRestoreError(JournalUnusableError):
    """A restore was started and not finished. A new journal would reuse positions."""


def restoring_path(path: Path) -> Path:
    """Return where a restore writes the new journal before it renames it to ``path``."""
    return path.with_name(f"{path.name}.restoring")


class DamagedFileError(NovamasError):
    """The content of the file is damaged."""


def lock(path: Path) -> int:
    """Lock the journal for this process until the returned file descriptor is closed.

    Raises :class:`JournalUnusableError`.
    """
    try:
        return lock_file(path)
    except BlockingIOError:
        raise JournalUnusableError(
            f"{path}: another daemon uses this journal; stop it, or give this one a journal of its "
            "own"
        ) from None
    except OSError as error:
        raise JournalUnusableError(
            f"{path}: {error.strerror} ({error.filename}); the daemon must be able to write there"
        ) from None


def mark_serving(lock_descriptor: int) -> None:
    """Have :func:`serving_process` return this process until ``lock_descriptor`` is closed.

    This is a second lock: unlike flock, which keeps other daemons out, it names its holder.
    """
    fcntl.lockf(lock_descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def serving_process(path: Path) -> int | None:
    """Return the process id of the daemon that serves the journal at ``path``, or None. That daemon
    reloads its configuration on SIGHUP.

    Raises ``OSError`` if the lock file cannot be read or does not exist.
    """
    descriptor = os.open(f"{path}.lock", os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        query = struct.pack(_FLOCK, fcntl.F_RDLCK, os.SEEK_SET, 0, 0, 0)
        lock_type, _, _, _, pid = struct.unpack(
            _FLOCK, fcntl.fcntl(descriptor, fcntl.F_GETLK, query)
        )
    finally:
        os.close(descriptor)
    return None if lock_type == fcntl.F_UNLCK or pid <= 0 else int(pid)


def open_or_replace(path: Path) -> tuple[sqlite3.Connection, Path | None]:
    """Return the writing connection, and where the previous file was moved if it was set aside: it
    was found damaged twice, or could not be read for :data:`OPEN_TIMEOUT_SECONDS`.

    Raises :class:`JournalUnusableError`.
    """
    if restoring_path(path).exists():
        raise UnfinishedRestoreError(
            f"{path}: a restore was started and not finished: run `novamas restore` again, or "
            f"remove {restoring_path(path)} to keep the journal as it is"
        )
    end, damaged = clock.monotonic() + OPEN_TIMEOUT_SECONDS, 0
    while damaged == 1 or (damaged == 0 and clock.monotonic() < end):
        try:
            return open_checked(path), None
        except DamagedFileError:
            damaged += 1
        except JournalReadError:
            damaged = 0
        clock.block(OPEN_RETRY_SECONDS)
    head, cursors = _last_readable(path)
    aside = aside_path(path)
    move_aside(path, aside)
    try:
        return open_checked(path, head, aside, cursors), aside
    except DamagedFileError as error:  # a new file is damaged only if the disk is
        raise JournalUnusableError(f"{path}: damaged as soon as it was created: {error}") from None


def open_checked(
    path: Path, base: int = 0, aside: Path | None = None, cursors: dict[str, int] | None = None
) -> sqlite3.Connection:
    """Return the writing connection to an intact file.

    A file that does not exist is created: its positions start after ``base``, it replaces the file
    ``aside`` and has these cursors.

    Raises :class:`DamagedFileError`, :class:`JournalReadError` and :class:`JournalUnusableError`.
    """
    try:
        connection = connect_writing(path)
        try:
            if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                _create(connection, base, aside, cursors or {})
                sync_folder(path.parent)
            _check(path, connection)
        except BaseException:
            connection.close()
            raise
    except READ_ERRORS as error:
        if is_read_failure(error) or (is_damage(error) and may_be_intact(path)):
            raise JournalReadError(f"{path}: the disk does not return it: {error}") from None
        if is_invalid_content(error):
            raise DamagedFileError(str(error)) from None
        if isinstance(error, JournalUnusableError):
            raise
        raise JournalUnusableError(f"{path}: {error}") from None
    except OSError as error:
        raise JournalUnusableError(f"{path}: {error}") from None
    return connection


def connect_writing(path: Path) -> sqlite3.Connection:
    """Open a connection for writing: write-ahead log, every commit synced, no automatic
    checkpoints.

    Raises ``sqlite3.Error``, ``OSError`` and :class:`JournalUnusableError`.
    """
    check_space(path)
    connection = connect_durably(path, JournalUnusableError)
    try:
        connection.execute("PRAGMA wal_autocheckpoint = 0")
    except BaseException:
        connection.close()
        raise
    return connection


def _last_readable(path: Path) -> tuple[int, dict[str, int]]:
    """Return the last position of a damaged file and its cursors, as far as they can be read. The
    next file continues there.
    """
    head = 0
    try:
        with closing(JournalReader(path)) as reader:
            sound = reader.last_intact(TAIL_ENTRIES)
            head = reader.base() if sound is None else sound.position
            return head, {name: min(at, head) for name, at in reader.cursors().items()}
    except READ_ERRORS:  # publishing twice is better than losing events
        return head, {"mqtt": max(0, head - REPUBLISH_ENTRIES)}


def _create(
    connection: sqlite3.Connection, base: int, aside: Path | None, cursors: dict[str, int]
) -> None:
    created = clock.now().isoformat(timespec="microseconds")
    connection.executescript(f"BEGIN IMMEDIATE; {SCHEMA}")
    connection.executemany(
        "INSERT INTO meta VALUES (?, ?)",
        [
            ("version", str(VERSION)),
            ("id", randomness.token_hex(16)),
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
        if (problem := quick_check(connection, part)) is not None:
            raise DamagedFileError(problem)
    with suppress(sqlite3.OperationalError):  # disk full: starts are only slower without the index
        connection.execute(BOOT_INDEX)
    with closing(JournalReader(path)) as reader:
        broken_at = first_broken(
            reader, after=max(reader.beginning().position, reader.head().position - TAIL_ENTRIES)
        )
    if broken_at is not None:
        raise DamagedFileError(f"the chain does not hold at position {broken_at}")


def is_fully_checked(path: Path) -> bool:
    """Return True if all pages of the file are checked when it is opened. Raises ``OSError``."""
    return path.stat().st_size <= FULL_CHECK_MAX_BYTES


def aside_path(path: Path) -> Path:
    """Return the new name of the file if it is set aside now."""
    return path.with_name(f"{path.name}.corrupt-{clock.now():%Y%m%dT%H%M%S.%fZ}")


def move_aside(path: Path, aside: Path) -> None:
    """Rename the damaged file, its log and its index; delete nothing. May be repeated after a
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
    with suppress(OSError):  # if the rename is lost, the damaged file is found again
        sync_folder(path.parent)
