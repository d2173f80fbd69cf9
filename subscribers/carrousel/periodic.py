"""Periodic work of the jackpot controller."""

from __future__ import annotations

from collections.abc import Mapping

from common import clock
from common.log import structlog
from subscribers.carrousel.announcer import Announcer
from subscribers.carrousel.ledger_proof import LedgerProof
from subscribers.carrousel.order_desk import OrderDesk
from subscribers.carrousel.orders import OrderPeople
from subscribers.carrousel.recalls import TableRecalls
from subscribers.carrousel.runtime import JackpotRuntime
from subscribers.carrousel.status import ControllerStatus

TICK_SECONDS = 0.25
"""Interval of the periodic work."""
CHECK_INTERVAL_SECONDS = 1.0
"""Interval of what need not be done at every tick."""


class PeriodicWork:
    """Reads the people file again, expires orders, repeats recalls, and publishes checkpoints."""

    def __init__(
        self,
        *,
        status: ControllerStatus,
        jackpots: Mapping[str, JackpotRuntime],
        desks: Mapping[str, OrderDesk],
        people: OrderPeople,
        recalls: TableRecalls,
        announcer: Announcer,
        proof: LedgerProof,
    ) -> None:
        self._status, self._jackpots, self._desks = status, jackpots, desks
        self._people, self._recalls = people, recalls
        self._announcer, self._proof = announcer, proof
        self._checked_at = 0.0
        self._people_trouble: str | None = None
        """Last logged problem of the people file."""
        self._log = structlog.get_logger()

    async def run(self) -> None:
        """Work until cancelled."""
        while True:
            await clock.sleep(TICK_SECONDS)
            now = clock.monotonic()
            if now - self._checked_at >= CHECK_INTERVAL_SECONDS:
                self._checked_at = now
                self._check(now)
            books = self._status.books
            if books is not None and self._status.why is None:
                for jackpot in self._jackpots.values():
                    self._recalls.send_for_hits(jackpot, books.states[jackpot.id], now)
                self._proof.publish_checkpoint_if_due(now)

    def _check(self, now: float) -> None:
        self._refresh_people()
        for desk in self._desks.values():
            desk.expire()
        for desk in self._desks.values():
            desk.report_discards()
        self._announcer.correct(now)
        self._recalls.repeat()
        if self._status.why == "store":
            self._status.work.set()

    def _refresh_people(self) -> None:
        self._people.refresh()
        trouble = self._people.trouble
        if trouble != self._people_trouble:
            self._people_trouble = trouble
            if trouble is not None:
                self._log.error("people file refused", reason=trouble)
