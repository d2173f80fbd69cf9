"""The right to serve the tables of a node: waits for the lease, renews it, and releases it."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from common import clock
from common.chain.hand_over import Tenure
from common.contract.node import Checkpoint
from common.contract.times import format_utc
from common.log import structlog
from common.standby.errors import (
    OvertakenError,
    StoreUnreachableError,
    StoreUnusableError,
)
from common.standby.fence import Fence
from common.standby.lease import (
    RENEWALS_PER_LEASE,
    HeldLease,
    OwnIdentity,
    WaitingState,
    claim_record,
    free_at,
    held_after_claim,
    held_after_renewal,
    held_after_reread,
    observe,
    release_of_dead_run,
    renewal_record,
)
from common.standby.record import MAX_TEXT_CHARACTERS, LeaseRecord
from common.standby.store import RecordStore

CHECKS_PER_LEASE = 20
"""How often a candidate reads the store during a lease."""
MAX_CHECK_INTERVAL_SECONDS = 0.5
"""Maximum time between two such reads."""
NOT_ASKED_YET = "not asked yet"
TAKEN_BY_OTHER = "another daemon has the lease"
DELETED = "the record of the lease was deleted from the store: nobody has the lease"
REPLY_TIMEOUTS_PER_LEASE = 6
"""A reply may take a sixth of a lease."""
MAX_REPLY_TIMEOUT_SECONDS = 6.0
"""Upper bound of that time. The watchdog is fed only between replies, and closing the connection
after a lost reply can take this long again.
"""


def reply_timeout(lease: float) -> float:
    """Return the maximum time for a reply of the store, for a lease of that many seconds."""
    return min(lease / REPLY_TIMEOUTS_PER_LEASE, MAX_REPLY_TIMEOUT_SECONDS)


def machine_id() -> str:
    """Return an id of this machine: a hash, which does not disclose ``/etc/machine-id``."""
    with suppress(OSError):
        content = Path("/etc/machine-id").read_bytes().strip()
        return hashlib.sha256(b"novamas standby 1\n" + content).hexdigest()[:32]
    return ""


class TableProgress(NamedTuple):
    """The progress of a daemon: the signed end of its journal, and the highest session and reading
    numbers by table.
    """

    checkpoint: Checkpoint
    sessions: Mapping[str, int]
    readings: Mapping[str, int]


async def _always() -> bool:
    return True


class ClaimConditions(NamedTuple):
    """Conditions under which a candidate may take the lease.

    ``troubles`` returns what keeps it from serving; with one of the kinds in ``barred`` it never
    takes the lease. ``rival`` returns True if another daemon runs and could serve. ``confirm`` is
    awaited directly before the lease is taken, and may refuse.
    """

    troubles: Callable[[], Collection[str]] = tuple
    barred: Collection[str] = ()
    rival: Callable[[], bool] = bool
    confirm: Callable[[], Awaitable[bool]] = _always


class LeaseCandidate:
    """A daemon that waits for the lease.

    ``on_record`` is called with the current record whenever it changes, or with None and the reason
    if the store cannot be read. ``on_alive`` is called before each read.
    """

    def __init__(
        self,
        own: OwnIdentity,
        lease: float,
        store: RecordStore[LeaseRecord],
        fence: Fence,
        on_record: Callable[[LeaseRecord | None, str | None], None] = lambda *_: None,
        on_alive: Callable[[], None] = lambda: None,
        conditions: ClaimConditions | None = None,
    ) -> None:
        self._own, self._lease, self._store, self._fence = own, lease, store, fence
        self._on_record, self._on_alive = on_record, on_alive
        self._conditions = conditions or ClaimConditions()
        self._log = structlog.get_logger()

    async def wait(self) -> LeaseHolder:
        """Wait until this daemon has the lease."""
        waiting, trouble = WaitingState(own=self._own, lease=self._lease), NOT_ASKED_YET
        while True:
            self._on_alive()
            try:
                entry = await self._store.read()
                if trouble or entry.revision != waiting.revision:
                    trouble = ""
                    self._on_record(entry.record, None)
                waiting = observe(waiting, entry.revision, entry.record, clock.boottime())
                if (released := release_of_dead_run(waiting)) is not None:
                    await self._store.write(released, entry.revision)
                    self._log.warning(
                        "lease given back", term=released.term, trouble=released.trouble
                    )
                elif await self._can_acquire(waiting):
                    record, sent = claim_record(waiting, format_utc(clock.wall())), clock.boottime()
                    revision = await self._store.write(record, entry.revision)
                    held = held_after_claim(record, revision, sent)
                    self._fence.extend(held.serve_until)
                    return LeaseHolder(held, self._store, self._fence)
            except OvertakenError:
                pass  # the next read shows the new record
            except (StoreUnreachableError, StoreUnusableError) as error:
                if waiting.revision is None:
                    waiting = replace(waiting, store_was_away=True)
                if not trouble or trouble == NOT_ASKED_YET:  # report once, not for each server
                    trouble = str(error)
                    self._on_record(None, trouble)
            await clock.sleep(min(self._lease / CHECKS_PER_LEASE, MAX_CHECK_INTERVAL_SECONDS))

    async def _can_acquire(self, waiting: WaitingState) -> bool:
        conditions = self._conditions
        troubles = conditions.troubles()
        if any(kind in conditions.barred for kind in troubles):
            return False
        free = free_at(waiting, troubles, rival=conditions.rival())
        return free is not None and clock.boottime() >= free and await conditions.confirm()


class LeaseHolder:
    """The holder of the lease. ``progress`` is called with each renewal once it is set, that is,
    once the journal has its first entry of this run.
    """

    def __init__(self, held: HeldLease, store: RecordStore[LeaseRecord], fence: Fence) -> None:
        self.progress: Callable[[], TableProgress] | None = None
        self.able_leases = 0.0
        """Leases for which the daemon has been able to serve."""
        self._held, self._store, self._fence = held, store, fence
        self._loss_reason = TAKEN_BY_OTHER
        """Why the lease was lost, once it is."""
        self._renewed_at = clock.boottime()
        self._request_lock = asyncio.Lock()
        self._log = structlog.get_logger()

    @property
    def record(self) -> LeaseRecord:
        """Return the record as last written."""
        return self._held.record

    @property
    def tenure(self) -> Tenure:
        """Return the tenure as stored in the journal. The entry that precedes the hand-over is
        filled in later.
        """
        record = self._held.record
        return Tenure(instance=record.instance, term=record.term, before=record.handed)

    def end_process(self, why: str) -> None:
        """End the process at once."""
        self._fence.end(why)

    def check(self) -> None:
        """Return if this daemon may write now, else end the process."""
        self._fence.check()

    async def run(self) -> None:
        """Renew the lease until cancelled."""
        interval = self._held.record.lease / RENEWALS_PER_LEASE
        while True:
            await clock.sleep(max(0.0, self._renewed_at + interval - clock.boottime()))
            if not await self._renew():
                await clock.sleep(interval / CHECKS_PER_LEASE)

    async def confirm(self) -> None:
        """Return once the store has confirmed, in reply to a new request, that this daemon holds
        the lease.
        """
        while not await self._renew():
            await clock.sleep(self._held.record.lease / RENEWALS_PER_LEASE / CHECKS_PER_LEASE)

    async def release(
        self, last: TableProgress | None, trouble: str = "", *, yields: bool = False
    ) -> None:
        """Release the lease. Nothing may be written afterwards.

        ``trouble``: the reason, if this is not an ordinary end; ``yields``: released because
        another daemon could serve.
        """
        record = self._next_record(last)
        record = replace(
            record,
            released=True,
            trouble=trouble[:MAX_TEXT_CHARACTERS],
            yields=record.yields + yields,
        )
        self._fence.lift()
        async with self._request_lock:
            for _ in range(RENEWALS_PER_LEASE):
                try:
                    await self._store.write(record, self._held.revision)
                except OvertakenError:
                    if not await self._reread():
                        return
                except (StoreUnreachableError, StoreUnusableError):
                    continue
                else:
                    self._log.info("lease given back", term=record.term, trouble=trouble)
                    return
        self._log.warning("lease not given back; the other daemon waits until it ends")

    async def _renew(self) -> bool:
        """Try once to renew the lease. Return True if that is confirmed."""
        async with self._request_lock:
            record = self._next_record(None if self.progress is None else self.progress())
            sent = clock.boottime()  # the right is counted from before the request
            try:
                revision = await self._store.write(record, self._held.revision)
            except (OvertakenError, StoreUnreachableError, StoreUnusableError) as error:
                self._log.warning("lease not renewed", reason=str(error))
                if not await self._reread():
                    self._fence.end(self._loss_reason)
                return False
            self._held = held_after_renewal(self._held, record, revision, sent)
            self._renewed_at = sent
            self._fence.extend(self._held.serve_until)
            return True

    def _next_record(self, progress: TableProgress | None) -> LeaseRecord:
        now = format_utc(clock.wall())
        if progress is None:
            return renewal_record(self._held, now, {}, {}, able_leases=self.able_leases)
        numbers = dict(progress.sessions), dict(progress.readings)
        record = renewal_record(self._held, now, *numbers, able_leases=self.able_leases)
        checkpoint = progress.checkpoint
        return replace(record, checkpoint=checkpoint, journal=checkpoint.journal)

    async def _reread(self) -> bool:
        """Read the record after a missing reply. Return False if the lease is lost."""
        try:
            entry = await self._store.read()
        except (StoreUnreachableError, StoreUnusableError):
            return True
        held = held_after_reread(self._held, entry.revision, entry.record)
        if held is None:
            self._loss_reason = DELETED if entry.record is None else TAKEN_BY_OTHER
            return False
        self._held = held
        return True
