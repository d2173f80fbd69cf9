"""The journal's file: its tables, its entries and its chain.

Each entry carries the SHA-256 of the previous entry and its own: over the 32 bytes of the previous
hash, then table, boot, kind, seq, time and mono_ns as text, each followed by one newline, then the
body unchanged. The previous hash of the first entry, the genesis, is the SHA-256 of ``novamas
journal 2``, a newline and the file's id (``meta``), so that no two files share a chain. Positions
count without gaps from 1, or from the end of the previous file if that had to be set aside while in
use.

Entries of the kind ``boot`` record the software and configuration of a run, ``state`` the state a
table started with, ``bytes`` what a device sent, ``input`` what a table was given, ``event`` what
it published. So every event can be derived again.
"""

from __future__ import annotations

import re
import secrets
import sqlite3
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Literal

import msgspec

from devices.errors import NovamasError

VERSION = 2

BOOT_INDEX = "CREATE INDEX IF NOT EXISTS boot ON entry (kind) WHERE kind = 'boot';"
"""Finds the last ``boot`` entry without reading what came after it. Files of 0.1.0 lack it."""

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
    """The journal cannot be used. The message names the file and says what to do."""


class JournalReadError(JournalUnusableError):
    """The disk does not return the file, which may be intact."""


class JournalLostError(JournalUnusableError):
    """The file is not what was stored in it: a new one must be started."""


class JournalFullError(NovamasError):
    """Nothing more is accepted, because too much is waiting for a disk that does not take it."""


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """One input of one table and everything that followed from it, committed together or not at
    all.

    ``input`` and ``events`` are lines of the notation; ``seq`` is the table's number after them
    (``Table.seq``); ``saved`` is what the table needs to continue from here (``Table.saved()``).
    ``before`` are entries that lead up to the input. A record with only ``before`` has no
    ``input``.
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


class Entry(msgspec.Struct, frozen=True):
    """One row. An event has its own ``seq``, every other entry that of its table's
    previous event.
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
        """Whether others are told of it."""
        return is_published(self.kind, self.body)


def is_published(kind: Kind, body: bytes) -> bool:
    """Whether others are told of an entry: of events, and of the inputs that surveillance alone can
    open.
    """
    return kind == "event" or (kind == "input" and body.startswith(b'{"sealed":'))


class ChainHead(msgspec.Struct, frozen=True):
    """The end of the chain: the number of entries, and the hash of the last."""

    position: int
    hash: bytes


Row = tuple[int, str, str, Kind, int, str, int, bytes, bytes, bytes]


def new_boot() -> str:
    """A new id for one run of the daemon."""
    return secrets.token_hex(4)


def genesis(journal_id: str) -> bytes:
    """The hash before the first entry."""
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
    """The hash of an entry."""
    return sha256(
        b"%b%b\n%b"
        % (previous, f"{table}\n{boot}\n{kind}\n{seq}\n{time}\n{mono_ns}".encode(), body)
    ).digest()


def recomputed_hash(entry: Entry) -> bytes:
    """The hash that the entry should have, over the previous one that it names."""
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
    """Whether the entry's own hash is correct."""
    return recomputed_hash(entry) == entry.hash


def follows(entry: Entry, before: ChainHead) -> bool:
    """Whether the entry is the one after ``before``, as it was written. Values from a damaged file
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
    """The rows of these records after ``head``, the last position of each record, and the
    new head.
    """
    made: list[Row] = []
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
            made.append(
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
    return made, ends, ChainHead(position, previous)


def primary_code(error: sqlite3.Error) -> int:
    """SQLite's primary result code of an error; 0 if it has none."""
    code = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF if isinstance(code, int) else 0


def is_damage(error: BaseException | None) -> bool:
    """Whether the error means that the file itself is damaged. SQLite reports this for a silent
    disk too: see :func:`may_be_intact`.
    """
    if isinstance(error, JournalUnusableError):
        return is_damage(error.__cause__)
    return isinstance(error, sqlite3.Error) and primary_code(error) in (
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
    )


def is_read_failure(error: BaseException | None) -> bool:
    """Whether the error means that the disk did not return the data; it may do so the next time."""
    if isinstance(error, JournalUnusableError):
        return is_read_failure(error.__cause__)
    return isinstance(error, sqlite3.Error) and primary_code(error) == sqlite3.SQLITE_IOERR


_UNREAD_PAGE = re.compile(r"unable to get the page\. error code=(\d+)")


def unread_page(found: str) -> int | None:
    """SQLite's result code if its complaint about a file is that the disk did not return a page."""
    page = _UNREAD_PAGE.search(found)
    return (
        int(page[1]) if page is not None and int(page[1]) & 0xFF == sqlite3.SQLITE_IOERR else None
    )


def quick_check(connection: sqlite3.Connection, table: str | None = None) -> str | None:
    """What SQLite finds wrong with the whole file, or with one table of it, or None. Raises
    ``sqlite3.Error`` if the disk does not return a page, which SQLite reports as a wrong page.
    """
    found = str(connection.execute(f"PRAGMA quick_check({table or 1})").fetchone()[0])
    if (code := unread_page(found)) is not None:
        error = sqlite3.OperationalError(found)
        error.sqlite_errorcode = code
        raise error
    return None if found == "ok" else found


def may_be_intact(path: Path) -> bool:
    """Whether a file that SQLite called damaged is intact, and only the disk did not return it,
    then or now.
    """
    try:
        with closing(
            sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        ) as connection:
            return quick_check(connection) is None
    except sqlite3.Error as error:
        return is_read_failure(error)


READ_ERRORS = (sqlite3.Error, JournalUnusableError, LookupError, TypeError, ValueError)
"""What reading raises for a file whose content is invalid, or that could not be read and may be
intact.
"""


def is_invalid_content(error: BaseException | None) -> bool:
    """Whether the error, one of ``READ_ERRORS``, means that the content of the file is invalid."""
    if isinstance(error, JournalUnusableError):
        return is_invalid_content(error.__cause__)
    if isinstance(error, sqlite3.OperationalError) and not hasattr(error, "sqlite_errorcode"):
        return True  # a text that is none any more
    if isinstance(error, sqlite3.Error):
        return (
            is_damage(error) or primary_code(error) == sqlite3.SQLITE_ERROR
        )  # a table or a column is not there
    return error is not None


def connect_reading(path: Path) -> sqlite3.Connection:
    """A read-only connection. Raises :class:`JournalUnusableError`."""
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
