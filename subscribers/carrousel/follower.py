"""Follows the ledger of the other controller of a pair: reads its commits from the log, applies
each fact by the rules, and stores the same entries, with the same hashes.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path

import msgspec
from nacl.signing import SigningKey

from common import clock
from common.contract.times import format_utc
from common.log import structlog
from common.standby.errors import StoreUnreachableError, StoreUnusableError
from common.standby.ledger_message import LedgerMessage
from common.standby.log import LogBounds, RecordLog
from subscribers.carrousel.books import Books
from subscribers.carrousel.facts import ControllerStarted
from subscribers.carrousel.ledger_file import create_ledger
from subscribers.carrousel.ledger_state import OrderRefusedError
from subscribers.carrousel.mark import VerificationMark, write_mark
from subscribers.carrousel.reading import read_fact
from subscribers.carrousel.schema import LedgerError
from subscribers.carrousel.store import LedgerStore

NOT_READ_YET = "the ledger was not compared with the log yet"
MAX_BATCH = 64
"""Maximum entries of the log that are read at once, and stored with one commit."""
RETRY_SECONDS = 5.0
"""Time until a ledger that could not be followed is opened again."""
UNUSABLE = LedgerError, StoreUnusableError, OrderRefusedError, msgspec.MsgspecError
"""Errors of a ledger that cannot follow the log as it is."""
COPY_ADVICE = (
    "stop the controller here, copy the ledger of the other machine with `sqlite3 FILE "
    '".backup COPY"`, put it here without .checkpoint and .verified, and start again'
)


class LedgerFollower:
    """``path``: this machine's ledger; ``key`` signs its marks; ``open_ledger`` opens it.

    ``trouble``: why this ledger is not known to be the one of the log; None if it was, at the last
    :meth:`step`. ``sequence``: the last entry of the log that it contains.
    """

    def __init__(
        self,
        *,
        path: Path,
        log: RecordLog[LedgerMessage],
        key: SigningKey,
        boot: str,
        open_ledger: Callable[[Path], LedgerStore],
    ) -> None:
        self._path, self._log, self._key, self._boot = path, log, key, boot
        self._open_ledger = open_ledger
        self._books: Books | None = None
        self._retry_at = 0.0
        self._lock = asyncio.Lock()
        self._logger = structlog.get_logger()
        self.trouble: str | None = NOT_READ_YET
        self.sequence = 0

    @property
    def books(self) -> Books:
        """The books of the ledger, which :meth:`open_own` has opened."""
        assert self._books is not None
        return self._books

    async def step(self) -> None:
        """Store what the log has and the ledger has not, and update ``trouble``."""
        async with self._lock:
            if clock.monotonic() < self._retry_at:
                return
            try:
                bounds = await self._log.bounds()
                if self._books is None:
                    await self._open(bounds)
                while self._books is not None and self.sequence < bounds.last:
                    await self._follow(self._books, bounds)
                self._check_end(bounds)
            except StoreUnreachableError as error:
                self._report(f"the log cannot be read: {error}")
            except UNUSABLE as error:
                self._report(str(error))
                self._retry_at = clock.monotonic() + RETRY_SECONDS
                self._close_ledger()
            else:
                self._report(None)

    def last_term(self) -> int:
        """Return the last term in which a controller of a pair began to serve, by the ledger; 0 if
        there was none, or the ledger is not open.
        """
        started = None if self._books is None else self._books.store.started()
        return 0 if started is None else msgspec.json.decode(started, type=ControllerStarted).term

    async def open_own(self) -> None:
        """Open the ledger, or create the first one of the pair. Raises :class:`LedgerError`."""
        async with self._lock:
            if self._books is None:
                store = await asyncio.to_thread(self._open_ledger, self._path)
                self._books = Books(store, ())

    async def is_writable(self) -> bool:
        """Return whether the disk lets something be written beside the ledger: the mark of what
        was verified, from which the next start continues.
        """
        async with self._lock:
            if self._books is None:
                return True
            try:
                await asyncio.to_thread(self._write_mark, self._books)
            except OSError as error:
                self._report(f"{self._path}: {error.strerror}; free some space, or check the disk")
                return False
            return True

    def close(self) -> None:
        """Close the ledger, so that the controller can open it."""
        self._close_ledger()

    async def _open(self, bounds: LogBounds) -> None:
        """Open the ledger, and find its end in the log."""
        if not self._path.exists():
            if not bounds.last:
                return  # the first start of a pair without a ledger
            first = await self._read(bounds.first)
            if first.position:
                raise LedgerError(
                    f"{self._path}: missing, and the log begins at entry {first.position}; "
                    f"{COPY_ADVICE}"
                )
            try:
                await asyncio.to_thread(create_ledger, self._path, first.ledger)
            except (OSError, sqlite3.Error) as error:
                raise LedgerError(f"{self._path}: {error}") from None
        store = await asyncio.to_thread(self._open_ledger, self._path)
        try:
            books = Books(store, ())
            self.sequence = await self._find(books, bounds) if bounds.last else 0
        except BaseException:
            store.close()
            raise
        self._books = books

    async def _find(self, books: Books, bounds: LogBounds) -> int:
        """Return the entry of the log before the one with which following must begin: the first
        that goes as far as the ledger. Raises :class:`LedgerError`.
        """
        position, low, high = books.position, bounds.first, bounds.last + 1
        while low < high:
            middle = (low + high) // 2
            if (await self._read(middle)).last >= position:
                high = middle
            else:
                low = middle + 1
        if low > bounds.last:
            raise LedgerError(
                f"{self._path}: it ends at entry {position}, and the log before that: the store "
                "has lost entries, or this ledger was used without the pair. Compare the ledgers "
                "of both machines, and begin the log again with the longer one: `novamas "
                "carrousel promote`"
            )
        if (await self._read(low)).position > position:
            raise LedgerError(
                f"{self._path}: it ends at entry {position}, and the log no longer has the entries "
                f"after that; {COPY_ADVICE}"
            )
        return low - 1

    async def _follow(self, books: Books, bounds: LogBounds) -> None:
        """Apply and commit the next entries of the log."""
        first = self.sequence + 1
        if first < bounds.first:
            raise LedgerError(f"{self._path}: the log no longer has entry {first}; {COPY_ADVICE}")
        through = min(self.sequence + MAX_BATCH, bounds.last)
        messages = await asyncio.gather(*map(self._read, range(first, through + 1)))
        for message in messages:
            self._apply(books, message)
        if books.has_changes:
            await asyncio.to_thread(books.commit)
        self.sequence = through

    def _apply(self, books: Books, message: LedgerMessage) -> None:
        store = books.store
        if message.ledger != store.id:
            raise LedgerError(
                f"{self._path}: it is the ledger {store.id}, and that of the log is "
                f"{message.ledger}; {COPY_ADVICE}"
            )
        for position, entry in enumerate(message.entries, message.position + 1):
            if position <= store.head.position:
                continue
            books.follow(entry.jackpot, entry.time, read_fact(entry.fact.encode()))
            if store.head.hash.hex() != entry.hash:
                raise LedgerError(
                    f"{self._path}: entry {position} differs from that of {message.instance}: "
                    "another release, or another ledger. Install the same release on both "
                    "machines; `novamas carrousel verify` on each says which ledger holds"
                )
        if store.head.position != message.last:
            raise LedgerError(
                f"{self._path}: it ends at entry {store.head.position}, and entry "
                f"{message.position} of the log does not follow it; {COPY_ADVICE}"
            )
        if store.head.hash.hex() != message.last_hash:
            raise LedgerError(
                f"{self._path}: entry {message.last} is not that of {message.instance}; "
                f"{COPY_ADVICE}"
            )
        for table, memory in message.cursors.items():
            books.save_cursor(table, memory.encode())

    def _check_end(self, bounds: LogBounds) -> None:
        """Check that the log is not shorter than the ledger."""
        books = self._books
        if bounds.last < self.sequence or (
            not bounds.last and books is not None and self.last_term()
        ):
            raise LedgerError(
                f"{self._path}: the store has lost the log of this ledger. Compare the ledgers of "
                "both machines, and begin the log again with the longer one: `novamas carrousel "
                "promote`"
            )

    async def _read(self, sequence: int) -> LedgerMessage:
        message = await self._log.read(sequence)
        if message is None:
            raise LedgerError(f"entry {sequence} of {self._log.name} is missing; {COPY_ADVICE}")
        return message

    def _report(self, trouble: str | None) -> None:
        if trouble != self.trouble:
            if trouble is None:
                self._logger.info("the ledger is followed", sequence=self.sequence)
            else:
                self._logger.warning("the ledger is not followed", reason=trouble)
        self.trouble = trouble

    def _write_mark(self, books: Books) -> None:
        """Store the mark of verification: everything here was applied by the rules."""
        store = books.store
        mark = VerificationMark(
            ledger=store.id,
            boot=self._boot,
            time=format_utc(clock.wall()),
            position=store.committed.position,
            hash=store.committed.hash.hex(),
            states=books.states,
            balances=tuple((*account, amount) for account, amount in sorted(store.sums.items())),
        )
        write_mark(mark, self._key, self._path)

    def _close_ledger(self) -> None:
        if self._books is not None:
            self._books.store.close()
            self._books = None
