"""Serving as one of a pair of controllers: every commit is in the log of the pair before it counts,
and nothing is published without the lease.
"""

from __future__ import annotations

from common import clock
from common.log import structlog
from common.standby.errors import OvertakenError, StoreUnreachableError, StoreUnusableError
from common.standby.ledger_message import LedgerMessage, ShippedEntry
from common.standby.log import RecordLog
from common.standby.right import LeaseHolder
from subscribers.carrousel.books import Books
from subscribers.carrousel.metrics import StandbyStatus
from subscribers.carrousel.orders import OrderPeople
from subscribers.feed.connection import KEEPALIVE_SECONDS

MAX_SHIPPED_FACTS = 200
"""Maximum facts in one commit of a pair: the store accepts messages of up to a megabyte."""
KEEPALIVE_LEASES, MIN_KEEPALIVE_SECONDS = 1 / 3, 2
"""Keepalive of the connection to the broker as a share of the lease, and its lower bound."""
RETRY_SECONDS = 0.1
"""Pause after an attempt to append to the log that had no reply."""


class LedgerTenure:
    """One term of serving. ``sequence``: the last entry of the log; ``client_id``: that of both
    machines at the broker, which therefore ends the connection of one when it accepts the other.
    """

    def __init__(
        self,
        *,
        holder: LeaseHolder,
        log: RecordLog[LedgerMessage],
        sequence: int,
        client_id: str,
        people: OrderPeople,
        status: StandbyStatus,
    ) -> None:
        self.people = people
        """The people in force, shared with the other controller."""
        self.status = status
        """The samples of the metrics."""
        self._holder, self._log, self._sequence = holder, log, sequence
        self.client_id = client_id
        self._logger = structlog.get_logger()

    @property
    def instance(self) -> str:
        """The name of this machine in the pair."""
        return self._holder.record.instance

    @property
    def term(self) -> int:
        """The number of this term."""
        return self._holder.record.term

    def check(self) -> None:
        """Return if this controller may publish now, else end the process."""
        self._holder.check()

    async def confirm(self) -> None:
        """Return once the store has confirmed that this controller has the lease."""
        await self._holder.confirm()

    async def ship(self, books: Books) -> None:
        """Append what the next commit contains to the log. Returns once the store has acknowledged
        it. If another controller has written, the process ends: nothing of it counts.
        """
        pending = books.pending()
        message = LedgerMessage(
            ledger=books.store.id,
            term=self.term,
            instance=self.instance,
            position=pending.before.position,
            head=pending.before.hash.hex(),
            entries=tuple(
                ShippedEntry(entry.time, entry.jackpot, entry.fact.decode(), entry.hash.hex())
                for entry in pending.entries
            ),
            cursors={table: memory.decode() for table, memory in pending.cursors.items()},
        )
        until = clock.boottime() + self._holder.record.lease
        reason = ""
        while True:
            try:
                self._sequence = await self._log.append(message, self._sequence)
            except OvertakenError:
                self._holder.end_process("another controller has written the ledger")
            except (StoreUnreachableError, StoreUnusableError) as error:
                if not reason:
                    reason = str(error)
                    self._logger.warning("the ledger is not shipped", reason=reason)
                if clock.boottime() >= until:
                    await self.give_up(f"the ledger cannot be shipped: {error}")
                await clock.sleep(RETRY_SECONDS)
            else:
                return

    @property
    def keepalive(self) -> int:
        """Seconds after which a silent connection to the broker is checked."""
        return broker_keepalive(self._holder.record.lease)

    async def give_up(self, reason: str, *, yields: bool = False) -> None:
        """Release the lease, so that the other controller takes over, and end the process.
        ``yields``: because the other one could serve.
        """
        await self._holder.release(None, reason, yields=yields)
        self._holder.end_process(reason)


def broker_keepalive(lease: float) -> int:
    """Return the keepalive of a controller's connection to the broker."""
    return min(KEEPALIVE_SECONDS, max(MIN_KEEPALIVE_SECONDS, int(KEEPALIVE_LEASES * lease)))
