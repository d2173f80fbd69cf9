"""The ledger file: its tables, its entries and its hash chain.

An entry is one fact of a jackpot, with the postings that result from it. Its hash is the SHA-256
over the 32 bytes of the previous entry's hash, then these lines, each ended by one newline:

1. the entry as a JSON array: position, time, jackpot, and of its cause time, table, boot and seq
   (null if no table event caused it);
2. the fact, as it is stored;
3. one line for each posting, in order, as a JSON array: line and transaction (both counted from 1
   in the entry), what, jackpot, account, part, amount; of ``at``: time, table, boot, seq; of the
   transaction's cause: time, table, boot, seq, or four times null.

The arrays are UTF-8 without white space; only quotation mark, backslash and control characters are
escaped. The previous hash of the first entry, the genesis, is the SHA-256 of ``novamas carrousel
1``, a newline and the file's id (``meta``), so that no two files share a chain. Positions count
from 1 without gaps.

``saved`` and ``cursor`` are not in the chain: ``saved`` is derived from the facts, and checked by
``novamas carrousel verify``; ``cursor`` stores from where to recall the tables' events.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from hashlib import sha256
from typing import NamedTuple

import msgspec

from common.chain.schema import ChainHead
from subscribers.carrousel.accounts import Cause, Transaction

LEDGER_FORMAT = 1

POSTING_SCHEMA = """
CREATE TABLE posting (
    position INTEGER NOT NULL,
    line INTEGER NOT NULL,
    txn INTEGER NOT NULL,
    what TEXT NOT NULL,
    jackpot TEXT NOT NULL,
    account TEXT NOT NULL,
    part TEXT NOT NULL,
    amount INTEGER NOT NULL,
    at_time TEXT NOT NULL,
    at_table TEXT NOT NULL,
    at_boot TEXT NOT NULL,
    at_seq INTEGER NOT NULL,
    cause_time TEXT,
    cause_table TEXT,
    cause_boot TEXT,
    cause_seq INTEGER,
    PRIMARY KEY (position, line)
) STRICT, WITHOUT ROWID;
CREATE INDEX held ON posting (jackpot, account, at_time, at_table, at_boot, at_seq, amount)
    WHERE account IN ('meter', 'reserve');
"""

_ENTRY_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE entry (
    position INTEGER PRIMARY KEY,
    time TEXT NOT NULL,
    jackpot TEXT NOT NULL,
    cause_time TEXT,
    cause_table TEXT,
    cause_boot TEXT,
    cause_seq INTEGER,
    fact BLOB NOT NULL,
    previous BLOB NOT NULL,
    hash BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX once ON entry (cause_table, cause_boot, cause_seq)
    WHERE cause_table IS NOT NULL;
"""

_SAVED_SCHEMA = """
CREATE TABLE saved (jackpot TEXT PRIMARY KEY, position INTEGER NOT NULL, state BLOB NOT NULL)
    STRICT, WITHOUT ROWID;
CREATE TABLE cursor (table_id TEXT PRIMARY KEY, heard BLOB NOT NULL) STRICT, WITHOUT ROWID;
CREATE TRIGGER entry_next BEFORE INSERT ON entry
    WHEN NEW.position <> (SELECT coalesce(max(position), 0) + 1 FROM entry)
    BEGIN SELECT RAISE(ABORT, 'entries are appended without gaps'); END;
CREATE TRIGGER entry_stays BEFORE UPDATE ON entry
    BEGIN SELECT RAISE(ABORT, 'an entry is never changed'); END;
CREATE TRIGGER entry_kept BEFORE DELETE ON entry
    BEGIN SELECT RAISE(ABORT, 'an entry is never removed'); END;
CREATE TRIGGER posting_next BEFORE INSERT ON posting
    WHEN NEW.position IS NOT (SELECT max(position) FROM entry)
    BEGIN SELECT RAISE(ABORT, 'postings belong to the last entry'); END;
CREATE TRIGGER posting_stays BEFORE UPDATE ON posting
    BEGIN SELECT RAISE(ABORT, 'a posting is never changed'); END;
CREATE TRIGGER posting_kept BEFORE DELETE ON posting
    BEGIN SELECT RAISE(ABORT, 'a posting is never removed'); END;
CREATE TRIGGER meta_stays BEFORE UPDATE ON meta
    BEGIN SELECT RAISE(ABORT, 'what a ledger is never changes'); END;
CREATE TRIGGER meta_kept BEFORE DELETE ON meta
    BEGIN SELECT RAISE(ABORT, 'what a ledger is never changes'); END;
"""

SCHEMA = _ENTRY_SCHEMA + POSTING_SCHEMA + _SAVED_SCHEMA


class LedgerError(Exception):
    """The ledger cannot be used. The message names the file, what is wrong and what to do."""


class Cursor(msgspec.Struct, frozen=True):
    """Read position of a table. ``memory``: the memory of its intake."""

    table: str
    memory: bytes


class PostingRow(NamedTuple):
    """A posting as in its row, without the position."""

    line: int
    txn: int
    what: str
    jackpot: str
    account: str
    part: str
    amount: int
    at_time: str
    at_table: str
    at_boot: str
    at_seq: int
    cause_time: str | None
    cause_table: str | None
    cause_boot: str | None
    cause_seq: int | None

    @property
    def at(self) -> Cause:
        """Position from which the posting counts."""
        return Cause(self.at_time, self.at_table, self.at_boot, self.at_seq)

    @property
    def cause(self) -> Cause | None:
        """The table event that it results from."""
        return cause_from_columns(
            self.cause_time, self.cause_table, self.cause_boot, self.cause_seq
        )


class EntryRow(NamedTuple):
    """An entry as in its row."""

    position: int
    time: str
    jackpot: str
    cause_time: str | None
    cause_table: str | None
    cause_boot: str | None
    cause_seq: int | None
    fact: bytes
    previous: bytes
    hash: bytes

    @property
    def cause(self) -> Cause | None:
        """The table event that the fact records."""
        return cause_from_columns(
            self.cause_time, self.cause_table, self.cause_boot, self.cause_seq
        )


CauseColumns = tuple[str | None, str | None, str | None, int | None]
_NO_CAUSE: CauseColumns = (None, None, None, None)
_encode_json = msgspec.json.Encoder().encode


def cause_from_columns(
    time: str | None, table: str | None, boot: str | None, seq: int | None
) -> Cause | None:
    """Return a cause from its columns; None if any is null."""
    if time is None or table is None or boot is None or seq is None:
        return None
    return Cause(time, table, boot, seq)


def cause_key(cause: Cause) -> tuple[str, str, str, int]:
    """Return the sort key of a cause."""
    return cause.time, cause.table, cause.boot, cause.seq


def cause_columns(cause: Cause | None) -> CauseColumns:
    """Return the columns of a cause."""
    return _NO_CAUSE if cause is None else cause_key(cause)


def posting_rows(transactions: Iterable[Transaction]) -> list[PostingRow]:
    """Return the rows of the postings of these transactions."""
    rows: list[PostingRow] = []
    for number, transaction in enumerate(transactions, 1):
        at, cause = cause_key(transaction.at), cause_columns(transaction.cause)
        for posting in transaction.postings:
            fields = (posting.account, posting.part, posting.amount)
            numbers = (len(rows) + 1, number)
            rows.append(
                PostingRow._make(
                    (*numbers, transaction.what, transaction.jackpot, *fields, *at, *cause)
                )
            )
    return rows


def genesis(ledger: str) -> bytes:
    """Return the hash before the first entry."""
    return sha256(f"novamas carrousel {LEDGER_FORMAT}\n{ledger}".encode()).digest()


def entry_hash(
    previous: bytes,
    position: int,
    time: str,
    jackpot: str,
    cause: CauseColumns,
    fact: bytes,
    postings: Iterable[PostingRow],
) -> bytes:
    """Return the hash of an entry."""
    first = _encode_json((position, time, jackpot, *cause))
    return sha256(
        b"%b%b\n%b\n%b"
        % (previous, first, fact, b"".join(b"%b\n" % _encode_json(posting) for posting in postings))
    ).digest()


def is_next_entry(row: EntryRow, postings: Iterable[PostingRow], before: ChainHead) -> bool:
    """Return whether the entry is intact and follows ``before``. Values from a damaged file may
    have any type.
    """
    try:
        return (row.position, row.previous) == (before.position + 1, before.hash) and (
            entry_hash(row.previous, *row[:3], row[3:7], row.fact, postings) == row.hash
        )
    except (TypeError, ValueError):
        return False


def find_schema_flaw(connection: sqlite3.Connection) -> str | None:
    """Return how the tables, indexes and triggers of a file differ from a ledger's, or None. Raises
    ``sqlite3.Error``.
    """
    template = sqlite3.connect(":memory:")
    try:
        template.executescript(SCHEMA)
        expected = set(template.execute(_SCHEMA_QUERY))
    finally:
        template.close()
    actual = set(connection.execute(_SCHEMA_QUERY))
    if missing := sorted(name for _, name, _ in expected - actual):
        return f"{', '.join(missing)}: missing, or not as in a ledger"
    if foreign := sorted(name for _, name, _ in actual - expected):
        return f"{', '.join(foreign)}: does not belong to a ledger"
    return None


_SCHEMA_QUERY = "SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"
