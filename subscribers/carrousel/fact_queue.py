"""The queue of facts for the writer."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import NamedTuple

from subscribers.carrousel.facts import Fact
from subscribers.carrousel.ledger_state import FactOutcome
from subscribers.carrousel.status import ControllerStatus

OutcomeFuture = asyncio.Future[FactOutcome]


class PendingFact(NamedTuple):
    """A fact with its jackpot, and the future of its outcome if a reply depends on it."""

    jackpot: str
    fact: Fact
    outcome: OutcomeFuture | None = None


class FactQueue:
    """Facts in the order in which they arrived. Adding one wakes the writer."""

    def __init__(self, *, status: ControllerStatus) -> None:
        self._status = status
        self._facts: list[PendingFact] = []

    def __len__(self) -> int:
        return len(self._facts)

    def add(self, *facts: PendingFact) -> None:
        """Add facts."""
        self._facts += facts
        self._status.work.set()

    def take(self, most: int | None = None) -> list[PendingFact]:
        """Return all facts, or the oldest ones, and remove them. The writer is woken again for the
        others.
        """
        facts, self._facts = self._facts[:most], [] if most is None else self._facts[most:]
        if self._facts:
            self._status.work.set()
        return facts

    def fail(self, taken: Iterable[PendingFact], error: Exception) -> None:
        """Fail facts that were taken, and all pending ones."""
        for pending in (*taken, *self.take()):
            if pending.outcome is not None and not pending.outcome.done():
                pending.outcome.set_exception(error)
