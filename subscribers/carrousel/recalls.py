"""Recalls: asks the linked tables for the events after the last accepted one."""

from __future__ import annotations

from common import clock
from common.contract.times import format_utc
from subscribers.carrousel.ledger_state import JackpotLedgerState
from subscribers.carrousel.linked_tables import LinkedTables
from subscribers.carrousel.orders import OrderPeople
from subscribers.carrousel.runtime import JackpotRuntime, has_open_hit
from subscribers.carrousel.tables import TrackedTable
from subscribers.feed.connection import ServiceConnection
from subscribers.feed.recall_key import RecallKey, send_recall

EAGER_RECALL_SECONDS, RECALL_INTERVAL_SECONDS = 10.0, 2.0
"""For the first of these times after a hit, all tables are recalled at every tick; after that, at
intervals of the second.
"""


class TableRecalls:
    """Sends recalls under the client id ``client``, signed with ``key`` unless it is None."""

    def __init__(
        self,
        *,
        connection: ServiceConnection,
        tables: LinkedTables,
        people: OrderPeople,
        key: RecallKey | None,
        client: str,
    ) -> None:
        self._connection, self._tables = connection, tables
        self._people, self._key, self._client = people, key, client

    def send(self, table: TrackedTable) -> None:
        """Ask a table for everything after the last accepted event."""
        next_recall = table.next_recall(clock.monotonic(), format_utc(clock.wall()))
        if next_recall is None:
            return
        number, request = next_recall
        body = {"boot": request.at.boot, "from": request.first, "onward": True}
        signer: tuple[RecallKey, str] | None = None
        if self._key is not None:
            people = self._people.people
            owner = None if people is None else people.owners.get(self._key.kid)
            if owner is None:
                table.recall_error = "the people file does not name the owner of `recall_key`"
                return
            signer = self._key, owner[0].id
        send_recall(
            self._connection, table.topic, body, client=self._client, number=number, signer=signer
        )

    def send_all(self) -> None:
        """Ask every table."""
        for table in self._tables:
            self.send(table)

    def repeat(self) -> None:
        """Ask the tables of which events are missing."""
        for table in self._tables:
            state = table.state
            if state is not None and (
                not table.up_to_date or table.intake.is_behind(state.boot, state.seq)
            ):
                self.send(table)

    def send_for_hits(self, jackpot: JackpotRuntime, state: JackpotLedgerState, now: float) -> None:
        """Ask a jackpot's tables while the value of a hit is not final. ``now``: monotonic."""
        if not has_open_hit(state):
            return
        pause = 0.0 if now - jackpot.last_hit < EAGER_RECALL_SECONDS else RECALL_INTERVAL_SECONDS
        if now - jackpot.last_recall >= pause:
            jackpot.last_recall = now
            for table in self._tables:
                if table.jackpot == jackpot.id and table.pending is None:
                    self.send(table)
