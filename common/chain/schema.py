"""The format of the journal's file: its tables, entries and hash chain.

Each entry has the hash of the previous entry and its own: the SHA-256 of the 32 bytes of the
previous hash, then table, boot, kind, seq, time and mono_ns as text, each followed by one newline,
then the body unchanged. The previous hash of the first entry, the genesis, is the SHA-256 of
``novamas journal 2``, a newline and the file's id (``meta``), so that no two files share a chain.
Positions count without gaps from 1, or from the end of the previous file if that was set aside
while in use.

Entries of the kind ``boot`` record the software and configuration of a run, ``state`` the state
with which a table started, ``bytes`` the data that a device sent, ``input`` an input of a table,
``event`` an event that it published. So every event can be derived again.
"""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Literal

import msgspec

from common import randomness
from common.errors import NovamasError

VERSION = 2

BOOT_INDEX = "CREATE INDEX IF NOT EXISTS boot ON entry (kind) WHERE kind = 'boot';"
"""Finds the last ``boot`` entry without reading the later entries. Files of 0.1.0 lack it."""

SCHEMA = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE entry (
    position INTEGER PRIMARY KEY,
    table_id TEXT NOT NULL,
    boot TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('boot', 'state', 'bytes', 'input', 'event')),
    seq INTEGER NOT NULL,
    time TEXT NOT NULL,
    mono_ns INTEGER NOT NULL,
    body BLOB NOT NULL,
    previous BLOB NOT NULL,
    hash BLOB NOT NULL
);
CREATE INDEX event_seq ON entry (table_id, boot, seq) WHERE kind = 'event';
{BOOT_INDEX}
CREATE TABLE saved (table_id TEXT PRIMARY KEY, state BLOB NOT NULL, position INTEGER NOT NULL);
CREATE TABLE cursor (name TEXT PRIMARY KEY, position INTEGER NOT NULL) WITHOUT ROWID;
"""

Kind = Literal["boot", "state", "bytes", "input", "event"]


class JournalUnusableError(NovamasError):
    """The journal cannot be used. The message names the file and what to do."""


class JournalReadError(JournalUnusableError):
    """The disk does not return the file, which may be intact."""


class JournalLostError(JournalUnusableError):
    """The file does not hold what was stored in it: a new one must be started."""


class JournalFullError(NovamasError):
    """No record is accepted, because too many are waiting while commits fail."""


class Record(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One input of one table and all that results from it, committed together or not at all.

    ``input`` and ``events`` are lines of the notation; ``seq`` is the table's number after them
    (``Table.seq``); ``saved`` is the state from which the table can continue (``Table.saved()``).
    ``before`` are the entries that precede the input. A record may have ``before`` alone.
    """

    table: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    input: bytes | None = None
    events: tuple[bytes, ...] = ()
    saved: bytes | None = None
    before: tuple[tuple[Kind, bytes], ...] = ()


class Entry(msgspec.Struct, frozen=True, gc=False):
    """One row. ``seq`` is the number of an event; other entries have that of their table's previous
    event.
    """

    position: int
    table: str
    boot: str
    kind: Kind
    seq: int
    time: str
    mono_ns: int
    body: bytes
    previous: bytes
    hash: bytes

    @property
    def is_published(self) -> bool:
        """Return True if the entry is published."""
        return is_published(self.kind, self.body)


def is_published(kind: Kind, body: bytes) -> bool:
    """Return True for an entry that is published: an event, or an input that is sealed for
    surveillance.
    """
    return kind == "event" or (kind == "input" and body.startswith(b'{"sealed":'))


class ChainHead(msgspec.Struct, frozen=True):
    """A point of the chain: the position of an entry and its hash."""

    position: int
    hash: bytes


Row = tuple[int, str, str, Kind, int, str, int, bytes, bytes, bytes]


def new_boot() -> str:
    """Return a new random id for one run of the daemon."""
    return randomness.token_hex(4)


def genesis(journal_id: str) -> bytes:
    """Return the hash before the first entry."""
    return sha256(f"novamas journal {VERSION}\n{journal_id}".encode()).digest()


def entry_hash(
    previous: bytes,
    table: str,
    boot: str,
    kind: Kind,
    seq: int,
    time: str,
    mono_ns: int,
    body: bytes,
) -> bytes:
    """Return the hash of an entry with these fields."""
    return sha256(
        b"%b%b\n%b"
        % (previous, f"{table}\n{boot}\n{kind}\n{seq}\n{time}\n{mono_ns}".encode(), body)
    ).digest()


def recomputed_hash(entry: Entry) -> bytes:
    """Return the hash that the entry should have, given the previous hash in it."""
    return entry_hash(
        entry.previous,
        entry.table,
        entry.boot,
        entry.kind,
        entry.seq,
        entry.time,
        entry.mono_ns,
        entry.body,
    )


def has_valid_hash(entry: Entry) -> bool:
    """Return True if the entry's own hash is correct."""
    return recomputed_hash(entry) == entry.hash


def follows(entry: Entry, before: ChainHead) -> bool:
    """Return True if the entry is the intact successor of ``before``. Values from a damaged file
    may have any type.
    """
    try:
        return (entry.position, entry.previous) == (
            before.position + 1,
            before.hash,
        ) and has_valid_hash(entry)
    except (TypeError, AttributeError):
        return False


def rows(records: list[Record], head: ChainHead) -> tuple[list[Row], list[int], ChainHead]:
    """Return the rows of these records after ``head``, the last position of each record, and the
    new head.
    """
    new_rows: list[Row] = []
    ends: list[int] = []
    position, previous = head.position, head.hash
    for record in records:
        first = record.seq - len(record.events)
        lines: list[tuple[Kind, int, bytes]] = [(kind, first, body) for kind, body in record.before]
        if record.input is not None:
            lines.append(("input", first, record.input))
        lines += [("event", seq, body) for seq, body in enumerate(record.events, first + 1)]
        for kind, seq, body in lines:
            digest = entry_hash(
                previous, record.table, record.boot, kind, seq, record.time, record.mono_ns, body
            )
            position += 1
            new_rows.append(
                (
                    position,
                    record.table,
                    record.boot,
                    kind,
                    seq,
                    record.time,
                    record.mono_ns,
                    body,
                    previous,
                    digest,
                )
            )
            previous = digest
        ends.append(position)
    return new_rows, ends, ChainHead(position, previous)


def primary_code(error: sqlite3.Error) -> int:
    """Return SQLite's primary result code of an error; 0 if it has none."""
    code = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF if isinstance(code, int) else 0


def is_damage(error: BaseException | None) -> bool:
    """Return True if the error means that the file is damaged. SQLite reports the same if the disk
    does not return a page: see :func:`may_be_intact`.
    """
    if isinstance(error, JournalUnusableError):
        return is_damage(error.__cause__)
    return isinstance(error, sqlite3.Error) and primary_code(error) in (
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
    )


def is_read_failure(error: BaseException | None) -> bool:
    """Return True if the error means that the disk did not return the data; a retry may succeed."""
    if isinstance(error, JournalUnusableError):
        return is_read_failure(error.__cause__)
    return isinstance(error, sqlite3.Error) and primary_code(error) == sqlite3.SQLITE_IOERR


_UNREAD_PAGE = re.compile(r"unable to get the page\. error code=(\d+)")


def unread_page(message: str) -> int | None:
    """Return SQLite's result code if a message of ``quick_check`` means that the disk did not
    return a page; else None.
    """
    match = _UNREAD_PAGE.search(message)
    return (
        int(match[1])
        if match is not None and int(match[1]) & 0xFF == sqlite3.SQLITE_IOERR
        else None
    )


def quick_check(connection: sqlite3.Connection, table: str | None = None) -> str | None:
    """Return what SQLite finds wrong with the whole file, or with one table of it, or None.

    Raises ``sqlite3.Error`` if the disk does not return a page; SQLite would report damage.
    """
    result = str(connection.execute(f"PRAGMA quick_check({table or 1})").fetchone()[0])
    if (code := unread_page(result)) is not None:
        error = sqlite3.OperationalError(result)
        error.sqlite_errorcode = code
        raise error
    return None if result == "ok" else result


def may_be_intact(path: Path) -> bool:
    """Return True if a file that SQLite reported as damaged now passes its check, or if the disk
    does not return it.
    """
    try:
        with closing(
            sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        ) as connection:
            return quick_check(connection) is None
    except sqlite3.Error as error:
        return is_read_failure(error)


READ_ERRORS = (sqlite3.Error, JournalUnusableError, LookupError, TypeError, ValueError)
"""The errors that reading a journal raises if its content is invalid, or the disk does not return
it.
"""


def is_invalid_content(error: BaseException | None) -> bool:
    """Return True if the error, one of ``READ_ERRORS``, means that the content is invalid."""
    if isinstance(error, JournalUnusableError):
        return is_invalid_content(error.__cause__)
    if isinstance(error, sqlite3.OperationalError) and not hasattr(error, "sqlite_errorcode"):
        return True  # a text that is not UTF-8
    if isinstance(error, sqlite3.Error):
        # SQLITE_ERROR: a table or a column is missing
        return is_damage(error) or primary_code(error) == sqlite3.SQLITE_ERROR
    return error is not None


def connect_reading(path: Path) -> sqlite3.Connection:
    """Open a read-only connection. Raises :class:`JournalUnusableError`."""
    try:
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=ro",
            uri=True,
            isolation_level=None,
            check_same_thread=False,
        )
        connection.execute("SELECT value FROM meta WHERE key = 'version'").fetchone()
    except sqlite3.Error as error:
        raise JournalUnusableError(f"{path}: cannot be read as a journal: {error}") from error
    return connection
