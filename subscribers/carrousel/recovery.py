"""Recovery from a commit that the disk refused: the jackpots go out of play and everything returns
to the committed state, until the ledger can be opened again and verifies.
"""

from __future__ import annotations

from collections.abc import Mapping

from common import clock
from common.log import structlog
from subscribers.carrousel.alerting import AlertReporter
from subscribers.carrousel.books import Books
from subscribers.carrousel.fact_applier import FactApplier
from subscribers.carrousel.ledger_check import LedgerCheck
from subscribers.carrousel.linked_tables import LinkedTables
from subscribers.carrousel.recalls import TableRecalls
from subscribers.carrousel.runtime import JackpotRuntime
from subscribers.carrousel.schema import LedgerError
from subscribers.carrousel.self_check import NotVerifiedError
from subscribers.carrousel.status import ControllerStatus
from subscribers.carrousel.store import LedgerNotStoredError

RECOVERY_INTERVAL_SECONDS = 1.0
"""Time from a commit that the disk refused to the next attempt."""


class LedgerRecovery:
    """Takes the jackpots out of play, and back into play."""

    def __init__(
        self,
        *,
        status: ControllerStatus,
        jackpots: Mapping[str, JackpotRuntime],
        tables: LinkedTables,
        recalls: TableRecalls,
        applier: FactApplier,
        alerts: AlertReporter,
        check: LedgerCheck,
    ) -> None:
        self._status, self._jackpots = status, jackpots
        self._tables, self._recalls = tables, recalls
        self._applier, self._alerts, self._check = applier, alerts, check
        self._due_at = 0.0
        """Monotonic time from which on the ledger may be opened again."""
        self._log = structlog.get_logger()

    def on_refused(self, error: LedgerNotStoredError) -> None:
        """Go out of play and back to the committed state: the disk refused a commit."""
        self._log.error("the ledger is not written", reason=str(error))
        self._status.why = "store"
        self._due_at = clock.monotonic() + RECOVERY_INTERVAL_SECONDS
        self._applier.forget_uncommitted()
        if self._status.books is not None:
            self._status.books.drop_uncommitted()
        for jackpot in self._jackpots.values():
            jackpot.publish_soon()
            jackpot.alerts.sync(jackpot.alerts.stored)
        self._alerts.report_store(str(error))

    def is_due(self) -> bool:
        """Return whether to try again. A full disk lets the ledger be opened and refuses the next
        commit: without a pause, that would be repeated as fast as the ledger is verified.
        """
        return self._status.why == "store" and clock.monotonic() >= self._due_at

    async def recover(self, books: Books) -> None:
        """Try again. The states in the file are verified as at a start."""
        assert self._status.key is not None
        store = books.store
        try:
            store.reopen()
        except LedgerError:
            return  # the alert already says why
        try:
            await self._check.run(store, self._status.key)
            memories = books.reload()
        except NotVerifiedError:
            return  # the controller is ending
        except LedgerError as error:
            self._alerts.report_store_once(str(error))
            return
        self._log.info("the ledger is written again", entries=books.position)
        self._status.why = None
        self._tables.restore(memories)
        self._alerts.clear_store()
        for jackpot in self._jackpots.values():
            jackpot.publish_soon()
            jackpot.alerts.stored = books.states[jackpot.id].alerts
            jackpot.alerts.sync(jackpot.alerts.stored)
        self._recalls.send_all()
        self._status.check_tables_soon()
