"""The orders of one jackpot: queued, verified, passed to the writer, and answered."""

from __future__ import annotations

import asyncio
from collections import deque

import msgspec

from common import clock
from common.contract.jackpot import GapSettle, JackpotReply
from common.contract.refusals import RejectedError
from common.contract.times import format_utc
from common.log import structlog
from common.people.signed_command import VerifiedCommand, claims_of
from subscribers.carrousel.alerting import AlertReporter
from subscribers.carrousel.fact_queue import FactQueue, OutcomeFuture, PendingFact
from subscribers.carrousel.facts import OrderGiven
from subscribers.carrousel.ledger_state import OrderRefusedError
from subscribers.carrousel.linked_tables import LinkedTables
from subscribers.carrousel.metrics import JackpotCounts
from subscribers.carrousel.orders import PERMANENT_REFUSALS, order_not_followed
from subscribers.carrousel.runtime import JackpotRuntime
from subscribers.carrousel.status import ControllerStatus
from subscribers.feed.connection import ServiceConnection

MAX_WAITING_ORDERS = 20
"""Maximum number of waiting orders per jackpot."""
ORDER_INTERVAL_SECONDS = 0.01
"""Pause between two orders of a jackpot."""


class OrderDesk:
    """Accepts the orders of a jackpot, one after the other."""

    def __init__(
        self,
        *,
        jackpot: JackpotRuntime,
        status: ControllerStatus,
        tables: LinkedTables,
        queue: FactQueue,
        alerts: AlertReporter,
        counts: JackpotCounts,
        connection: ServiceConnection,
    ) -> None:
        self._jackpot, self._status, self._tables = jackpot, status, tables
        self._queue, self._alerts, self._counts = queue, alerts, counts
        self._connection = connection
        self._waiting: deque[tuple[str, bytes]] = deque()
        """Received orders that were not handled yet."""
        self._arrived = asyncio.Event()
        self._unsigned = self._overflowed = 0
        """Numbers of discarded orders: without a signature, and because too many waited."""
        self._reported_discards = (0, 0)
        """The numbers that were last reported."""
        self._log = structlog.get_logger()

    async def run(self) -> None:
        """Handle waiting orders, one after the other."""
        while True:
            await self._arrived.wait()
            self._arrived.clear()
            while self._waiting:
                self._handle(*self._waiting.popleft(), retained=False)
                await clock.sleep(ORDER_INTERVAL_SECONDS)

    def on_order(self, name: str, body: bytes, *, retained: bool) -> None:
        """Queue an order from the topic ``command/<name>``. Excess orders are discarded, and
        unsigned ones at once, so that a flood delays nothing else.
        """
        if _sender_of(body) == (None, None):
            self._unsigned += 1
        elif len(self._waiting) >= MAX_WAITING_ORDERS:
            self._overflowed += 1
        elif retained:
            self._handle(name, body, retained=True)
        else:
            self._waiting.append((name, body))
            self._arrived.set()

    def report_discards(self) -> None:
        """Report how many orders were discarded."""
        unsigned, overflowed = self._unsigned, self._overflowed
        if (unsigned, overflowed) != self._reported_discards:
            self._reported_discards = unsigned, overflowed
            detail = (
                f"discarded since the start: {unsigned} orders without a signature, and "
                f"{overflowed} that came while {MAX_WAITING_ORDERS} were waiting. Give the "
                "intended orders again, and find out who publishes on the jackpot's topics"
            )
            self._alerts.report(self._jackpot, "orders-discarded", "orders_discarded", detail)
            self._status.work.set()

    def expire(self) -> None:
        """Refuse orders that no second person signed in time, or whose subject has changed."""
        for order in self._jackpot.orders.take_expired(clock.wall()):
            error = RejectedError(order.over)
            client, number = _sender_of(order.first.token.encode())
            reply = JackpotReply(id=number, ok=False, error=str(error), refusal=error.refusal)
            self._reply(client, reply)

    def _handle(self, name: str, body: bytes, *, retained: bool) -> None:
        client, number = _sender_of(body)
        signed, now = None, clock.wall()
        orders, status = self._jackpot.orders, self._status
        try:
            if retained:
                raise RejectedError("retained_command")
            signed = orders.verify_signer(body, now)
            if status.is_checking:
                raise RejectedError("controller_verifies")
            if status.books is None or status.why is not None:
                raise RejectedError("controller_out", why=status.why or "store")
            order = orders.accept(signed, name, body, now, format_utc(now))
            self._check_gap_order(order)
        except RejectedError as error:
            self._refuse(client, number, error, signed, body)
            return
        outcome: OutcomeFuture = asyncio.get_running_loop().create_future()
        outcome.add_done_callback(lambda done: self._on_done(client, number, done))
        self._queue.add(PendingFact(self._jackpot.id, order, outcome))

    def _check_gap_order(self, given: OrderGiven) -> None:
        """Check what only the running controller knows of an order."""
        if isinstance(given.order, GapSettle):
            table = self._tables.get(given.order.table)
            if (
                table is None
                or table.jackpot != self._jackpot.id
                or table.intake.memory.gap is None
            ):
                raise OrderRefusedError("gap_none", table=given.order.table)
            if table.state is None:
                raise OrderRefusedError("gap_unheard", table=table.table)

    def _refuse(
        self,
        client: str | None,
        number: object,
        error: RejectedError,
        signed: VerifiedCommand | None,
        body: bytes,
    ) -> None:
        """Refuse an order, and reply once the refusal is in the ledger, so that the order is never
        followed later. Orders that can never be followed are not stored, so that they cannot fill
        the ledger.
        """
        jackpot, key = self._jackpot.id, error.refusal.key
        self._counts.refused[jackpot, key] += 1
        reply = JackpotReply(
            id=number,
            ok=False,
            error=str(error),
            refusal=error.refusal,
            judged=isinstance(error, OrderRefusedError),
        )

        def refused(stored: OutcomeFuture | None = None) -> None:
            if stored is not None and not stored.cancelled():
                stored.exception()  # retrieved; the order is refused anyway
            self._log.info("order refused", jackpot=jackpot, reason=str(error))
            self._reply(client, reply)

        unwritable = self._status.books is None or self._status.why is not None
        if signed is None or key in PERMANENT_REFUSALS or unwritable:
            refused()
            return
        stored: OutcomeFuture = asyncio.get_running_loop().create_future()
        stored.add_done_callback(refused)
        fact = order_not_followed(signed, body, format_utc(clock.wall()), error)
        self._queue.add(PendingFact(jackpot, fact, stored))

    def _on_done(self, client: str | None, number: object, done: OutcomeFuture) -> None:
        """Reply to an order that was followed, or that the ledger or its writer did not accept."""
        error = None if done.cancelled() else done.exception()
        log = self._log.bind(jackpot=self._jackpot.id)
        if done.cancelled() or error is not None:
            default = RejectedError("controller_ended" if error is None else "ledger_not_written")
            refusal = error.refusal if isinstance(error, RejectedError) else default.refusal
            log.info("order refused", reason=str(error or default))
            self._counts.refused[self._jackpot.id, refusal.key] += 1
            reply = JackpotReply(
                id=number, ok=False, error=str(error or default), refusal=refusal, judged=True
            )
        else:
            log.info("order followed", receipt=done.result().receipt)
            reply = JackpotReply(id=number, ok=True, receipt=done.result().receipt)
        self._reply(client, reply)

    def _reply(self, client: str | None, reply: JackpotReply) -> None:
        if client is not None:
            topic = self._jackpot.topic(f"reply/{client}")
            self._connection.send(topic, msgspec.json.encode(reply))


def _sender_of(body: bytes) -> tuple[str | None, object]:
    """Return client and request id, read before the signature is verified."""
    try:
        claims = claims_of(body)
    except RejectedError:
        return None, None
    return claims.client, claims.jti
