"""Evidence about the ledger: the signed checkpoint of its head, for anyone, and the mark up to
which it was verified, for the next start.
"""

from __future__ import annotations

import asyncio

import msgspec

from common import clock
from common.contract.times import format_utc
from common.log import structlog
from subscribers.carrousel.books import Books
from subscribers.carrousel.checkpoints import sign_head
from subscribers.carrousel.mark import VerificationMark, write_mark
from subscribers.carrousel.schema import LedgerError
from subscribers.carrousel.status import ControllerStatus
from subscribers.feed.connection import ServiceConnection

CHECKPOINT_INTERVAL_SECONDS = 30.0
"""Interval between two checkpoints, and between two verification marks."""


class LedgerProof:
    """Writes checkpoints and marks. ``topic``: that of the checkpoint; ``boot``: id of this run."""

    def __init__(
        self, *, status: ControllerStatus, connection: ServiceConnection, topic: str, boot: str
    ) -> None:
        self._status, self._connection = status, connection
        self._topic, self._boot = topic, boot
        self.checkpoint_at = self._marked_at = 0.0
        self._log = structlog.get_logger()

    def publish_checkpoint_if_due(self, now: float) -> None:
        """Publish a checkpoint once in an interval. ``now``: monotonic."""
        if now - self.checkpoint_at >= CHECKPOINT_INTERVAL_SECONDS:
            self.publish_checkpoint()

    def publish_checkpoint(self) -> None:
        """Sign the head of the ledger, store and publish it."""
        self.checkpoint_at = clock.monotonic()
        books, key = self._status.books, self._status.key
        if books is None or self._status.why is not None or key is None:
            return
        try:
            checkpoint = sign_head(books.store, key, self._boot, format_utc(clock.wall()))
        except LedgerError as error:
            self._log.error("no checkpoint", reason=str(error))
            return
        self._connection.retain(self._topic, msgspec.json.encode(checkpoint))

    def is_mark_due(self) -> bool:
        """Return whether an interval has passed since the last mark."""
        return clock.monotonic() - self._marked_at >= CHECKPOINT_INTERVAL_SECONDS

    async def write_mark(self, books: Books, *, ended: bool = False) -> None:
        """Store the verification mark beside the ledger: it was verified at the start, and
        everything since followed the rules. No fact may be applied meanwhile.
        """
        self._marked_at = clock.monotonic()
        store, key = books.store, self._status.key
        if key is None or store.head != store.committed:
            return
        try:
            memories = {name: cursor.memory.decode() for name, cursor in store.cursors().items()}
            mark = VerificationMark(
                ledger=store.id,
                boot=self._boot,
                time=format_utc(clock.wall()),
                position=store.committed.position,
                hash=store.committed.hash.hex(),
                states=books.states,
                balances=tuple(
                    (*account, amount) for account, amount in sorted(store.sums.items())
                ),
                memories=memories if ended else None,
            )
            await asyncio.to_thread(write_mark, mark, key, store.path)
        except (LedgerError, OSError) as error:
            self._log.error("no mark of what is verified", reason=str(error))
