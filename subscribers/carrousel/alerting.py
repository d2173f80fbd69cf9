"""Raises the alerts of the jackpots: each is logged, counted and published."""

from __future__ import annotations

from collections.abc import Mapping

from common import clock
from common.contract.jackpot import JackpotAlert
from common.contract.times import format_utc
from common.log import structlog
from subscribers.carrousel.metrics import JackpotCounts
from subscribers.carrousel.runtime import JackpotRuntime
from subscribers.carrousel.tables import TrackedTable


class AlertReporter:
    """Raises and clears alerts of jackpots, of their tables, and of the ledger."""

    def __init__(self, *, jackpots: Mapping[str, JackpotRuntime], counts: JackpotCounts) -> None:
        self._jackpots, self._counts = jackpots, counts
        self._store_trouble = ""
        """Last reported reason why the ledger cannot be written."""
        self._log = structlog.get_logger()

    def report(
        self,
        jackpot: JackpotRuntime,
        name: str,
        kind: JackpotAlert,
        detail: str,
        *,
        fault: bool = False,
    ) -> None:
        """Raise an alert of a jackpot, or report it again."""
        self._log.warning("alert", jackpot=jackpot.id, alert=name, detail=detail)
        self._counts.alerts[jackpot.id, kind] += 1
        jackpot.alerts.report(name, kind, detail, format_utc(clock.wall()), fault=fault)

    def report_table(
        self,
        table: TrackedTable,
        name: str,
        kind: JackpotAlert,
        detail: str,
        *,
        fault: bool = False,
    ) -> None:
        """Raise an alert of a table."""
        jackpot = self._jackpots[table.jackpot]
        self.report(jackpot, f"{table.table}-{name}", kind, detail, fault=fault)

    def is_open(self, table: TrackedTable, name: str) -> bool:
        """Return whether an alert of a table is open."""
        return f"{table.table}-{name}" in self._jackpots[table.jackpot].alerts.open

    def clear_table(self, table: TrackedTable, name: str) -> None:
        """Close an alert of a table."""
        self._jackpots[table.jackpot].alerts.clear(f"{table.table}-{name}")

    def report_or_clear(self, kind: JackpotAlert, detail: str | None) -> None:
        """Raise an alert of all jackpots, or close it if there is no ``detail``."""
        name = kind.replace("_", "-")
        for jackpot in self._jackpots.values():
            if detail is None:
                jackpot.alerts.clear(name)
            else:
                self.report(jackpot, name, kind, detail)

    def report_store(self, reason: str) -> None:
        """Raise the alert that the ledger cannot be written."""
        self._store_trouble = reason
        for jackpot in self._jackpots.values():
            self.report(jackpot, "store", "store", reason, fault=True)

    def report_store_once(self, reason: str) -> None:
        """Like :meth:`report_store`, but not again for the same reason."""
        if reason != self._store_trouble:
            self.report_store(reason)

    def clear_store(self) -> None:
        """Close the alert that the ledger cannot be written."""
        self._store_trouble = ""
        for jackpot in self._jackpots.values():
            jackpot.alerts.clear("store")
