"""The journal: stores what happened at the tables before it is published. It is the only queue.

There is one SQLite file per daemon and one writer thread. All waiting records are committed in one
transaction, each with its input, its events and the saved state of its table. Only then are their
futures resolved and the events handed to the publisher, from memory. If a commit fails, nothing is
resolved: the records wait in memory, in order, and the commit is retried until it succeeds. If the
file is found damaged while in use, it is set aside, and a new one continues at the next position
with the state of the tables.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future as ThreadFuture
from contextlib import suppress
from itertools import accumulate, islice
from operator import attrgetter
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import TypeVar

import msgspec

from controller.journal.file import lock, mark_serving
from controller.journal.reader import JournalReader
from controller.journal.restored import read_restored
from controller.journal.schema import (
    READ_ERRORS,
    ChainHead,
    Entry,
    JournalFullError,
    JournalLostError,
    JournalUnusableError,
    Kind,
    Record,
    is_read_failure,
)
from controller.journal.setup import HandOver, RestoredBackup
from controller.journal.store import JournalStore, Replacement
from controller.metrics.family import Histogram

MAX_WAITING_RECORDS = 20_000
"""Maximum records in memory while commits fail: hours of one table."""

_MAX_BATCH_RECORDS = 512
_IDLE_SECONDS = 0.25
"""Time without a record after which cursors are stored, and a log of at least
``_LOG_CHECKPOINT_BYTES`` is moved into the database.
"""
RECENT_ENTRIES = 1024
"""Committed entries in memory for the publisher, which reads older ones from the file."""
_LOG_CHECKPOINT_BYTES, _LOG_FORCED_CHECKPOINT_BYTES = 500_000, 16_000_000
"""Sizes of the log above which it is moved into the database: when idle, and in any case."""
_LOG_RETRY_SECONDS = 1.0
"""Delay before the log is moved again after a reader was in the way."""
_FIRST_RETRY_SECONDS, _MAX_RETRY_SECONDS = 0.1, 10.0
"""Delay before a failed commit is retried; it doubles each time."""

PROBE_CURSOR = "probe"
"""The cursor that :meth:`Journal.probe` writes."""

PUBLISH_READ_TIMEOUT_SECONDS = 10.0
"""How long reading the entries to publish may fail before the file is abandoned."""

_Result = TypeVar("_Result")
_position = attrgetter("position")


class _Batch(msgspec.Struct, frozen=True):
    """Records to commit together, with the cursors that moved since the last batch."""

    records: tuple[Record, ...]
    stored: asyncio.Future[int] | None
    moves: dict[str, int]


class _Removal(msgspec.Struct, frozen=True):
    through: int


class _DamageCheck(msgspec.Struct, frozen=True):
    """A request to check the file; with ``journal``, the ``damage`` found in the file of that
    id.
    """

    journal: str | None = None
    damage: str = ""


class _ForeignWriteCheck(msgspec.Struct, frozen=True):
    on_foreign: Callable[[], None]


class Journal:
    """Opens or creates the journal at ``path``. Used from one event loop, in which all callbacks
    run. Raises :class:`JournalUnusableError`.

    ``set_aside``: where a damaged file was moved, or None. A new file was then started, and the
    caller must raise an alert. If it happens later, ``on_aside`` is called. ``lost``: the
    unpublished entries that could not be read from that file.

    ``failed``: why commits fail at present, or None; ``on_change`` is called with each change.
    ``on_commit`` is called when there are new entries to publish. ``waiting``: inputs that are not
    committed yet. ``id``: the id of the file; ``restored``: the backup that it continues;
    ``hand_over``: the daemon of the pair that had the tables before.
    """

    def __init__(
        self,
        path: Path,
        on_change: Callable[[str | None], None] | None = None,
        capacity: int = MAX_WAITING_RECORDS,
        on_aside: Callable[[], None] | None = None,
    ) -> None:
        self.path = path
        self.failed: str | None = None
        self.waiting = 0
        self.hand_over: HandOver | None = None
        self.on_commit: Callable[[], None] = lambda: None
        self.on_aside = on_aside
        self._capacity = capacity
        self.on_change = on_change
        self.commits = Histogram()
        """Durations of commits."""
        self._loop: asyncio.AbstractEventLoop | None = None
        with suppress(RuntimeError):  # opened before a loop runs
            self._loop = asyncio.get_running_loop()
        self._queue: SimpleQueue[_Batch | _Removal | _DamageCheck | _ForeignWriteCheck | None] = (
            SimpleQueue()
        )
        self._moves: dict[str, int] = {}
        self._moves_due: asyncio.TimerHandle | None = None
        self._busy_since: float | None = None
        """The monotonic time at which the writer started its present work."""
        self._probes = 0
        self._logged = 0
        self._move_at = 0.0
        self._closing = Event()
        self._lock = lock(path)
        try:
            self._store = JournalStore(path)
        except BaseException:
            os.close(self._lock)
            raise
        self.set_aside = self._store.set_aside
        self.lost = self._store.unpublished.lost
        self._reader = JournalReader(path)
        self.id = self._reader.id()
        try:
            self.restored = read_restored(self._reader)
        except BaseException:
            self._reader.close()
            self._store.end()
            os.close(self._lock)
            raise
        self._head = self._store.head
        self._recent: deque[Entry] = deque()
        self._recent_after = self._head.position
        """All entries to publish after this position are in ``_recent``."""
        self._unpublished = self._store.unpublished.entries
        self._unread_since: float | None = None
        self._suspected: _DamageCheck | None = None
        self._cut = 0
        self._cut_at = 0.0
        self._ended: ThreadFuture[None] = ThreadFuture()
        # so that cancelling watch() does not cancel this future
        self._ended.set_running_or_notify_cancel()
        self._thread = Thread(target=self._run, name="journal", daemon=True)
        self._thread.start()

    def announce(self) -> None:
        """Mark this process as the one that serves the journal and reloads on SIGHUP."""
        mark_serving(self._lock)

    def append(self, *records: Record) -> asyncio.Future[int]:
        """Store records, all or none. The future resolves to their last position once they are on
        the disk; it fails only if the journal is closed first.

        Raises :class:`JournalFullError` if ``capacity`` inputs are waiting.
        """
        if self._closing.is_set():
            raise JournalUnusableError(f"{self.path}: closed")
        inputs = _inputs(records)
        if inputs and (why := self.refuses(inputs)):
            raise JournalFullError(why)
        self._loop = asyncio.get_running_loop()
        stored: asyncio.Future[int] = self._loop.create_future()
        self.waiting += inputs
        self._enqueue(records, stored)
        return stored

    def refuses(self, inputs: int) -> str | None:
        """Return why that many more inputs cannot be accepted now, or None."""
        if self.waiting + inputs <= self._capacity:
            return None
        return f"{self.waiting} records wait for {self.path}: {self.failed}"

    def _enqueue(
        self, records: tuple[Record, ...] = (), stored: asyncio.Future[int] | None = None
    ) -> None:
        if self._moves_due is not None:
            self._moves_due.cancel()
            self._moves_due = None
        moves, self._moves = self._moves, {}
        self._queue.put(_Batch(records, stored, moves))

    def move_cursor(self, position: int, name: str = "mqtt") -> None:
        """Store the position of the reader ``name``, with the next commit or a short delay."""
        self._moves[name] = position
        if self._moves_due is None:
            try:
                self._moves_due = asyncio.get_running_loop().call_later(
                    _IDLE_SECONDS, self._enqueue
                )
            except RuntimeError:  # no loop is running, so there is no timer
                self._enqueue()

    def probe(self) -> asyncio.Future[int]:
        """Write a number to the disk, outside the chain. The future resolves once it is committed;
        while commits fail it waits like all records.
        """
        self._loop = asyncio.get_running_loop()
        done: asyncio.Future[int] = self._loop.create_future()
        self._probes += 1
        self._queue.put(_Batch((), done, {PROBE_CURSOR: self._probes}))
        return done

    @property
    def busy_seconds(self) -> float:
        """Return for how long the writer has been busy with one piece of work; 0 if it is idle.

        A commit with its retries, a removal of old entries or a checkpoint of the log is one piece
        of work.
        """
        since = self._busy_since
        return 0.0 if since is None else time.monotonic() - since

    def cursor(self, name: str = "mqtt") -> int:
        """Return the stored position of the reader ``name``; 0 without one."""
        return self._ask(lambda reader: reader.cursor(name))

    def remove_through(self, through: int) -> None:
        """Remove the entries up to that position, in small steps. They must be in sealed segments.
        The last entry of the file is not removed.
        """
        self._queue.put(_Removal(through))

    def report_damage(self, journal: str, damage: str) -> None:
        """Report damage in the file with the id ``journal``. It is set aside and replaced if it is
        still in use.
        """
        self._queue.put(_DamageCheck(journal, damage))

    def events_after(self, position: int, limit: int) -> list[Entry]:
        """Return the next committed entries to publish, of all tables, in order."""
        if self._unpublished:  # from a file that was set aside
            self._unpublished = [entry for entry in self._unpublished if entry.position > position]
        if self._unpublished:
            return self._unpublished[:limit]
        if position >= self._recent_after:
            recent = self._recent
            first = bisect_right(recent, position, key=_position)
            return list(islice(recent, first, first + limit))
        try:
            events = self._ask(lambda reader: reader.events_after(position, limit))
        except JournalUnusableError as error:
            self._note_unread(str(error))
            raise
        self._unread_since = None
        return events

    def _note_unread(self, error: str) -> None:
        """Replace the file if the entries to publish cannot be read for too long."""
        now = time.monotonic()
        self._unread_since = self._unread_since or now
        if now - self._unread_since > PUBLISH_READ_TIMEOUT_SECONDS:
            self._unread_since = None
            self.report_damage(
                self.id,
                f"the entries to publish could not be read for {PUBLISH_READ_TIMEOUT_SECONDS:.0f} "
                f"s: {error}",
            )

    def events_of_boot(self, table: str, boot: str, after_seq: int, limit: int) -> list[Entry]:
        """Return the committed events of one table and boot after the number ``after_seq``."""
        return self._ask(lambda reader: reader.events_of_boot(table, boot, after_seq, limit))

    def events_since(self, table: str, boot: str, after_seq: int, limit: int) -> list[Entry]:
        """Return the committed events of one table after one of them, also those of later boots."""
        return self._ask(lambda reader: reader.events_since(table, boot, after_seq, limit))

    def saved_state(self, table: str) -> bytes | None:
        """Return the latest state of a table, or None."""
        return self._ask(lambda reader: reader.saved_state(table))

    def unreported(self, table: str) -> RestoredBackup | HandOver | None:
        """Return the first of :meth:`all_unreported`, or None."""
        return next(iter(self.all_unreported(table)), None)

    def all_unreported(self, table: str) -> tuple[RestoredBackup | HandOver, ...]:
        """Return what the table has not reported yet: the restore of a backup, then the hand-over
        from another daemon.
        """
        points = [point for point in (self.restored, self.hand_over) if point is not None]
        if not points:
            return ()
        saved = self._ask(lambda reader: reader.saved_position(table))
        return tuple(point for point in points if saved <= point.through)

    def head(self) -> int:
        """Return the position of the last committed entry; 0 without one."""
        return self._head.position

    def checkpoint(self) -> ChainHead:
        """Return the end of the chain. Anyone who stores it can detect later that the journal was
        truncated or rewritten.
        """
        return self._head

    def latest(self, kind: Kind | None = None) -> Entry | None:
        """Return the last committed entry, or the last one of a kind."""
        return self._ask(lambda reader: reader.latest(kind))

    def recent_inputs(self, text: bytes, among: int) -> list[bytes]:
        """Return the inputs that contain ``text``, among the last ``among`` entries."""
        return self._ask(lambda reader: reader.recent_inputs(text, among))

    def hash_at(self, position: int) -> bytes | None:
        """Return the hash of the entry at that position, if it is in the file."""
        return self._ask(lambda reader: reader.hash_at(position))

    def recomputed_hashes(self, positions: Sequence[int]) -> list[ChainHead]:
        """Return the recomputed hashes of those of these entries that are in the file."""
        return self._ask(lambda reader: reader.recomputed_hashes(positions))

    def check_foreign_writes(self, on_foreign: Callable[[], None]) -> None:
        """Check in the writer thread whether another program has written to the file since the last
        check. If so, ``on_foreign`` is called in the event loop.
        """
        self._queue.put(_ForeignWriteCheck(on_foreign))

    def _ask(self, question: Callable[[JournalReader], _Result]) -> _Result:
        """Read from the file. After an error the writer checks it for damage, unless the disk only
        failed to return it. Raises :class:`JournalUnusableError`.
        """
        try:
            return question(self._reader)
        except READ_ERRORS as error:
            if not is_read_failure(error):
                self._queue.put(_DamageCheck())
            raise JournalUnusableError(f"{self.path}: cannot be read: {error}") from error

    async def watch(self) -> None:
        """Wait for the end of the writer thread, which must not end before :meth:`close`. Raises
        the error that ended it.
        """
        await asyncio.wrap_future(self._ended)

    def close(self) -> None:
        """Try once to commit what is waiting, and close the file. Blocks until that is done."""
        if self._closing.is_set():
            return
        self._closing.set()
        # closed before the writer: the last connection moves the whole log into the database
        self._reader.close()
        if self._moves:
            self._enqueue()
        self._queue.put(None)
        self._thread.join()
        os.close(self._lock)

    # The writer thread.

    def _run(self) -> None:
        try:
            self._work()
        except BaseException as error:  # raised by watch(), in the event loop
            self._ended.set_exception(error)
        else:
            self._ended.set_result(None)

    def _work(self) -> None:
        running = True
        while running:
            self._busy_since = None
            batches, running, idle = self._collect()
            self._busy_since = time.monotonic()
            due = idle or not running
            if self._suspected is not None:
                suspected, self._suspected = self._suspected, None
                self._examine(suspected)
            if batches:
                self._write(batches)
            if self._cut and (idle or time.monotonic() >= self._cut_at):
                self._cut = self._cut if self._store.remove(self._cut) else 0
                # with many tables the queue is never idle
                self._cut_at = time.monotonic() + _IDLE_SECONDS
                self._logged = self._store.log_size()
            if (
                self._logged > (_LOG_CHECKPOINT_BYTES if due else _LOG_FORCED_CHECKPOINT_BYTES)
                and time.monotonic() >= self._move_at
            ):
                if not self._store.move_log():
                    self._move_at = time.monotonic() + _LOG_RETRY_SECONDS
                self._logged = self._store.log_size()
        self._store.end()
        self._busy_since = None

    def _collect(self) -> tuple[list[_Batch], bool, bool]:
        """Wait for work. Return what to commit, whether to continue, and whether the queue is
        idle.
        """
        batches: list[_Batch] = []
        records = 0
        try:
            item = self._queue.get(
                timeout=_IDLE_SECONDS if self._cut or self._logged > _LOG_CHECKPOINT_BYTES else None
            )
        except Empty:
            return batches, True, True
        with suppress(Empty):
            while item is not None:
                if isinstance(item, _Removal):
                    self._cut = item.through
                elif isinstance(item, _ForeignWriteCheck):
                    if self._store.has_foreign_writes():
                        self._call_in_loop(item.on_foreign)
                elif isinstance(item, _DamageCheck):
                    if self._suspected is None or item.journal is not None:
                        self._suspected = item
                else:
                    batches.append(item)
                    records += len(item.records)
                if records >= _MAX_BATCH_RECORDS:
                    break
                item = self._queue.get_nowait()
        return batches, item is not None, False

    def _write(self, batches: list[_Batch]) -> None:
        records = [record for batch in batches for record in batch.records]
        moves = {name: position for batch in batches for name, position in batch.moves.items()}
        inputs = _inputs(records)
        waiting = [batch.stored for batch in batches]
        wait = _FIRST_RETRY_SECONDS
        while True:
            started = time.monotonic()
            try:
                ends, published = self._store.write(records, moves)
                self.commits.add(time.monotonic() - started)
                break
            except Exception as error:  # of any kind: retry; what is not stored is not published
                self._report_failure(f"{self.path}: {error}")
                if self._store.failed(error):
                    continue
                if self._closing.wait(wait):
                    failure = JournalUnusableError(f"closed before it was stored: {error}")
                    self._call_in_loop(
                        self._complete, [(stored, failure) for stored in waiting], inputs
                    )
                    return
                wait = min(2 * wait, _MAX_RETRY_SECONDS)
        if self._store.replacement is not None:
            new, self._store.replacement = self._store.replacement, None
            self._call_in_loop(self._switch_file, new)
        if records or any(waiting):
            last_records = accumulate(len(batch.records) for batch in batches)
            outcomes = [
                (batch.stored, ends[last - 1] if batch.records else self._store.head.position)
                for batch, last in zip(batches, last_records, strict=True)
            ]
            self._call_in_loop(self._complete, outcomes, inputs, self._store.head, published)
        self._report_failure(None)
        self._logged = self._store.log_size()

    def _examine(self, suspected: _DamageCheck) -> None:
        try:
            self._store.examine(suspected.journal, suspected.damage)
        except JournalLostError as error:
            self._report_failure(f"{self.path}: {error}")
            if self._store.failed(error):
                self._write([])
        except Exception:  # it cannot be read now, which is not damage; the reader will try again
            return

    def _report_failure(self, reason: str | None) -> None:
        if reason == self.failed:
            return
        self.failed = reason
        if self.on_change is not None:
            self._call_in_loop(self.on_change, reason)

    def _switch_file(self, new: Replacement) -> None:
        """Continue with another file. Runs in the event loop, so the change is atomic for it."""
        old, self._reader = self._reader, new.reader
        self.id, self._head, self.set_aside = new.id, new.head, new.aside
        self._unpublished, self.lost = new.unpublished.entries, new.unpublished.lost
        self._recent.clear()
        self._recent_after = new.head.position
        self._unread_since = None
        with suppress(sqlite3.Error):
            old.close()
        if self.on_aside is not None:
            self.on_aside()

    def _complete(
        self,
        outcomes: list[tuple[asyncio.Future[int] | None, int | Exception]],
        inputs: int,
        head: ChainHead | None = None,
        published: Sequence[Entry] = (),
    ) -> None:
        self.waiting -= inputs
        if head is not None:
            self._head = head
        if published:
            self._recent.extend(published)
            while len(self._recent) > RECENT_ENTRIES:
                self._recent_after = self._recent.popleft().position
            self.on_commit()
        for future, outcome in outcomes:
            if future is None or future.done():  # cancelled: no one waits for it
                continue
            if isinstance(outcome, Exception):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)

    def _call_in_loop(self, function: Callable[..., None], *arguments: object) -> None:
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(function, *arguments)


def _inputs(records: Sequence[Record]) -> int:
    return sum(record.input is not None for record in records)
