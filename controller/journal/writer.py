"""The writing half of the journal: commits what is queued, and maintains the file in between.

It works in steps. :func:`in_thread` repeats them in a thread, because a commit waits for the disk;
a simulated disk can schedule them instead. If a commit fails, nothing is resolved: its records wait
in memory, in order, and the commit is retried until it succeeds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future as ThreadFuture
from itertools import accumulate
from queue import Empty, SimpleQueue
from threading import Event, Thread

import msgspec

from common import clock
from common.chain.schema import (
    ChainHead,
    Entry,
    JournalLostError,
    JournalUnusableError,
    Record,
)
from common.metrics.family import Histogram
from controller.journal.store import JournalStore, Replacement

IDLE_SECONDS = 0.25
"""Time without a record after which cursors are stored, and a log of at least
``LOG_CHECKPOINT_BYTES`` is moved into the database.
"""
MAX_BATCH_RECORDS = 512
LOG_CHECKPOINT_BYTES, LOG_FORCED_CHECKPOINT_BYTES = 500_000, 16_000_000
"""Sizes of the log above which it is moved into the database: when idle, and in any case. Its file
is kept for the commits that follow, unless it has grown an eighth beyond the larger one.
"""
LOG_RETRY_SECONDS = 1.0
"""Delay before the log is moved again after a reader was in the way."""
FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS = 0.1, 10.0
"""Delay before a failed commit is retried; it doubles each time."""

Outcome = tuple[asyncio.Future[int] | None, int | Exception]
"""The future of a batch, and its result: the last position, or why it was not stored."""


class Batch(msgspec.Struct, frozen=True):
    """Records to commit together, with the cursors that moved since the last batch."""

    records: tuple[Record, ...]
    stored: asyncio.Future[int] | None
    moves: dict[str, int]
    inputs: int = 0
    """How many of the records are inputs."""


class EntryRemoval(msgspec.Struct, frozen=True):
    """A request to remove the entries up to a position."""

    through: int


class DamageCheck(msgspec.Struct, frozen=True):
    """A request to check the file; with ``journal``, the ``damage`` found in the file of that
    id.
    """

    journal: str | None = None
    damage: str = ""


class ForeignWriteCheck(msgspec.Struct, frozen=True):
    """A request to call ``on_foreign`` if another program has written to the file."""

    on_foreign: Callable[[], None]


class FailedCommit(msgspec.Struct, frozen=True):
    """A commit to retry at a monotonic time; ``pause`` is the delay before the next retry."""

    batches: list[Batch]
    error: Exception
    at: float
    pause: float


class WriterCallbacks(msgspec.Struct, frozen=True):
    """The reports of the writer: ``complete`` the outcomes of batches with the number of their
    inputs, the end of the chain and the entries to publish; ``failure`` why commits fail, or None;
    ``replaced`` that another file continues the journal. ``stored`` gets the entries to publish
    before all others, in the thread of the writer, unless another file has just begun.
    """

    complete: Callable[[list[Outcome], int, ChainHead | None, Sequence[Entry]], None]
    failure: Callable[[str | None], None]
    replaced: Callable[[Replacement], None]
    stored: Callable[[Sequence[Entry]], None]


class JournalWriter:
    """Writes to ``store``. ``call_in_loop`` runs a function in the event loop.

    ``cut``: the position up to which entries are still to be removed; 0 if there is nothing to
    remove. ``commits``: the durations of commits. ``on_put`` is called after each :meth:`put`.
    ``busy_since``: the monotonic time at which the present work was started, or None.
    """

    def __init__(
        self,
        store: JournalStore,
        callbacks: WriterCallbacks,
        call_in_loop: Callable[..., None],
    ) -> None:
        self._store = store
        self._callbacks = callbacks
        self._call_in_loop = call_in_loop
        self.queue: SimpleQueue[Batch | EntryRemoval | DamageCheck | ForeignWriteCheck | None] = (
            SimpleQueue()
        )
        self.on_put: Callable[[], None] = lambda: None
        self.closing = Event()
        self.ended = False
        self.commits = Histogram()
        self.cut = 0
        self.busy_since: float | None = None
        self._failure: str | None = None
        self._failed: FailedCommit | None = None
        self._suspected: DamageCheck | None = None
        self._logged = 0
        self._move_at = 0.0
        self._cut_at = 0.0

    @property
    def busy_seconds(self) -> float:
        """For how long the writer has been busy with one piece of work; 0 if it is idle. A commit
        with its retries is one piece of work.
        """
        since = self.busy_since
        return 0.0 if since is None else clock.monotonic() - since

    def put(self, item: Batch | EntryRemoval | DamageCheck | ForeignWriteCheck) -> None:
        """Queue a piece of work."""
        self.queue.put(item)
        self.on_put()

    def close(self) -> None:
        """End after one attempt to commit what is waiting."""
        self.closing.set()
        self.queue.put(None)
        self.on_put()

    def due(self) -> float | None:
        """Return the seconds until something is due even if nothing is queued; None: nothing is."""
        if self._failed is not None:
            return max(0.0, self._failed.at - clock.monotonic())
        return IDLE_SECONDS if self.cut or self._logged > LOG_CHECKPOINT_BYTES else None

    def step(self, wait: float | None) -> None:
        """Wait for work at most that long, None without limit, and do what is due."""
        if self._failed is not None:
            failed = self._failed
            if self.closing.wait(wait):
                self._give_up(failed)
            elif clock.monotonic() >= failed.at:
                self._write(failed.batches, failed.pause)
            if self._failed is None:
                self.busy_since = None
            return
        batches, running, idle = self._collect(wait)
        self.busy_since = clock.monotonic()
        self.ended = not running
        if self._suspected is not None:
            suspected, self._suspected = self._suspected, None
            self._examine(suspected)
        if batches:
            self._write(batches, FIRST_RETRY_SECONDS)
        if self._failed is None:
            self._maintain(idle)
        if self.ended:
            if self._failed is not None:
                self._give_up(self._failed)
            self._store.end()
        if self._failed is None:
            self.busy_since = None

    def _maintain(self, idle: bool) -> None:
        """Remove old entries, and move the log into the database."""
        if self.cut and (idle or clock.monotonic() >= self._cut_at):
            self.cut = self.cut if self._store.remove(self.cut) else 0
            # with many tables the queue is never idle
            self._cut_at = clock.monotonic() + IDLE_SECONDS
            self._logged = self._store.log_size()
        if (
            self._logged
            > (LOG_CHECKPOINT_BYTES if idle or self.ended else LOG_FORCED_CHECKPOINT_BYTES)
            and clock.monotonic() >= self._move_at
        ):
            if not self._store.move_log(LOG_FORCED_CHECKPOINT_BYTES * 9 // 8):
                self._move_at = clock.monotonic() + LOG_RETRY_SECONDS
            self._logged = self._store.log_size()

    def _collect(self, wait: float | None) -> tuple[list[Batch], bool, bool]:
        """Wait for work. Return what to commit, whether to continue, and whether the queue is
        idle.
        """
        batches: list[Batch] = []
        records = 0
        try:
            item = self.queue.get(timeout=wait)
        except Empty:
            return batches, True, True
        while item is not None:
            if isinstance(item, EntryRemoval):
                self.cut = item.through
            elif isinstance(item, ForeignWriteCheck):
                if self._store.has_foreign_writes():
                    self._call_in_loop(item.on_foreign)
            elif isinstance(item, DamageCheck):
                if self._suspected is None or item.journal is not None:
                    self._suspected = item
            else:
                batches.append(item)
                records += len(item.records)
            if records >= MAX_BATCH_RECORDS or self.queue.empty():  # no other thread reads it
                break
            item = self.queue.get_nowait()
        return batches, item is not None, False

    def _write(self, batches: list[Batch], pause: float) -> None:
        """Commit the batches; if that fails, note when to try again."""
        records = [record for batch in batches for record in batch.records]
        moves = {name: position for batch in batches for name, position in batch.moves.items()}
        while True:
            started = clock.monotonic()
            try:
                ends, published = self._store.write(records, moves)
                self.commits.add(clock.monotonic() - started)
                break
            except Exception as error:  # of any kind: retry; what is not stored is not published
                self._report_failure(f"{self._store.path}: {error}")
                if self._store.failed(error):
                    continue
                self._failed = FailedCommit(
                    batches, error, clock.monotonic() + pause, min(2 * pause, MAX_RETRY_SECONDS)
                )
                return
        self._failed = None
        if self._store.replacement is not None:
            new, self._store.replacement = self._store.replacement, None
            self._call_in_loop(self._callbacks.replaced, new)
        elif published:
            self._callbacks.stored(published)
        if records or any(batch.stored for batch in batches):
            last_records = accumulate(len(batch.records) for batch in batches)
            outcomes: list[Outcome] = [
                (batch.stored, ends[last - 1] if batch.records else self._store.head.position)
                for batch, last in zip(batches, last_records, strict=True)
            ]
            inputs = sum(batch.inputs for batch in batches)
            self._call_in_loop(
                self._callbacks.complete, outcomes, inputs, self._store.head, published
            )
        self._report_failure(None)
        self._logged = self._store.log_size()

    def _give_up(self, failed: FailedCommit) -> None:
        """Fail the futures of a commit that failed before the journal was closed."""
        self._failed = None
        reason = JournalUnusableError(f"closed before it was stored: {failed.error}")
        outcomes: list[Outcome] = [(batch.stored, reason) for batch in failed.batches]
        inputs = sum(batch.inputs for batch in failed.batches)
        self._call_in_loop(self._callbacks.complete, outcomes, inputs, None, ())

    def _examine(self, suspected: DamageCheck) -> None:
        try:
            self._store.examine(suspected.journal, suspected.damage)
        except JournalLostError as error:
            self._report_failure(f"{self._store.path}: {error}")
            if self._store.failed(error):
                self._write([], FIRST_RETRY_SECONDS)
        except Exception:  # it cannot be read now, which is not damage; the reader will try again
            return

    def _report_failure(self, reason: str | None) -> None:
        if reason != self._failure:
            self._failure = reason
            self._callbacks.failure(reason)


def in_thread(writer: JournalWriter) -> ThreadFuture[None]:
    """Repeat the steps of the writer in a thread until it has ended. The future gets the result,
    or the error that ended it.
    """
    ended: ThreadFuture[None] = ThreadFuture()
    # so that cancelling a task that awaits it does not cancel this future
    ended.set_running_or_notify_cancel()

    def run() -> None:
        try:
            while not writer.ended:
                writer.step(writer.due())
        except BaseException as error:
            ended.set_exception(error)
        else:
            ended.set_result(None)

    Thread(target=run, name="journal", daemon=True).start()
    return ended
