"""Handles the messages of the linked tables: events, retained topics and replies to recalls."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from subscribers.carrousel.alerting import AlertReporter
from subscribers.carrousel.fact_queue import FactQueue, PendingFact
from subscribers.carrousel.intake_memory import IntakeResult
from subscribers.carrousel.linked_tables import LinkedTables
from subscribers.carrousel.recalls import TableRecalls
from subscribers.carrousel.status import ControllerStatus
from subscribers.carrousel.tables import TrackedTable
from subscribers.feed.connection import ServiceConnection

Routes = dict[str, Callable[[bytes], None]]
"""Handlers of a message's body, by topic."""


class TableFeed:
    """Turns messages of tables into facts for the writer.

    ``routes``: where its handlers are added; ``roots``: of all topics; ``client``: client id under
    which tables reply; ``clock_bound``: maximum difference in seconds between the clocks.
    """

    def __init__(
        self,
        *,
        status: ControllerStatus,
        tables: LinkedTables,
        recalls: TableRecalls,
        queue: FactQueue,
        alerts: AlertReporter,
        connection: ServiceConnection,
        routes: Routes,
        roots: Iterable[str],
        client: str,
        clock_bound: float,
    ) -> None:
        self._status, self._tables, self._recalls = status, tables, recalls
        self._queue, self._alerts, self._connection = queue, alerts, connection
        self._routes, self._roots, self._client = routes, tuple(roots), client
        self._clock_bound = clock_bound

    def subscribe(self) -> None:
        """Subscribe to the topics of the linked tables, and to the info of all tables."""
        for table in self._tables:
            topic = table.topic
            routes: Routes = {
                f"{topic}/event": partial(self._on_event, table),
                f"{topic}/state": partial(self._on_state, table),
                f"{topic}/reply/{self._client}": partial(self._on_reply, table),
            }
            self._routes |= {**routes, f"{topic}/info": partial(self._on_info, table)}
            for name in routes:
                self._connection.listen(name)
        for root in self._roots:
            self._connection.listen(f"{root}/+/info")

    def _on_event(self, table: TrackedTable, body: bytes) -> None:
        if self._status.why is None:
            self._apply_result(table, table.intake.on_event(body))

    def _on_state(self, table: TrackedTable, body: bytes) -> None:
        if self._status.why is None:
            if table.on_state(body):
                self._recalls.send(table)
            self._status.check_tables_soon()

    def _on_info(self, table: TrackedTable, body: bytes) -> None:
        table.on_info(body)
        self._status.check_tables_soon()

    def _on_reply(self, table: TrackedTable, body: bytes) -> None:
        before = table.recall_error
        reply = table.on_reply(body)
        if table.recall_error is not None and table.recall_error != before:
            detail = f"{table.table} refuses a recall: {table.recall_error}"
            self._alerts.report_table(table, "unheard", "unheard", detail)
        if reply is None or self._status.why is not None:
            return
        request, events = reply
        result = table.intake.on_reply(events, request, self._clock_bound)
        if not result.ask and not table.up_to_date:
            table.up_to_date = True
            self._alerts.clear_table(table, "unheard")
            self._status.check_tables_soon()
        self._apply_result(table, result)
        if table.recall_again:
            self._recalls.send(table)

    def _apply_result(self, table: TrackedTable, result: IntakeResult) -> None:
        """Apply the result of a message."""
        table.memory_changed = True
        if result.facts:
            self._queue.add(*(PendingFact(table.jackpot, fact) for fact in result.facts))
        for notice in result.notices:
            fault = notice.alert != "refused"
            detail = f"{table.table}: {notice.detail}"
            self._alerts.report_table(table, notice.alert, notice.alert, detail, fault=fault)
            self._status.check_tables_soon()
        if result.ask:
            self._recalls.send(table)
