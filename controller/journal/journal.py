"""The journal: stores what happened at the tables before it is published. It is the only queue.

There is one SQLite file per daemon and one writer. All waiting records are committed in one
transaction, each with its input, its events and the saved state of its table. Only then are their
futures resolved and the events handed to the publisher, from memory. If the file is found damaged
while in use, it is set aside, and a new one continues at the next position with the state of the
tables.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import Future as ThreadFuture
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TypeVar

from common.chain.hand_over import HandOver
from common.chain.schema import (
    READ_ERRORS,
    ChainHead,
    Entry,
    JournalFullError,
    JournalUnusableError,
    Kind,
    Record,
    is_read_failure,
)
from common.contract.node import JournalHealth
from common.metrics.family import Histogram
from controller.journal.file import lock, mark_serving
from controller.journal.reader import JournalReader
from controller.journal.restored import read_restored
from controller.journal.store import JournalStore, Replacement
from controller.journal.to_publish import EntriesToPublish
from controller.journal.writer import (
    IDLE_SECONDS,
    Batch,
    DamageCheck,
    EntryRemoval,
    ForeignWriteCheck,
    JournalWriter,
    Outcome,
    WriterCallbacks,
    in_thread,
)

MAX_WAITING_RECORDS = 20_000
"""Maximum records in memory while commits fail: hours of one table."""

PUBLISHER_CURSOR = "mqtt"
"""The cursor of the publisher: how far the broker has acknowledged the events."""
PROBE_CURSOR = "probe"
"""The cursor that :meth:`Journal.probe` writes."""

_Result = TypeVar("_Result")


class Journal:
    """Opens or creates the journal at ``path``. Used from one event loop, in which all callbacks
    run. Raises :class:`JournalUnusableError`.

    ``set_aside``: where a damaged file was moved, or None. A new file was then started, and the
    caller must raise an alert. If it happens later, ``on_aside`` is called. ``lost``: the
    unpublished entries that could not be read from that file.

    ``is_flushed``: whether what an earlier run has stored is on the disk; before that it must not
    be published, and the first commit ensures it. ``failed``: why commits fail at present, or None;
    ``on_change`` is called with each change. ``on_commit`` is called when there are new entries to
    publish, and ``on_stored`` with them directly after their commit, in the thread of the writer.
    ``waiting``: inputs that are not committed yet. ``id``: the id of the file; ``restored``: the
    backup that it continues; ``hand_over``: the daemon of the pair that had the tables before.
    ``run`` starts the writer; ``open_store`` opens what it writes to.
    """

    def __init__(
        self,
        path: Path,
        on_change: Callable[[str | None], None] | None = None,
        capacity: int = MAX_WAITING_RECORDS,
        on_aside: Callable[[], None] | None = None,
        run: Callable[[JournalWriter], ThreadFuture[None]] = in_thread,
        open_store: Callable[[Path], JournalStore] = JournalStore,
    ) -> None:
        self.path = path
        self.failed: str | None = None
        self.waiting = 0
        self.hand_over: HandOver | None = None
        self.on_commit: Callable[[], None] = lambda: None
        self.on_stored: Callable[[Sequence[Entry]], None] = lambda _: None
        self.on_aside = on_aside
        self._capacity = capacity
        self.on_change = on_change
        self._loop: asyncio.AbstractEventLoop | None = None
        with suppress(RuntimeError):  # opened before a loop runs
            self._loop = asyncio.get_running_loop()
        self._moves: dict[str, int] = {}
        self._moves_due: asyncio.TimerHandle | None = None
        self._probes = 0
        self._files = ExitStack()
        self._lock = lock(path)
        self._files.callback(os.close, self._lock)
        try:
            store = open_store(path)
            self._files.callback(store.end)
            self._reader = store.open_reader()
            self._files.callback(lambda: self._reader.close())
            self.id = self._reader.id()
            self.restored = read_restored(self._reader)
        except BaseException:
            self.abandon()
            raise
        self.open_reader = store.open_reader
        """Opens another reader of the journal, for any thread."""
        self.set_aside = store.set_aside
        self.lost = store.unpublished.lost
        self.is_flushed = store.is_flushed
        self._head = store.head
        self._to_publish = EntriesToPublish(self._head.position, store.unpublished.entries)
        self._writer = JournalWriter(
            store,
            WriterCallbacks(
                complete=self._complete,
                failure=self._on_failure,
                replaced=self._switch_file,
                stored=lambda entries: self.on_stored(entries),
            ),
            self._call_in_loop,
        )
        self.commits: Histogram = self._writer.commits
        """Durations of commits."""
        self._ended = run(self._writer)

    def announce(self) -> None:
        """Mark this process as the one that serves the journal and reloads on SIGHUP."""
        mark_serving(self._lock)

    def append(self, *records: Record) -> asyncio.Future[int]:
        """Store records, all or none. The future resolves to their last position once they are on
        the disk; it fails only if the journal is closed first. It need not be awaited.

        Raises :class:`JournalFullError` if ``capacity`` inputs are waiting.
        """
        if self._writer.closing.is_set():
            raise JournalUnusableError(f"{self.path}: closed")
        count = len([record for record in records if record.input is not None])
        if count and (why := self.refuses(count)):
            raise JournalFullError(why)
        self._loop = asyncio.get_running_loop()
        stored: asyncio.Future[int] = self._loop.create_future()
        self.waiting += count
        self._enqueue(records, stored, count)
        return stored

    def refuses(self, count: int) -> str | None:
        """Return why that many more inputs cannot be accepted now, or None."""
        if self.waiting + count <= self._capacity:
            return None
        return f"{self.waiting} records wait for {self.path}: {self.failed}"

    def _enqueue(
        self,
        records: tuple[Record, ...] = (),
        stored: asyncio.Future[int] | None = None,
        inputs: int = 0,
    ) -> None:
        if self._moves_due is not None:
            self._moves_due.cancel()
            self._moves_due = None
        moves, self._moves = self._moves, {}
        self._writer.put(Batch(records, stored, moves, inputs))

    def move_cursor(self, position: int, name: str = PUBLISHER_CURSOR) -> None:
        """Store the position of the reader ``name``, with the next commit or a short delay."""
        self._moves[name] = position
        if self._moves_due is None:
            try:
                self._moves_due = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._enqueue)
            except RuntimeError:  # no loop is running, so there is no timer
                self._enqueue()

    def probe(self) -> asyncio.Future[int]:
        """Write a number to the disk, outside the chain. The future resolves once it is committed;
        while commits fail it waits like all records.
        """
        self._loop = asyncio.get_running_loop()
        done: asyncio.Future[int] = self._loop.create_future()
        self._probes += 1
        self._writer.put(Batch((), done, {PROBE_CURSOR: self._probes}))
        return done

    @property
    def busy_seconds(self) -> float:
        """For how long the writer has been busy with one piece of work; 0 if it is idle.

        A commit with its retries, a removal of old entries or a checkpoint of the log is one piece
        of work.
        """
        return self._writer.busy_seconds

    def remove_through(self, through: int) -> None:
        """Remove the entries up to that position, in small steps. They must be in sealed segments.
        The last entry of the file is not removed.
        """
        self._writer.put(EntryRemoval(through))

    def report_damage(self, journal: str, damage: str) -> None:
        """Report damage in the file with the id ``journal``. It is set aside and replaced if it is
        still in use.
        """
        self._writer.put(DamageCheck(journal, damage))

    def events_after(self, position: int, limit: int) -> list[Entry]:
        """Return the next committed entries to publish, of all tables, in order."""
        recent = self._to_publish.after(position, limit)
        if recent is not None:
            return recent
        try:
            events = self.ask(lambda reader: reader.events_after(position, limit))
        except JournalUnusableError as error:
            if (damage := self._to_publish.note_unread(str(error))) is not None:
                self.report_damage(self.id, damage)
            raise
        self._to_publish.note_read()
        return events

    def saved_state(self, table: str) -> bytes | None:
        """Return the latest state of a table, or None."""
        return self.ask(lambda reader: reader.saved_state(table))

    def head(self) -> int:
        """Return the position of the last committed entry; 0 without one."""
        return self._head.position

    def health(self) -> JournalHealth:
        """Return the journal's part of the retained ``health``."""
        return JournalHealth(
            state="failed" if self.failed else "ok",
            trouble=self.failed,
            position=self.head(),
            waiting=self.waiting,
        )

    def checkpoint(self) -> ChainHead:
        """Return the end of the chain. Anyone who stores it can detect later that the journal was
        truncated or rewritten.
        """
        return self._head

    def latest(self, kind: Kind | None = None) -> Entry | None:
        """Return the last committed entry, or the last one of a kind."""
        return self.ask(lambda reader: reader.latest(kind))

    def check_foreign_writes(self, on_foreign: Callable[[], None]) -> None:
        """Check by the writer whether another program has written to the file since the last
        check. If so, ``on_foreign`` is called in the event loop.
        """
        self._writer.put(ForeignWriteCheck(on_foreign))

    def ask(self, question: Callable[[JournalReader], _Result]) -> _Result:
        """Read from the file. After an error the writer checks it for damage, unless the disk only
        failed to return it. Raises :class:`JournalUnusableError`.
        """
        try:
            return question(self._reader)
        except READ_ERRORS as error:
            if not is_read_failure(error):
                self._writer.put(DamageCheck())
            raise JournalUnusableError(f"{self.path}: cannot be read: {error}") from error

    def abandon(self) -> None:
        """Close the files without storing what waits, once the writer no longer runs."""
        self._files.close()

    async def watch(self) -> None:
        """Wait for the end of the writer, which must not end before :meth:`close`. Raises the error
        that ended it.
        """
        await asyncio.wrap_future(self._ended)

    def close(self) -> None:
        """Try once to commit what is waiting, and close the file. Blocks until that is done."""
        if self._writer.closing.is_set():
            return
        # closed before the writer: the last connection moves the whole log into the database
        self._reader.close()
        if self._moves:
            self._enqueue()
        self._writer.close()
        self._ended.exception()  # waits for it
        self.abandon()

    def _on_failure(self, reason: str | None) -> None:
        """Note why commits fail, or None. Called by the writer."""
        self.failed = reason
        if self.on_change is not None:
            self._call_in_loop(self.on_change, reason)

    def _switch_file(self, new: Replacement) -> None:
        """Continue with another file. Runs in the event loop, so the change is atomic for it."""
        old, self._reader = self._reader, new.reader
        self.id, self._head, self.set_aside = new.id, new.head, new.aside
        self._to_publish = EntriesToPublish(new.head.position, new.unpublished.entries)
        self.lost = new.unpublished.lost
        with suppress(sqlite3.Error):
            old.close()
        if self.on_aside is not None:
            self.on_aside()

    def _complete(
        self,
        outcomes: list[Outcome],
        count: int,
        head: ChainHead | None,
        published: Sequence[Entry],
    ) -> None:
        self.waiting -= count
        if head is not None:
            self._head, self.is_flushed = head, True
        if published:
            self._to_publish.add(published)
            self.on_commit()
        for future, outcome in outcomes:
            if future is None or future.done():  # cancelled: no one waits for it
                continue
            if isinstance(outcome, Exception):
                future.set_exception(outcome)
                future.exception()  # retrieved: no one has to wait for a future of the journal
            else:
                future.set_result(outcome)

    def _call_in_loop(self, function: Callable[..., None], *arguments: object) -> None:
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(function, *arguments)
