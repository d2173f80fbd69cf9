"""The writer of the ledger: applies pending facts, commits them together, then publishes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress

import msgspec

from common import clock
from common.contract.jackpot import GapSettle
from common.contract.times import format_utc
from subscribers.carrousel.alerting import AlertReporter
from subscribers.carrousel.announcer import Announcer
from subscribers.carrousel.books import Books
from subscribers.carrousel.fact_applier import FactApplier
from subscribers.carrousel.fact_queue import FactQueue, OutcomeFuture, PendingFact
from subscribers.carrousel.facts import CaughtUp, OrderGiven, OrderNotFollowed
from subscribers.carrousel.ledger_proof import LedgerProof
from subscribers.carrousel.ledger_state import FactOutcome, OrderRefusedError
from subscribers.carrousel.linked_tables import LinkedTables
from subscribers.carrousel.recalls import TableRecalls
from subscribers.carrousel.recovery import LedgerRecovery
from subscribers.carrousel.runtime import has_open_hit
from subscribers.carrousel.status import ControllerStatus
from subscribers.carrousel.store import LedgerNotStoredError
from subscribers.carrousel.table_check import TableCheck
from subscribers.carrousel.tenure import MAX_SHIPPED_FACTS, LedgerTenure

CURSOR_SAVE_INTERVAL_SECONDS = 5.0
"""Interval for saving the read position of tables without jackpot events."""

SettledOutcome = tuple[OutcomeFuture, FactOutcome | OrderRefusedError]
"""The outcome of an order, to be set after the commit."""


class LedgerWriter:
    """The only writer of the ledger while the controller runs. ``tenure``: set in a pair."""

    def __init__(
        self,
        *,
        status: ControllerStatus,
        queue: FactQueue,
        applier: FactApplier,
        check: TableCheck,
        tables: LinkedTables,
        recalls: TableRecalls,
        alerts: AlertReporter,
        announcer: Announcer,
        proof: LedgerProof,
        recovery: LedgerRecovery,
        tenure: LedgerTenure | None,
    ) -> None:
        self._status, self._queue, self._applier = status, queue, applier
        self._check, self._tables, self._recalls = check, tables, recalls
        self._alerts, self._announcer = alerts, announcer
        self._proof, self._recovery, self._tenure = proof, recovery, tenure
        self._cursors_saved_at = 0.0

    async def run(self) -> None:
        """Write until the controller is ending and no fact is pending."""
        status = self._status
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._announcer.until_due()):
                    await status.work.wait()
            status.work.clear()
            if status.books is not None and self._recovery.is_due():
                await self._recovery.recover(status.books)
            settled: list[SettledOutcome] = []
            if status.books is not None and status.why is None:
                settled = await self._write(status.books)
            for future, outcome in settled:
                if isinstance(outcome, OrderRefusedError):
                    future.set_exception(outcome)
                else:
                    future.set_result(outcome)
            self._announcer.publish()
            if status.is_ending and not self._queue:
                self._proof.publish_checkpoint()
                if status.books is not None and status.why is None:
                    await self._proof.write_mark(status.books, ended=True)
                status.why = status.why or "unheard"
                return

    async def _write(self, books: Books) -> list[SettledOutcome]:
        """Apply and commit all pending facts. Return the outcomes of orders; none if the disk
        refused the commit.
        """
        tenure = self._tenure
        facts = self._queue.take(None if tenure is None else MAX_SHIPPED_FACTS)
        try:
            settled = self._apply_all(books, facts)
            if books.has_changes:
                if tenure is not None:
                    await tenure.ship(books)
                await asyncio.to_thread(books.commit)
            self._applier.on_committed()
            if self._proof.is_mark_due():
                await self._proof.write_mark(books)
            if tenure is not None and not books.store.is_open:
                await tenure.give_up(f"{books.store.path}: the disk does not let it be read")
        except LedgerNotStoredError as error:
            if tenure is not None:
                await tenure.give_up(str(error))
            self._recovery.on_refused(error)
            self._queue.fail(facts, error)
            return []
        return settled

    def _apply_all(self, books: Books, facts: Sequence[PendingFact]) -> list[SettledOutcome]:
        """Apply these facts, and save the tables' memories."""
        now = format_utc(clock.wall())
        self._check.run_if_due(books, now)
        settled: list[SettledOutcome] = []
        for jackpot, fact, future in facts:
            if isinstance(fact, CaughtUp) and not has_open_hit(books.states[jackpot]):
                continue
            try:
                outcome = self._applier.apply(jackpot, now, fact)
            except OrderRefusedError as error:
                if isinstance(fact, OrderGiven) and future is not None:
                    settled.append((future, error))
                    refusal = OrderNotFollowed(
                        time=now, signed=fact.signed[-1:], refusal=error.refusal.key
                    )
                    self._applier.apply(jackpot, now, refusal)
                continue
            if isinstance(fact, OrderGiven) and isinstance(fact.order, GapSettle):
                self._resume_table(fact.order.table)
            if future is not None and outcome is not None:
                settled.append((future, outcome))
        self._applier.store_alerts(now)
        self._save_cursors(books, has_facts=bool(facts))
        return settled

    def _save_cursors(self, books: Books, *, has_facts: bool) -> None:
        """Save the memories of tables that changed: with facts, at intervals, and at the end."""
        is_due = (
            has_facts
            or clock.monotonic() - self._cursors_saved_at > CURSOR_SAVE_INTERVAL_SECONDS
            or self._status.is_ending
        )
        if not is_due:
            return
        for table in self._tables:
            if table.memory_changed:
                books.save_cursor(table.table, msgspec.json.encode(table.intake.memory))
                table.memory_changed = False
        self._cursors_saved_at = clock.monotonic()

    def _resume_table(self, name: str) -> None:
        """Resume a table after its gap was settled."""
        table = self._tables.get(name)
        if table is not None and table.state is not None:
            table.intake.restart(table.state.boot, table.state.seq, table.state.time)
            table.memory_changed, table.up_to_date = True, False
            self._alerts.clear_table(table, "gap")
            self._recalls.send(table)
            self._status.check_tables_soon()
