"""Applies facts to the open books, and updates what the ledger does not hold: alerts, statements
that changed, linked tables.
"""

from __future__ import annotations

from collections.abc import Mapping

from common import clock
from common.contract.times import parse_utc
from subscribers.carrousel.alerting import AlertReporter
from subscribers.carrousel.facts import AlertRecorded, Fact, OrderGiven, Staked, Won
from subscribers.carrousel.ledger_state import FactOutcome
from subscribers.carrousel.linked_tables import LinkedTables
from subscribers.carrousel.metrics import JackpotCounts
from subscribers.carrousel.runtime import JackpotRuntime
from subscribers.carrousel.status import ControllerStatus

MAX_STORED_ALERTS = 200
"""Maximum number of alerts per jackpot that the ledger stores; further alerts are published, but
forgotten at a restart.
"""


class FactApplier:
    """Applies facts. The books must be open."""

    def __init__(
        self,
        *,
        status: ControllerStatus,
        jackpots: Mapping[str, JackpotRuntime],
        tables: LinkedTables,
        alerts: AlertReporter,
        counts: JackpotCounts,
    ) -> None:
        self._status, self._jackpots, self._tables = status, jackpots, tables
        self._alerts, self._counts = alerts, counts
        self._uncommitted: list[tuple[str, Fact]] = []
        """Facts that were applied and not committed yet."""

    def apply(self, name: str, now: str, fact: Fact) -> FactOutcome | None:
        """Apply a fact of a jackpot. Return None if it was applied before. Raises
        ``OrderRefusedError`` and ``LedgerNotStoredError``.
        """
        books = self._status.books
        assert books is not None
        jackpot = self._jackpots[name]
        terms = books.states[name].terms
        outcome = books.apply(name, now, fact)
        if outcome is None:
            return None
        self._uncommitted.append((name, fact))
        for affected in (name, *(transfer.jackpot for transfer in outcome.onward)):
            if affected in self._jackpots:
                self._jackpots[affected].changed = True
                self._jackpots[affected].orders.expire(clock.wall())
        for notice in outcome.notices:
            kind = notice.what.replace("_", "-")
            alert = f"{notice.table}-{kind}" if notice.table else kind
            self._alerts.report(jackpot, alert, notice.what, notice.text)
        if isinstance(fact, OrderGiven):
            jackpot.alerts.sync(outcome.state.alerts)
        if isinstance(fact, Won):
            jackpot.last_hit, jackpot.last_recall = clock.monotonic(), 0.0
        if outcome.state.terms is not terms and self._tables:
            self._tables.link(self._jackpots)
        return outcome

    def store_alerts(self, now: str) -> None:
        """Record alerts that stay until a person clears them, in the same commit as their cause."""
        books = self._status.books
        assert books is not None
        for jackpot in self._jackpots.values():
            for name, kind in jackpot.alerts.unstored.items():
                alert, stored = jackpot.alerts.open[name], books.states[jackpot.id].alerts
                if name in stored or len(stored) < MAX_STORED_ALERTS:
                    fact = AlertRecorded(
                        time=alert.raised,
                        alert=name,
                        what=kind,
                        fault=alert.severity == "fault",
                        detail=alert.detail or "",
                    )
                    self.apply(jackpot.id, now, fact)

    def on_committed(self) -> None:
        """Count committed facts, and mark their alerts as stored."""
        books = self._status.books
        committed, self._uncommitted = self._uncommitted, []
        self._counts.committed(committed)
        for name, fact in committed:
            alerts = self._jackpots[name].alerts
            if isinstance(fact, AlertRecorded):
                alerts.unstored.pop(fact.alert, None)
            if books is not None:
                alerts.stored = books.states[name].alerts
        times = [fact.cause.time for _, fact in committed if isinstance(fact, Staked | Won)]
        if times:
            self._counts.lag = clock.wall() - parse_utc(times[-1])

    def forget_uncommitted(self) -> None:
        """Forget the facts since the last commit: they do not count."""
        self._uncommitted = []
