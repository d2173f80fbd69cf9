"""Checks at which tables bets may be taken, and records it."""

from __future__ import annotations

from collections.abc import Mapping

from common import clock
from common.contract.jackpot import JackpotAlert
from subscribers.carrousel.alerting import AlertReporter
from subscribers.carrousel.books import Books
from subscribers.carrousel.fact_applier import FactApplier
from subscribers.carrousel.facts import PlayStatus, ServedBy
from subscribers.carrousel.linked_tables import LinkedTables
from subscribers.carrousel.runtime import JackpotRuntime
from subscribers.carrousel.stakes import REMEMBERED_ROUNDS
from subscribers.carrousel.status import ControllerStatus
from subscribers.carrousel.tables import TrackedTable

TABLE_CHECK_INTERVAL_SECONDS = 1.0
"""Interval for re-evaluating whether tables may take bets, even if nothing changed."""


class TableCheck:
    """Records which node's clock a table has, and whether bets may be taken there.
    ``clock_bound``: maximum difference in seconds between a node's clock and this one.
    """

    def __init__(
        self,
        *,
        status: ControllerStatus,
        jackpots: Mapping[str, JackpotRuntime],
        tables: LinkedTables,
        applier: FactApplier,
        alerts: AlertReporter,
        clock_bound: float,
    ) -> None:
        self._status, self._jackpots, self._tables = status, jackpots, tables
        self._applier, self._alerts, self._clock_bound = applier, alerts, clock_bound

    def run_if_due(self, books: Books, now: str) -> None:
        """Check all tables if something changed, or once in an interval. ``now``: UTC."""
        if clock.monotonic() - self._status.tables_checked_at >= TABLE_CHECK_INTERVAL_SECONDS:
            self._status.tables_checked_at = clock.monotonic()
            for table in self._tables:
                self._check(books, table, now)

    def _check(self, books: Books, table: TrackedTable, now: str) -> None:
        jackpot = self._jackpots[table.jackpot]
        nodes, state = self._tables.nodes[jackpot.settings.simulated], books.states[jackpot.id]
        record = state.tables.get(table.table)
        node = None if table.state is None else nodes.node_of(table.state.boot)
        bound = self._clock_bound
        rounds = REMEMBERED_ROUNDS
        if node is not None and (
            record is None
            or (record.node, record.clock_bound) != (node, bound)
            or record.kept < rounds  # recorded by an older release
        ):
            fact = ServedBy(table=table.table, node=node, clock_bound=bound, rounds=rounds)
            self._applier.apply(jackpot.id, now, fact)
        why = table.out_of_play_reason(
            nodes, clock.monotonic(), (state.terms or jackpot.settings.terms).currency
        )
        if record is None or record.why != why:
            self._applier.apply(jackpot.id, now, PlayStatus(time=now, table=table.table, why=why))
        conditions: tuple[tuple[JackpotAlert, str | None], ...] = (
            ("foreign", table.find_mismatch(jackpot.settings.terms.currency)),
            ("clock", f"{nodes.clock_offsets.get(node or '', 0.0):+.1f} s"),
        )
        for name, detail in conditions:
            if why == name and detail is not None:
                if not self._alerts.is_open(table, name):
                    self._alerts.report_table(table, name, name, f"{table.table}: {detail}")
            else:
                self._alerts.clear_table(table, name)
