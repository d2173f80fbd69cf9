"""The writing side of a ledger: one process, one connection, and nothing counts before its commit.

Entries are written at once, in an SQLite transaction that ``commit`` ends: write-ahead log, synced
before ``commit`` returns. If the disk refuses a write, everything since the last commit is lost,
and every call raises until ``reopen`` has succeeded.

Balances are summed from the postings when the file is opened or a transaction is rolled back, and
then updated with each entry (``balances.py``). ``check_balances`` compares them with the index that
is used for balances as of a moment.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from common.chain.schema import READ_ERRORS, ChainHead
from common.chain.sqlite_file import inode
from common.chain.wal_index import WalIndex
from subscribers.carrousel import reading
from subscribers.carrousel.accounts import Cause, Transaction
from subscribers.carrousel.balances import Balances
from subscribers.carrousel.facts import Fact, OrderGiven, OrderNotFollowed
from subscribers.carrousel.ledger_file import (
    DISK_ADVICE,
    REPAIR_ADVICE,
    check_opened,
    connect,
    lock_ledger,
)
from subscribers.carrousel.schema import (
    Cursor,
    LedgerError,
    PostingRow,
    cause_columns,
    entry_hash,
    genesis,
    posting_rows,
)

AppendResult = Literal["new", "same", "contradiction"]
"""``same``: the table's event is in the ledger already, with the same fact. ``contradiction``: with
another fact. In both cases the ledger is unchanged.
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


class UncommittedEntry(NamedTuple):
    """An entry that was appended since the last commit."""

    time: str
    jackpot: str
    fact: bytes
    hash: bytes


class LedgerUnavailableError(LedgerError):
    """The disk does not let the ledger be read or written. A later attempt may succeed."""


class LedgerNotStoredError(LedgerUnavailableError):
    """The disk refused a write. Nothing since the last commit counts, unless ``reopen`` finds that
    the last commit succeeded.
    """


class LedgerStore:
    """Opens a ledger, or creates one; only the file's owner can read it. Raises
    :class:`LedgerError`.

    ``head``: end of the chain, including uncommitted entries; ``committed``: without them;
    ``connection``: class of its connection.
    """

    def __init__(
        self, path: Path, connection: type[sqlite3.Connection] = sqlite3.Connection
    ) -> None:
        self.path = path
        self._connection_class = connection
        self.id = ""
        self.head = self.committed = ChainHead(0, b"")
        self._connection: sqlite3.Connection | None = None
        self._inode: int | None = None
        self._uncommitted: list[PostingRow] = []
        self.appended: list[UncommittedEntry] = []
        """The entries since the last commit."""
        self._index = WalIndex()
        self._lock: int | None = lock_ledger(path)
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    def known(self, fact: Fact, jackpot: str) -> AppendResult:
        """Return what ``append`` would return for a fact. Raises :class:`LedgerNotStoredError`."""
        cause = cause_of(fact)
        if cause is None:
            return "new"
        try:
            row = self._open_file.execute(
                _KNOWN_FACT_QUERY, (cause.table, cause.boot, cause.seq)
            ).fetchone()
        except sqlite3.Error as error:
            raise self._failed(error) from None
        if row is None:
            return "new"
        return "same" if row == (jackpot, msgspec.json.encode(fact)) else "contradiction"

    def append(
        self, jackpot: str, time: str, fact: Fact, transactions: Sequence[Transaction]
    ) -> AppendResult:
        """Add a fact of a jackpot with its transactions. ``time``: now, formatted by
        ``common.contract.times.utc``. Raises :class:`LedgerNotStoredError`.
        """
        if (existing := self.known(fact, jackpot)) != "new":
            return existing
        body, cause, postings = (
            msgspec.json.encode(fact),
            cause_of(fact),
            posting_rows(transactions),
        )
        position, columns = self.head.position + 1, cause_columns(cause)
        digest = entry_hash(self.head.hash, position, time, jackpot, columns, body, postings)
        connection = self._open_file
        try:
            self._begin()
            connection.execute(
                _INSERT_ENTRY, (position, time, jackpot, *columns, body, self.head.hash, digest)
            )
            connection.executemany(_INSERT_POSTING, [(position, *row) for row in postings])
        except (sqlite3.Error, OSError, OverflowError) as error:
            raise self._failed(error) from None
        self.head = ChainHead(position, digest)
        self._balances.add(postings)
        self._uncommitted += postings
        self.appended.append(UncommittedEntry(time, jackpot, body, digest))
        return "new"

    def commit(
        self, states: Mapping[str, bytes] | None = None, cursors: Sequence[Cursor] = ()
    ) -> ChainHead:
        """Write everything appended to disk, with the resulting states of the jackpots, as JSON,
        and the cursors of the tables. Return the head. Raises :class:`LedgerNotStoredError`.
        """
        connection = self._open_file
        if not (states or cursors or connection.in_transaction):
            return self.committed
        try:
            self._begin()
            position = self.head.position
            connection.executemany(
                _UPSERT_STATE, [(name, position, state) for name, state in (states or {}).items()]
            )
            connection.executemany(
                _UPSERT_CURSOR, [msgspec.structs.astuple(cursor) for cursor in cursors]
            )
            if self._inode != inode(self.path):
                raise sqlite3.OperationalError("the file was removed or replaced")
            connection.execute("COMMIT")
        except (sqlite3.Error, OSError) as error:
            raise self._failed(error, at_commit=True) from None
        self.committed, self._uncommitted, self.appended = self.head, [], []
        return self.head

    def rollback(self) -> None:
        """Undo everything since the last commit. Raises :class:`LedgerNotStoredError`."""
        try:
            if self._open_file.in_transaction:
                self._open_file.execute("ROLLBACK")
            self.head, self._uncommitted, self.appended = self.committed, [], []
            self._balances = Balances(self._open_file)
        except sqlite3.Error as error:
            raise self._failed(error) from None

    def balance(self, jackpot: str, account: Literal["meter", "reserve"] = "meter") -> int:
        """Return the balance of an account, including uncommitted postings."""
        return self._balances.current(jackpot, account)

    def committed_balance(self, jackpot: str, account: Literal["meter", "reserve"]) -> int:
        """Return the balance of an account without uncommitted postings, also while the file is
        closed after a failure.
        """
        return self.balance(jackpot, account) - sum(
            posting.amount
            for posting in self._uncommitted
            if (posting.jackpot, posting.account) == (jackpot, account)
        )

    def balance_before(
        self, jackpot: str, account: Literal["meter", "reserve"], cause: Cause
    ) -> int:
        """Return the balance of an account over the postings that count before a cause, including
        uncommitted ones. Raises :class:`LedgerNotStoredError`.
        """
        try:
            return self._balances.before(jackpot, account, cause)
        except sqlite3.Error as error:
            raise self._failed(error) from None

    @property
    def is_open(self) -> bool:
        """Whether no failure has closed the file since it was last opened."""
        return self._connection is not None

    @property
    def sums(self) -> dict[tuple[str, str], int]:
        """All balances, by jackpot and account, including uncommitted postings."""
        return self._balances.all

    def started(self) -> bytes | None:
        """Return the last fact of a controller start, with its program and configuration. Raises
        :class:`LedgerNotStoredError`.
        """
        try:
            row = self._open_file.execute(_LAST_START_QUERY).fetchone()
        except sqlite3.Error as error:
            raise self._failed(error) from None
        return None if row is None else row[0]

    def tokens(self) -> Iterator[str]:
        """Yield every order that persons signed, followed or not. Raises
        :class:`LedgerNotStoredError`.
        """
        try:
            for (body,) in self._open_file.execute(_SIGNED_ORDERS_QUERY):
                fact = reading.read_fact(body)
                if isinstance(fact, OrderGiven | OrderNotFollowed):
                    yield from (signature.token for signature in fact.signed)
        except (sqlite3.Error, msgspec.MsgspecError) as error:
            raise self._failed(error) from None

    def check_balances(self) -> None:
        """Compare the balances in memory with the index. Raises :class:`LedgerError`."""
        try:
            mismatch = self._balances.find_mismatch()
        except sqlite3.Error as error:
            raise self._failed(error) from None
        if mismatch is not None:
            raise LedgerError(
                f"{self.path}: {mismatch}; take the jackpots out of play and verify the ledger"
            )

    def states(self) -> dict[str, bytes]:
        """Return the committed state of each jackpot. Raises :class:`LedgerNotStoredError`."""
        try:
            saved = reading.saved_states(self._open_file)
        except sqlite3.Error as error:
            raise self._failed(error) from None
        return {jackpot: state for jackpot, (_, state) in saved.items()}

    def cursors(self) -> dict[str, Cursor]:
        """Return the committed cursor of each table. Raises :class:`LedgerNotStoredError`."""
        try:
            return reading.cursors(self._open_file)
        except sqlite3.Error as error:
            raise self._failed(error) from None

    def reopen(self) -> bool:
        """Open the file again after a failure. Return whether the failed commit succeeded after
        all: then its facts count and must not be appended again. Reload the states in either case.
        Raises :class:`LedgerError`.
        """
        before, attempted = self.committed, self.head
        if self._connection is not None:
            self.rollback()
            return False
        if self._inode != inode(self.path):
            raise LedgerError(
                f"{self.path}: the file was removed or replaced; put it back, or "
                "stop the controller"
            )
        self._open(synced=True)
        if self.head not in (before, attempted):
            self._disconnect()
            self.committed, self.head = before, attempted
            raise LedgerError(
                f"{self.path}: the file no longer contains what was stored; stop the controller, "
                "keep the file and restore the last good one"
            )
        return self.head == attempted != before

    def close(self) -> None:
        """Close the file; uncommitted entries are lost."""
        self._disconnect()
        self._index.close()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    @property
    def _open_file(self) -> sqlite3.Connection:
        if self._connection is None:
            raise LedgerNotStoredError(
                f"{self.path}: closed after a failure and not reopened yet. Free some disk space, "
                "or check the disk"
            )
        return self._connection

    def _begin(self) -> None:
        if not self._open_file.in_transaction:
            self._open_file.execute("BEGIN IMMEDIATE")

    def _failed(self, error: Exception, *, at_commit: bool = False) -> LedgerNotStoredError:
        """Return the error to raise. The file is closed, because it is unknown what the disk
        stored.
        """
        self._disconnect()
        reason = getattr(error, "strerror", None) or str(error)
        last = self.committed.position
        stored = (
            f"whether entries after {last} are stored is unknown until the file is open again: "
            "repeat no order before that"
            if at_commit
            else f"nothing after entry {last} is stored"
        )
        return LedgerNotStoredError(
            f"{self.path}: {reason}; {stored}. Free some disk space, or check the disk"
        )

    def _disconnect(self) -> None:
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    def _open(self, *, synced: bool = False) -> None:
        """Connect and check. ``synced``: first move the write-ahead log into the file, which syncs
        data that may be only in the system's memory.
        """
        try:
            self._connection = connection = connect(self.path, self._connection_class)
            self._index.reserve(self.path)
            if synced and connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
                raise LedgerError(f"{self.path}: another process is reading it; try again")
            ledger = reading.ledger_id(connection, self.path)
            start = ChainHead(0, genesis(ledger))
            head = reading.read_head(connection, start)
            check_opened(connection, self.path, start, head)
            self.id, self.head, self.committed = ledger, head, head
            self._inode = inode(self.path)
            self._balances, self._uncommitted, self.appended = Balances(connection), [], []
        except (OSError, sqlite3.OperationalError) as error:
            self._disconnect()
            raise LedgerUnavailableError(f"{self.path}: {error}; {DISK_ADVICE}") from None
        except READ_ERRORS as error:
            self._disconnect()
            raise LedgerError(f"{self.path}: {error}; {REPAIR_ADVICE}") from None
        except BaseException:
            self._disconnect()
            raise


def cause_of(fact: Fact) -> Cause | None:
    """Return the table event that a fact records, or None."""
    cause = getattr(fact, "cause", None)
    return cause if isinstance(cause, Cause) else None
