"""The journal: what happened at the tables, on the disk before anybody hears of it. It is the only queue.

One SQLite file per daemon, one writer thread. All records that wait are committed in one transaction, each with its input,
its events and what its table saved; only then are their futures resolved. If the disk does not take a commit, nothing is
resolved: the records wait in memory, in order, and are tried again until they are stored.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Thread

import msgspec

from controller.journal_file import connect, lock, open_or_begin
from controller.journal_reader import JournalReader
from controller.journal_schema import Entry, Head, JournalFull, JournalUnusable, Record, Row, genesis, rows

CAPACITY = 20_000
"""Records that may wait in memory while the disk does not take them: hours of one table."""

_BATCH = 512
_IDLE = 0.25  # seconds without a record, after which cursors are stored and a log worth it is moved into the database
_MOVES = 64  # cursor moves that are held back at most; losing some costs duplicates, nothing else
_LOG_WORTH, _LOG_LIMIT = 500_000, 16_000_000  # bytes logged: move them at an idle moment; move them though there is none
_FIRST_WAIT, _LONGEST_WAIT = 0.1, 10.0  # seconds between tries

_ENTRY = "INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_SAVED = "INSERT INTO saved VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET state = excluded.state, position = excluded.position"
_CURSOR = "INSERT INTO cursor VALUES (?, ?) ON CONFLICT DO UPDATE SET position = excluded.position"


class _Waiting(msgspec.Struct, frozen=True):
    record: Record
    stored: asyncio.Future[int]


class _Move(msgspec.Struct, frozen=True):
    name: str
    position: int


class Journal:
    """Open, or begin, the journal at ``path``. Used from one event loop. Raises :class:`JournalUnusable`.

    ``set_aside``: where a damaged file was put, or None; a new one was begun then, and the caller must raise an alert.
    ``failed``: why commits do not succeed at present, or None; each change is told to ``on_change`` in the event loop.
    """

    def __init__(self, path: Path, on_change: Callable[[str | None], None] | None = None, capacity: int = CAPACITY) -> None:
        self.path = path
        self.failed: str | None = None
        self.waiting = 0
        self._capacity = capacity
        self._on_change = on_change
        self._loop: asyncio.AbstractEventLoop | None = None
        self._queue: SimpleQueue[_Waiting | _Move | None] = SimpleQueue()
        self._moves: dict[str, int] = {}
        self._held = 0
        self._logged = 0
        self._closing = Event()
        self._lock = lock(path)
        self._connection: sqlite3.Connection | None
        self._connection, self.set_aside = open_or_begin(path)
        self._reader = JournalReader(path)
        self._genesis = Head(0, genesis(self._reader.id()))
        self._head = self._reader.head()
        self._thread = Thread(target=self._work, name="journal", daemon=True)
        self._thread.start()

    def append(self, record: Record) -> asyncio.Future[int]:
        """Store a record. The future gives its last position once it is on the disk.

        Raises :class:`JournalFull` when ``capacity`` records wait; the future fails only if the journal is closed before.
        """
        if self._closing.is_set():
            raise JournalUnusable(f"{self.path}: closed")
        if self.waiting >= self._capacity:
            raise JournalFull(f"{self.waiting} records wait for {self.path}: {self.failed}")
        self._loop = asyncio.get_running_loop()
        stored: asyncio.Future[int] = self._loop.create_future()
        self.waiting += 1
        self._queue.put(_Waiting(record, stored))
        return stored

    def move_cursor(self, position: int, name: str = "mqtt") -> None:
        """Note how far that reader has got. Stored soon, not at once."""
        self._queue.put(_Move(name, position))

    def cursor(self, name: str = "mqtt") -> int:
        """How far that reader had got when it was last stored; 0 at first."""
        return self._reader.cursor(name)

    def events_after(self, position: int, limit: int) -> list[Entry]:
        """The next committed events of all tables, in order."""
        return self._reader.events_after(position, limit)

    def events_of(self, table: str, boot: str, after_seq: int, limit: int) -> list[Entry]:
        """The committed events of one table and boot after a number."""
        return self._reader.events_of(table, boot, after_seq, limit)

    def events_onward(self, table: str, boot: str, after_seq: int, limit: int) -> list[Entry]:
        """The committed events of one table after one of them, of all boots from there on."""
        return self._reader.events_onward(table, boot, after_seq, limit)

    def last_saved(self, table: str) -> bytes | None:
        """What that table saved last, or None."""
        return self._reader.last_saved(table)

    def head(self) -> int:
        """The position of the last committed entry; 0 if there is none."""
        return self._reader.head().position

    def checkpoint(self) -> Head:
        """The end of the chain, to be told to others: whoever keeps it can see if the journal was cut or rewritten."""
        return self._reader.head()

    def close(self) -> None:
        """Store what waits, with one try, and let go of the file. Blocks for as long as the disk needs."""
        if self._closing.is_set():
            return
        self._closing.set()
        self._reader.close()  # before the writer, which as the last one moves the whole log into the database
        self._queue.put(None)
        self._thread.join()
        os.close(self._lock)

    # The writer thread.

    def _work(self) -> None:
        going = True
        while going:
            batch, going, idle = self._collect()
            due = idle or not going
            if batch or (self._moves and (due or self._held >= _MOVES)):
                self._store(batch)
            if self._logged > (_LOG_WORTH if due else _LOG_LIMIT):
                self._checkpoint()
        if self._connection is not None:
            self._connection.close()

    def _collect(self) -> tuple[list[_Waiting], bool, bool]:
        """Wait for something to do: the records, whether to go on, and whether nothing came for a while."""
        batch: list[_Waiting] = []
        try:
            item = self._queue.get(timeout=_IDLE if self._moves or self._logged > _LOG_WORTH else None)
        except Empty:
            return batch, True, True
        with suppress(Empty):
            while item is not None:
                if isinstance(item, _Move):
                    self._moves[item.name] = item.position
                    self._held += 1
                else:
                    batch.append(item)
                if len(batch) == _BATCH:
                    break
                item = self._queue.get_nowait()
        return batch, item is not None, False

    def _store(self, batch: list[_Waiting]) -> None:
        made, ends, head = rows([w.record for w in batch], self._head)
        saved = {w.record.table: (w.record.table, w.record.saved, end) for w, end in zip(batch, ends, strict=True)}
        wait = _FIRST_WAIT
        while True:
            try:
                if self._connection is None:
                    self._reopen(head)
                if self._head != head or not batch:
                    self._commit(made, list(saved.values()))
                break
            except Exception as error:  # whatever it is: what is not stored is not told, and is tried again
                self._disconnect()
                self._tell(f"{self.path}: {error}")
                if self._closing.wait(wait):
                    self._resolve([(w.stored, JournalUnusable(f"closed before it was stored: {error}")) for w in batch])
                    return
                wait = min(2 * wait, _LONGEST_WAIT)
        self._head = head
        self._logged += 4096 + sum(len(row[7]) for row in made)
        self._moves.clear()
        self._held = 0
        self._resolve([(w.stored, end) for w, end in zip(batch, ends, strict=True)])
        self._tell(None)

    def _commit(self, made: list[Row], saved: list[tuple[str, bytes, int]]) -> None:
        assert self._connection is not None
        execute, many = self._connection.execute, self._connection.executemany
        execute("BEGIN IMMEDIATE")
        many(_ENTRY, made)
        many(_SAVED, saved)
        many(_CURSOR, list(self._moves.items()))
        execute("COMMIT")

    def _reopen(self, expected: Head) -> None:
        """After a failure the file is read afresh, because what the disk took of the failed commit is not known."""
        connection = connect(self.path)
        try:
            row = connection.execute("SELECT position, hash FROM entry ORDER BY position DESC LIMIT 1").fetchone()
            found = Head(*row) if row else self._genesis
            if found == expected != self._head:
                # All of it is there, but perhaps only in the page cache: move it into the database, which is synced anew.
                busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
                if busy:
                    raise JournalUnusable("the log cannot be moved into the database")
                self._head = found
            elif found != self._head:
                raise JournalUnusable("the file no longer holds what was stored; restart the daemon, which sets it aside")
        except BaseException:
            connection.close()
            raise
        self._connection = connection

    def _disconnect(self) -> None:
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    def _checkpoint(self) -> None:
        """Move the log into the database, after everybody who waited was told. The log keeps what could not be moved."""
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        self._logged = 0

    def _tell(self, reason: str | None) -> None:
        if reason == self.failed:
            return
        self.failed = reason
        if self._on_change is not None:
            self._call(self._on_change, reason)

    def _resolve(self, outcomes: list[tuple[asyncio.Future[int], int | Exception]]) -> None:
        if outcomes:
            self._call(self._settle, outcomes)

    def _settle(self, outcomes: list[tuple[asyncio.Future[int], int | Exception]]) -> None:
        self.waiting -= len(outcomes)
        for future, outcome in outcomes:
            if future.done():  # nobody waits any more
                continue
            if isinstance(outcome, Exception):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)

    def _call(self, function: Callable[..., None], argument: object) -> None:
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop is closed: nobody is left to be told
                self._loop.call_soon_threadsafe(function, argument)
