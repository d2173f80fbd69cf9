"""The writing side of a ledger: one process, one connection, and nothing counts before its commit.

What is appended goes to the file at once, in a transaction of SQLite that ``commit`` ends: write-
ahead log, synced before ``commit`` returns. If the disk refuses anything, all since the last commit
is gone, and the ledger says so to whoever comes until ``reopen`` has succeeded.

What the accounts hold is summed from the postings whenever the file is opened or something was
taken back, and counted on from there (``balances.py``). ``check_balances`` holds that against the
index from which sums as of a moment come.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

import msgspec

from controller.journal.schema import READ_ERRORS, ChainHead
from controller.journal.wal_index import WalIndex, check_space
from controller.proof.checkpoint import checkpoint_path, kept
from subscribers.carrousel import reading
from subscribers.carrousel.accounts import Cause, Transaction
from subscribers.carrousel.balances import Balances
from subscribers.carrousel.facts import Fact, OrderGiven, OrderNotFollowed
from subscribers.carrousel.schema import (
    LEDGER_FORMAT,
    SCHEMA,
    Cursor,
    LedgerError,
    cause_columns,
    entry_hash,
    find_schema_flaw,
    genesis,
    posting_rows,
)

CHECKED_TAIL_ENTRIES = 20_000
"""Entries whose chain is checked whenever the file is opened; ``verify`` checks all."""
PRIVATE_FILE_MODE = 0o600
"""Permissions: only the owner reads and writes."""
BUSY_TIMEOUT_MS = 5000
"""Milliseconds that a commit waits for another writer; there should be none."""

AppendResult = Literal["new", "same", "contradiction"]
"""``same``: the table's event was already in the ledger, with the same fact. ``contradiction``: it
was, with another fact. In both cases the ledger stays as it is.
"""

_INSERT_ENTRY = "INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_INSERT_POSTING = "INSERT INTO posting VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_UPSERT_STATE = (
    "INSERT INTO saved VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET position = excluded.position, "
    "state = excluded.state"
)
_UPSERT_CURSOR = "INSERT INTO cursor VALUES (?, ?) ON CONFLICT DO UPDATE SET heard = excluded.heard"
_KNOWN_FACT_QUERY = (
    "SELECT jackpot, fact FROM entry WHERE cause_table = ? AND cause_boot = ? AND cause_seq = ?"
)
_LAST_START_QUERY = (
    "SELECT fact FROM entry WHERE cause_table IS NULL "
    """AND substr(fact, 1, 17) = CAST('{"fact":"started"' AS BLOB) """
    "ORDER BY position DESC LIMIT 1"
)

_SIGNED_ORDERS_QUERY = (
    "SELECT fact FROM entry WHERE cause_table IS NULL "
    """AND (substr(fact, 1, 17) = CAST('{"fact":"ordered"' AS BLOB) """
    """OR substr(fact, 1, 20) = CAST('{"fact":"unfollowed"' AS BLOB))"""
)


class LedgerNotStoredError(LedgerError):
    """The disk did not take something. Nothing since the last commit counts, unless ``reopen``
    says that the last commit came through.
    """


class LedgerStore:
    """Opens a ledger, or begins one; its file can be read by its owner alone. Raises
    :class:`LedgerError`.

    ``read_head``: the end of the chain, with what is not committed yet; ``committed``: without it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.id = ""
        self.head = self.committed = ChainHead(0, b"")
        self._connection: sqlite3.Connection | None = None
        self._inode: int | None = None
        self._index = WalIndex()
        self._lock: int | None = lock_ledger(path)
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    def known(self, fact: Fact, jackpot: str) -> AppendResult:
        """What ``append`` would say of a fact. Raises :class:`LedgerNotStoredError`."""
        cause = cause_of(fact)
        if cause is None:
            return "new"
        try:
            found = self._open_file.execute(
                _KNOWN_FACT_QUERY, (cause.table, cause.boot, cause.seq)
            ).fetchone()
        except sqlite3.Error as error:
            raise self._failed(error) from None
        if found is None:
            return "new"
        return "same" if found == (jackpot, msgspec.json.encode(fact)) else "contradiction"

    def append(
        self, jackpot: str, time: str, fact: Fact, transactions: Sequence[Transaction]
    ) -> AppendResult:
        """Add a fact that a jackpot took in, with what follows from it. ``time``: now, as
        ``controller.contract.times.utc`` writes it. Raises :class:`LedgerNotStoredError`.
        """
        if (known := self.known(fact, jackpot)) != "new":
            return known
        body, cause, postings = (
            msgspec.json.encode(fact),
            cause_of(fact),
            posting_rows(transactions),
        )
        position, of = self.head.position + 1, cause_columns(cause)
        digest = entry_hash(self.head.hash, position, time, jackpot, of, body, postings)
        connection = self._open_file
        try:
            self._begin()
            connection.execute(
                _INSERT_ENTRY, (position, time, jackpot, *of, body, self.head.hash, digest)
            )
            connection.executemany(_INSERT_POSTING, [(position, *each) for each in postings])
        except (sqlite3.Error, OSError, OverflowError) as error:
            raise self._failed(error) from None
        self.head = ChainHead(position, digest)
        self._balances.add(postings)
        return "new"

    def commit(
        self, states: Mapping[str, bytes] | None = None, cursors: Sequence[Cursor] = ()
    ) -> ChainHead:
        """Put on the disk what was appended, with the states of the jackpots after it, as JSON, and
        how far each table was heard. Returns the head. Raises :class:`LedgerNotStoredError`.
        """
        connection = self._open_file
        if not (states or cursors or connection.in_transaction):
            return self.committed
        try:
            self._begin()
            at = self.head.position
            connection.executemany(
                _UPSERT_STATE, [(name, at, state) for name, state in (states or {}).items()]
            )
            connection.executemany(
                _UPSERT_CURSOR, [msgspec.structs.astuple(each) for each in cursors]
            )
            if self._inode != _inode(self.path):
                raise sqlite3.OperationalError("the file was removed, or another put in its place")
            connection.execute("COMMIT")
        except (sqlite3.Error, OSError) as error:
            raise self._failed(error, at_commit=True) from None
        self.committed = self.head
        return self.head

    def rollback(self) -> None:
        """Undo everything since the last commit. Raises :class:`LedgerNotStoredError`."""
        try:
            if self._open_file.in_transaction:
                self._open_file.execute("ROLLBACK")
            self.head = self.committed
            self._balances = Balances(self._open_file)
        except sqlite3.Error as error:
            raise self._failed(error) from None

    def balance(self, jackpot: str, account: Literal["meter", "reserve"] = "meter") -> int:
        """What an account holds, with what is not committed yet."""
        return self._balances.current(jackpot, account)

    def balance_before(
        self, jackpot: str, account: Literal["meter", "reserve"], cause: Cause
    ) -> int:
        """What an account held as of a cause: the sum of its postings that count before it, with
        what is not committed yet. Raises :class:`LedgerNotStoredError`.
        """
        try:
            return self._balances.before(jackpot, account, cause)
        except sqlite3.Error as error:
            raise self._failed(error) from None

    @property
    def sums(self) -> dict[tuple[str, str], int]:
        """What all accounts hold, by jackpot and account, with what is not committed yet."""
        return self._balances.all

    def started(self) -> bytes | None:
        """The last fact that says with which program and configuration the controller started.
        Raises :class:`LedgerNotStoredError`.
        """
        try:
            found = self._open_file.execute(_LAST_START_QUERY).fetchone()
        except sqlite3.Error as error:
            raise self._failed(error) from None
        return None if found is None else found[0]

    def tokens(self) -> Iterator[str]:
        """Every order that persons signed, whether it was followed or not. Raises
        :class:`LedgerNotStoredError`.
        """
        try:
            for (body,) in self._open_file.execute(_SIGNED_ORDERS_QUERY):
                fact = reading.read_fact(body)
                if isinstance(fact, OrderGiven | OrderNotFollowed):
                    yield from (each.token for each in fact.signed)
        except (sqlite3.Error, msgspec.MsgspecError) as error:
            raise self._failed(error) from None

    def check_balances(self) -> None:
        """Hold the sums in memory against the index. Raises :class:`LedgerError`."""
        try:
            found = self._balances.find_mismatch()
        except sqlite3.Error as error:
            raise self._failed(error) from None
        if found is not None:
            raise LedgerError(
                f"{self.path}: {found}; take its jackpots out of play and verify the ledger"
            )

    def states(self) -> dict[str, bytes]:
        """The state of each jackpot after the last commit. Raises :class:`LedgerNotStoredError`."""
        try:
            found = reading.saved_states(self._open_file)
        except sqlite3.Error as error:
            raise self._failed(error) from None
        return {jackpot: state for jackpot, (_, state) in found.items()}

    def cursors(self) -> dict[str, Cursor]:
        """Return the committed cursor of each table. Raises :class:`LedgerNotStoredError`."""
        try:
            return reading.cursors(self._open_file)
        except sqlite3.Error as error:
            raise self._failed(error) from None

    def reopen(self) -> bool:
        """Open the file again after a failure. Returns whether the commit that failed is there
        after all: then its facts count, and must not be appended again. Read the states anew in
        either case. Raises :class:`LedgerError`.
        """
        before, tried = self.committed, self.head
        if self._connection is not None:
            self.rollback()
            return False
        if self._inode != _inode(self.path):
            raise LedgerError(
                f"{self.path}: the file was removed, or another put in its place; put it back, or "
                "stop the controller"
            )
        self._open(synced=True)
        if self.head not in (before, tried):
            self._disconnect()
            self.committed, self.head = before, tried
            raise LedgerError(
                f"{self.path}: the file no longer holds what was stored; stop the controller, keep "
                "the file and put the last good one in its place"
            )
        return self.head == tried != before

    def close(self) -> None:
        """Close the file; what is not committed does not count."""
        self._disconnect()
        self._index.close()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    @property
    def _open_file(self) -> sqlite3.Connection:
        if self._connection is None:
            raise LedgerNotStoredError(
                f"{self.path}: closed after a failure, and not open again yet. Make room on the "
                "disk, or look after it"
            )
        return self._connection

    def _begin(self) -> None:
        if not self._open_file.in_transaction:
            self._open_file.execute("BEGIN IMMEDIATE")

    def _failed(self, error: Exception, *, at_commit: bool = False) -> LedgerNotStoredError:
        """What to tell of it. The file is closed, for it is unknown what the disk took."""
        self._disconnect()
        what = getattr(error, "strerror", None) or str(error)
        last = self.committed.position
        stored = (
            f"whether what came after entry {last} is stored will be known when the file is open "
            "again: order nothing twice until then"
            if at_commit
            else f"nothing after entry {last} is stored"
        )
        return LedgerNotStoredError(
            f"{self.path}: {what}; {stored}. Make room on the disk, or look after it"
        )

    def _disconnect(self) -> None:
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    def _open(self, *, synced: bool = False) -> None:
        """Connect and check. ``synced``: move the log into the file first, which syncs anew what
        may be in the memory of the system alone.
        """
        try:
            self._connection = connection = connect(self.path)
            self._index.reserve(self.path)
            if synced and connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
                raise LedgerError(f"{self.path}: somebody reads it just now; try again")
            ledger = reading.ledger_id(connection, self.path)
            begins = ChainHead(0, genesis(ledger))
            head = reading.read_head(connection, begins)
            self._check(connection, begins, head)
            self.id, self.head, self.committed = ledger, head, head
            self._inode = _inode(self.path)
            self._balances = Balances(connection)
        except (OSError, *READ_ERRORS) as error:
            self._disconnect()
            raise LedgerError(f"{self.path}: {error}; {_REPAIR_ADVICE}") from None
        except BaseException:
            self._disconnect()
            raise

    def _check(self, connection: sqlite3.Connection, begins: ChainHead, head: ChainHead) -> None:
        """Raise :class:`LedgerError` if the file is not what was written, as far as a start looks:
        its tables, the end of the chain, and the checkpoint beside it.
        """
        if (found := find_schema_flaw(connection)) is not None:
            raise LedgerError(f"{self.path}: {found}; {_REPAIR_ADVICE}")
        after = max(0, head.position - CHECKED_TAIL_ENTRIES)
        before = begins if after == 0 else ChainHead(after, self._hash(connection, after))
        if (at := reading.find_broken_entry(connection, before, head.position)) is not None:
            raise LedgerError(
                f"{self.path}: the chain does not hold at position {at}; {_REPAIR_ADVICE}"
            )
        last = kept(self.path)
        if last is None:
            return
        if last.journal != reading.ledger_id(connection, self.path):
            raise LedgerError(
                f"{checkpoint_path(self.path)}: it is of another ledger; put the right file back"
            )
        if last.position > head.position:
            raise LedgerError(
                f"{self.path}: it ends at entry {head.position}, and its checkpoint says "
                f"{last.position}: it is older, or was cut. Put the last file back. If there is "
                "none, move the checkpoint away and settle by the receipts what was paid since"
            )
        if last.position and self._hash(connection, last.position).hex() != last.hash:
            raise LedgerError(
                f"{self.path}: entry {last.position} is not the one of the checkpoint; "
                f"{_REPAIR_ADVICE}"
            )

    def _hash(self, connection: sqlite3.Connection, position: int) -> bytes:
        found = reading.hash_at(connection, position)
        if found is None:
            raise LedgerError(f"{self.path}: entry {position} is missing; {_REPAIR_ADVICE}")
        return found


_REPAIR_ADVICE = "let `novamas carrousel verify` say what is wrong, and put the last good file back"


def cause_of(fact: Fact) -> Cause | None:
    """The table's event that a fact is; None: it is none."""
    found = getattr(fact, "cause", None)
    return found if isinstance(found, Cause) else None


def lock_ledger(path: Path) -> int:
    """Lock the ledger for this process, until the returned file descriptor is closed. Raises
    :class:`LedgerError`.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        held = os.open(
            f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, PRIVATE_FILE_MODE
        )
    except OSError as error:
        raise LedgerError(
            f"{path}: {error.strerror} ({error.filename}); the controller must be able to write "
            "there"
        ) from None
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(held)
        raise LedgerError(
            f"{path}: another controller uses this ledger; stop it, or give this one a ledger of "
            "its own"
        ) from None
    return held


def connect(path: Path) -> sqlite3.Connection:
    """The writing connection; the file is begun where there is none. Raises ``sqlite3.Error``,
    ``OSError`` and :class:`LedgerError`.
    """
    check_space(path)
    with suppress(FileExistsError):  # what is there is not opened: closing it drops SQLite's locks
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        os.close(os.open(path, flags, PRIVATE_FILE_MODE))
    path.chmod(PRIVATE_FILE_MODE)
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
        if connection.execute("PRAGMA journal_mode = WAL").fetchone()[0] != "wal":
            raise LedgerError(
                f"{path}: the file system cannot hold a write-ahead log; use a local disk"
            )
        connection.execute("PRAGMA synchronous = FULL")
        if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            create_tables(connection)
            _sync(path.parent)
    except BaseException:
        connection.close()
        raise
    return connection


def create_tables(connection: sqlite3.Connection, ledger: str | None = None) -> None:
    """Make the tables of a ledger with an id of its own. Raises ``sqlite3.Error``."""
    connection.executescript(f"BEGIN IMMEDIATE; {SCHEMA}")
    connection.executemany(
        "INSERT INTO meta VALUES (?, ?)",
        [("id", ledger or secrets.token_hex(16)), ("version", str(LEDGER_FORMAT))],
    )
    connection.execute("COMMIT")


def _inode(path: Path) -> int | None:
    try:
        return os.stat(path).st_ino  # noqa: PTH116 - no path is made for each commit
    except FileNotFoundError:
        return None


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
