"""The file of a ledger: locked by one process, opened with a write-ahead log, and checked as far as
is done at every start.
"""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from pathlib import Path

from common import randomness
from common.chain.checkpoint import checkpoint_path, last_checkpoint
from common.chain.schema import ChainHead
from common.chain.sqlite_file import connect_durably, lock_file
from common.chain.wal_index import check_space
from common.new_file import sync_folder
from subscribers.carrousel import reading
from subscribers.carrousel.schema import LEDGER_FORMAT, SCHEMA, LedgerError, find_schema_flaw

CHECKED_TAIL_ENTRIES = 20_000
"""Number of last entries whose chain is checked whenever the file is opened; ``verify``
checks all.
"""
PRIVATE_FILE_MODE = 0o600
"""Readable and writable only by the owner."""

DISK_ADVICE = "free some disk space, or check the disk"
REPAIR_ADVICE = "run `novamas carrousel verify` for details, and restore the last good file"


def lock_ledger(path: Path) -> int:
    """Lock the ledger for this process until the returned file descriptor is closed. Raises
    :class:`LedgerError`.
    """
    try:
        return lock_file(path)
    except BlockingIOError:
        raise LedgerError(
            f"{path}: another controller uses this ledger; stop it, or configure another ledger "
            "here"
        ) from None
    except OSError as error:
        raise LedgerError(
            f"{path}: {error.strerror} ({error.filename}); the controller must be able to write "
            "there"
        ) from None


def connect(
    path: Path, factory: type[sqlite3.Connection] = sqlite3.Connection
) -> sqlite3.Connection:
    """Return the writing connection, creating the file if necessary. Raises ``sqlite3.Error``,
    ``OSError`` and :class:`LedgerError`.
    """
    check_space(path)
    with suppress(FileNotFoundError):
        path.chmod(PRIVATE_FILE_MODE)
    connection = connect_durably(path, LedgerError, file_mode=PRIVATE_FILE_MODE, factory=factory)
    try:
        if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            create_tables(connection)
            sync_folder(path.parent)
    except BaseException:
        connection.close()
        raise
    return connection


def create_ledger(path: Path, ledger: str) -> None:
    """Create the file of a ledger that the other controller of a pair has begun, with its id.
    Raises ``sqlite3.Error``, ``OSError`` and :class:`LedgerError`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.with_name(f"{path.name}.new")
    file.unlink(missing_ok=True)
    connection = connect_durably(file, LedgerError, file_mode=PRIVATE_FILE_MODE)
    try:
        create_tables(connection, ledger)
    finally:
        connection.close()
    file.rename(path)  # never a ledger without its id
    sync_folder(path.parent)


def create_tables(connection: sqlite3.Connection, ledger: str | None = None) -> None:
    """Create the tables of a ledger with a new id. Raises ``sqlite3.Error``."""
    connection.executescript(f"BEGIN IMMEDIATE; {SCHEMA}")
    connection.executemany(
        "INSERT INTO meta VALUES (?, ?)",
        [("id", ledger or randomness.token_hex(16)), ("version", str(LEDGER_FORMAT))],
    )
    connection.execute("COMMIT")


def check_opened(
    connection: sqlite3.Connection, path: Path, start: ChainHead, head: ChainHead
) -> None:
    """Check an opened ledger as far as is done at a start: its tables, the end of the chain, and
    the checkpoint beside it. ``start``: head of an empty chain. Raises :class:`LedgerError` if it
    is not what was written.
    """
    if (schema_flaw := find_schema_flaw(connection)) is not None:
        raise LedgerError(f"{path}: {schema_flaw}; {REPAIR_ADVICE}")
    after = max(0, head.position - CHECKED_TAIL_ENTRIES)
    before = start if after == 0 else ChainHead(after, _hash_at(connection, path, after))
    if (broken := reading.find_broken_entry(connection, before, head.position)) is not None:
        raise LedgerError(f"{path}: the hash chain is broken at position {broken}; {REPAIR_ADVICE}")
    last = last_checkpoint(path)
    if last is None:
        return
    if last.journal != reading.ledger_id(connection, path):
        raise LedgerError(
            f"{checkpoint_path(path)}: it belongs to another ledger; restore the right file"
        )
    if last.position > head.position:
        raise LedgerError(
            f"{path}: it ends at entry {head.position}, but its checkpoint is for entry "
            f"{last.position}: it is older, or was truncated. Restore the last file. If there "
            "is none, move the checkpoint away and settle later payments by their receipts"
        )
    if last.position and _hash_at(connection, path, last.position).hex() != last.hash:
        raise LedgerError(
            f"{path}: entry {last.position} is not the one in the checkpoint; {REPAIR_ADVICE}"
        )


def _hash_at(connection: sqlite3.Connection, path: Path, position: int) -> bytes:
    digest = reading.hash_at(connection, position)
    if digest is None:
        raise LedgerError(f"{path}: entry {position} is missing; {REPAIR_ADVICE}")
    return digest
