"""The writing side of the journal's file. A file that is damaged while in use is set aside, and a
new one continues it.

Used by one thread. A commit is on the disk when it returns; otherwise it raises, and may be retried
with the same records.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import msgspec

from common import clock
from common.chain.schema import (
    READ_ERRORS,
    ChainHead,
    Entry,
    JournalLostError,
    JournalUnusableError,
    Record,
    Row,
    genesis,
    is_damage,
    is_invalid_content,
    is_published,
    is_read_failure,
    may_be_intact,
    quick_check,
    rows,
)
from common.chain.sqlite_file import inode
from common.chain.wal_index import WalIndex
from common.contract.times import format_utc
from controller.journal.file import (
    aside_path,
    connect_writing,
    move_aside,
    open_checked,
    open_or_replace,
)
from controller.journal.reader import JournalReader, genesis_of
from controller.journal.salvage import Salvaged, all_lost, salvage
from controller.journal.setup import continued, table_start

COMMIT_READ_TIMEOUT_SECONDS = 60.0
"""How long the disk may fail to return what a commit must read before the file is abandoned."""
BUSY_TIMEOUT_MILLISECONDS = 5000
"""How long a commit waits for another writer; there should be none."""
REMOVAL_BATCH_ENTRIES = 500
"""Entries removed in one transaction, so that commits do not wait long."""

_ENTRY = "INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_SAVED = (
    "INSERT INTO saved VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET state = excluded.state, "
    "position = excluded.position"
)
_CURSOR = "INSERT INTO cursor VALUES (?, ?) ON CONFLICT DO UPDATE SET position = excluded.position"
_META = "INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value"


class Replacement(msgspec.Struct, frozen=True):
    """A new file that replaces a damaged one.

    ``aside``: the new name of the damaged file; ``unpublished``: its entries after the cursor, as
    far as they could be read. ``reader``, ``id`` and ``head`` belong to the new file.
    """

    aside: Path
    unpublished: Salvaged
    reader: JournalReader
    id: str
    head: ChainHead


class JournalStore:
    """Opens or creates the file. Raises :class:`JournalUnusableError`.

    ``set_aside``: where a damaged file was moved; ``unpublished``: the unpublished entries of the
    previous file; ``head``: the end of the chain. ``replacement`` is set after another file has
    replaced this one; every reader must then be opened again. ``is_flushed``: whether all that was
    found in the file is on the disk; if not, it is with the first commit.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.replacement: Replacement | None = None
        self._connection: sqlite3.Connection | None
        self._index = WalIndex()
        self._connection, self.set_aside = open_or_replace(path)
        self._reserve_index()
        self.is_flushed = self._flush_found_log()
        self._inode = inode(path)
        with closing(JournalReader(path)) as reader:
            self._genesis, self.head, self._cursors = (
                genesis_of(reader),
                reader.head(),
                reader.cursors(),
            )
            before = reader.meta("aside")
        self.unpublished = (
            Salvaged()
            if before is None
            else salvage(path.with_name(before), self._cursor, self._genesis.position)
        )
        self._version: tuple[sqlite3.Connection, int] | None = None
        self._suspected = False  # the last try found damage, which a second try must confirm
        self._unread_since: float | None = None
        self._boot: Record | None = None
        self._states: dict[str, Record] = {}
        self._aside: Path | None = None  # where to move the file; the move failed so far
        self._leaving: Path | None = None  # where it was moved; the new file is not complete yet

    def open_reader(self) -> JournalReader:
        """Open another reader of the file. May be called by any thread."""
        return JournalReader(self.path)

    @property
    def _cursor(self) -> int:
        return self._cursors.get("mqtt", 0)

    def write(self, records: list[Record], moves: dict[str, int]) -> tuple[list[int], list[Entry]]:
        """Commit records and cursors. Return the last position of each record, and the entries to
        publish. Raises any error of the commit.
        """
        new_rows, ends, head = rows(records, self.head)
        is_stored = False
        if self._connection is None:
            before = self._genesis
            is_stored = self._reopen(head)
            if self._genesis is not before:
                new_rows, ends, head = rows(records, self.head)
        if not is_stored:
            self.commit(new_rows, _saved(records, ends), moves)
        self._suspected, self._unread_since = False, None
        self.head = head
        self._cursors.update(moves)
        for record in records:
            if record.saved is not None:
                self._states[record.table] = record
            elif record.before and record.before[0][0] == "boot":
                self._boot = record
        return ends, [Entry(*row) for row in new_rows if is_published(row[3], row[7])]

    def commit(
        self, new_rows: list[Row], saved: list[tuple[str, bytes, int]], moves: dict[str, int]
    ) -> None:
        """Insert the rows, saved states and cursors in one transaction."""
        assert self._connection is not None
        if self._inode != inode(self.path):
            raise JournalLostError("the file was removed or replaced")
        if self._version is None or self._version[0] is not self._connection:
            self._read_version()
        execute, many = self._connection.execute, self._connection.executemany
        execute("BEGIN IMMEDIATE")
        many(_ENTRY, new_rows)
        many(_SAVED, saved)
        many(_CURSOR, list(moves.items()))
        execute("COMMIT")

    def failed(self, error: Exception) -> bool:
        """Handle an error of a commit: close the file, and set it aside if it was found damaged
        twice in a row. Return True if the commit should be retried at once.
        """
        self.close()
        if self._leaving is not None:
            return False
        if is_damage(error) and not self._suspected:
            self._suspected = True
            return True
        if not isinstance(error, JournalLostError) and not (
            is_damage(error) and self._is_damaged()
        ):
            return False
        self._aside = self._aside or aside_path(self.path)
        try:
            move_aside(self.path, self._aside)
        except JournalUnusableError:
            return False
        self._leaving, self._aside = self._aside, None
        return True

    def _is_damaged(self) -> bool:
        if not may_be_intact(self.path):
            return True
        now = clock.monotonic()
        self._unread_since = self._unread_since or now
        return now - self._unread_since > COMMIT_READ_TIMEOUT_SECONDS

    def examine(self, journal: str | None = None, damage: str = "") -> None:
        """Check the file after a failed read. Raises :class:`JournalLostError` if it is damaged, or
        another error if the disk does not return it.

        A new connection is used, because the writing one may have the data in memory. ``damage`` is
        damage that was already found in the file with the id ``journal``.
        """
        if self._leaving is not None:
            return
        if journal is not None:
            if genesis(journal) == self._genesis.hash:
                raise JournalLostError(damage)
            return
        with closing(
            sqlite3.connect(f"{self.path.absolute().as_uri()}?mode=ro", uri=True)
        ) as connection:
            try:
                problem = quick_check(connection)
            except sqlite3.Error as error:
                if is_read_failure(error) or not is_invalid_content(error):
                    raise
                problem = str(error)
        if problem is not None:
            raise JournalLostError(problem)

    def remove(self, through: int) -> bool:
        """Remove the next few entries up to that position, never the last entry. Return True if
        more are left.
        """
        if self._connection is None:
            return False
        execute = self._connection.execute
        try:
            first = execute("SELECT position FROM entry ORDER BY position LIMIT 1").fetchone()
            if first is None:
                return False
            end = min(through, self.head.position - 1)
            last = min(end, first[0] + REMOVAL_BATCH_ENTRIES)
            row = execute("SELECT hash FROM entry WHERE position = ?", (last,)).fetchone()
            if row is None:
                return False
            execute("BEGIN IMMEDIATE")
            execute("DELETE FROM entry WHERE position <= ?", (last,))
            self._connection.executemany(_META, [("cut", str(last)), ("cut_hash", row[0].hex())])
            execute("COMMIT")
        except Exception:  # the caller will try again; damage is found by reading
            self.close()
            return False
        return bool(last < end)

    def has_foreign_writes(self) -> bool:
        """Return True if another connection has committed to the file since the last call, or since
        this one was opened.
        """
        if self._connection is None:
            return False
        before = self._version
        try:
            self._read_version()
        except sqlite3.Error:
            return False  # the next commit reports the error
        same_connection = before is not None and before[0] is self._connection
        return same_connection and before != self._version

    def _read_version(self) -> None:
        assert self._connection is not None  # data_version changes if another connection commits
        number = self._connection.execute("PRAGMA data_version").fetchone()[0]
        self._version = (self._connection, number)

    def log_size(self) -> int:
        """Return how many bytes of the write-ahead log are in use."""
        return self._index.log_bytes()

    def move_log(self, kept_bytes: int = 0) -> bool:
        """Move the log into the database. Return True if that succeeded; it fails while another
        connection reads the log.

        A log file of at most ``kept_bytes`` keeps its size and is written over: a commit that
        extends the file costs a flush of its metadata too. A larger one is truncated.
        """
        if self._connection is None:
            return True
        mode = "TRUNCATE" if _file_size(f"{self.path}-wal") > kept_bytes else "RESTART"
        try:
            self._connection.execute("PRAGMA busy_timeout = 0")  # commits must not wait for readers
            busy = self._connection.execute(f"PRAGMA wal_checkpoint({mode})").fetchone()[0]
            self._connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MILLISECONDS}")
        except sqlite3.Error:
            self.close()  # the next commit opens it again, with all settings
            return False
        return not busy

    def close(self) -> None:
        """Close the file; the next commit opens it again."""
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    def end(self) -> None:
        """Close all files, once this process no longer uses the journal."""
        self.close()
        self._index.close()

    def _flush_found_log(self) -> bool:
        """Move the log of an earlier process into the database. What that process wrote just before
        its end may be in the page cache only: published now, it could be lost with the power.
        Return whether it is on the disk.
        """
        assert self._connection is not None
        try:
            _, found, moved = self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            if moved < found:  # another program reads from the log: flush it where it is
                _flush_file(f"{self.path}-wal")
        except (sqlite3.Error, OSError):  # a disk that fails or is full: the next commit reports it
            self.close()  # it opens the file again, and moves the log first
            return False
        return True

    def _reserve_index(self) -> None:
        try:
            self._index.reserve(self.path)
        except OSError as error:
            self.end()
            raise JournalUnusableError(f"{self.path}: {error}; make room") from None

    def _reopen(self, expected: ChainHead) -> bool:
        """Open the file again after a failed commit, of which any part may be stored. Return True
        if all of it is.
        """
        if self._leaving is not None:
            self._begin(self._leaving)
            return False
        if self._inode != inode(self.path):
            raise JournalLostError("the file was removed or replaced")
        connection = connect_writing(self.path)
        try:
            self._index.reserve(self.path)
            row = connection.execute(
                "SELECT position, hash FROM entry ORDER BY position DESC LIMIT 1"
            ).fetchone()
            found = ChainHead(*row) if row else self._genesis
            is_stored = found == expected != self.head
            if not is_stored and found != self.head:
                raise JournalLostError("the file no longer holds what was stored")
            # A flush that failed may have left part of the log in the page cache only, and later
            # ones need not write it: move it into the database, which is then synced. A commit that
            # is repeated need not wait for readers of the log.
            busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            if busy and (is_stored or not self.is_flushed):
                raise JournalUnusableError("the log cannot be moved into the database")
            self.is_flushed = True
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        return is_stored

    def _begin(self, aside: Path) -> None:
        """Create a new file at the next position, with the setup of the daemon and the state of
        each table.
        """
        belongs = _is_of(aside, self._genesis)
        self._connection = open_checked(
            self.path, self.head.position, aside if belongs else None, self._cursors
        )
        self._index.reserve(self.path)
        self._inode = inode(self.path)
        reader = JournalReader(self.path)
        begins, found = genesis_of(reader), reader.head()
        opening = _opening(self._boot, self._states)
        new_rows, ends, head = rows(opening, begins)
        if found == begins:
            self.commit(new_rows, _saved(opening, ends), self._cursors)
            found = head
        unpublished = (salvage if belongs else all_lost)(aside, self._cursor, begins.position)
        self.replacement = Replacement(aside, unpublished, reader, reader.id(), found)
        self._genesis, self.head, self._leaving = begins, found, None


def _saved(records: list[Record], ends: list[int]) -> list[tuple[str, bytes, int]]:
    """Return the last state of each table in these records, with its position."""
    latest = {
        record.table: (record.table, record.saved, end)
        for record, end in zip(records, ends, strict=True)
        if record.saved is not None
    }
    return list(latest.values())


def _opening(boot: Record | None, states: dict[str, Record]) -> list[Record]:
    """Return the first records of a file that replaces another."""
    now, mono_ns = format_utc(clock.wall()), clock.mono_ns()
    replace = msgspec.structs.replace
    opening = (
        []
        if boot is None
        else [
            replace(
                boot, before=(("boot", continued(boot.before[0][1])),), time=now, mono_ns=mono_ns
            )
        ]
    )
    return opening + [
        replace(
            last,
            input=None,
            events=(),
            before=(("state", table_start("aside", last.saved)),),
            time=now,
            mono_ns=mono_ns,
        )
        for last in states.values()
    ]


def _is_of(path: Path, chain: ChainHead) -> bool:
    """Return True if a file has this genesis, or cannot be read."""
    try:
        with closing(JournalReader(path)) as reader:
            return genesis_of(reader).hash == chain.hash
    except READ_ERRORS:
        return True


def _file_size(path: str) -> int:
    try:
        return os.stat(path).st_size  # noqa: PTH116 - no path is made for each commit
    except OSError:
        return 0


def _flush_file(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
