"""The right to serve the tables of a node: waited for, renewed while it is held, given back."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from controller.contract.node import Checkpoint
from controller.contract.times import utc
from controller.journal.setup import Tenure
from controller.standby.errors import (
    OvertakenError,
    StoreUnreachableError,
    StoreUnusableError,
)
from controller.standby.fence import Fence, boottime
from controller.standby.lease import (
    RENEWALS,
    Held,
    Own,
    Waiting,
    claim,
    free_from,
    renewal,
    renewed,
    reread,
    saw,
    taken,
)
from controller.standby.record import LONGEST_TEXT, Record
from controller.standby.store import Store
from devices.log import structlog

LOOKS = 20
"""Looks at the store in a lease, while waiting."""
LONGEST_LOOK = 0.5
"""The most seconds between two of them."""
UNASKED = "not asked yet"
OVERTAKEN = "another daemon has the lease"
DELETED = "the record of the lease was deleted from the store: nobody has the lease"
PATIENCE = 6
"""The part of a lease for which an answer is waited for: a sixth."""
LONGEST_PATIENCE = 6.0
"""The most seconds for it: the watchdog hears of us between two answers, and after one that did not
come the connection may take as long to end.
"""


def patience(lease: float) -> float:
    """Seconds for an answer of the store."""
    return min(lease / PATIENCE, LONGEST_PATIENCE)


def machine() -> str:
    """An id of this machine; nobody can tell its ``/etc/machine-id`` from it."""
    with suppress(OSError):
        own = Path("/etc/machine-id").read_bytes().strip()
        return hashlib.sha256(b"novamas standby 1\n" + own).hexdigest()[:32]
    return ""


class Progress(NamedTuple):
    """How far a daemon has come: the end of its journal, signed, and by table the highest numbers
    of a session and of a reading.
    """

    checkpoint: Checkpoint
    sessions: Mapping[str, int]
    readings: Mapping[str, int]


async def _sure() -> bool:
    return True


class ClaimConditions(NamedTuple):
    """What is asked of a daemon that waits before it takes the lease. ``troubles``: what keeps it
    from serving; ``barred``: those of them with which it never takes the lease; ``rival``: whether
    another daemon runs that says it could serve; ``sure``: asked directly before the lease is
    taken.
    """

    troubles: Callable[[], Collection[str]] = tuple
    barred: Collection[str] = ()
    rival: Callable[[], bool] = bool
    sure: Callable[[], Awaitable[bool]] = _sure


class Candidate:
    """A daemon that waits for the lease. ``told`` is called with the record that stands, whenever
    it is another; None: the store does not say.
    """

    def __init__(
        self,
        own: Own,
        lease: float,
        store: Store[Record],
        fence: Fence,
        told: Callable[[Record | None, str | None], None] = lambda *_: None,
        alive: Callable[[], None] = lambda: None,
        conditions: ClaimConditions | None = None,
    ) -> None:
        self._own, self._lease, self._store, self._fence = own, lease, store, fence
        self._told, self._alive = told, alive
        self._conditions = conditions or ClaimConditions()

    async def wait(self) -> Right:
        """Until the lease is ours."""
        waiting, trouble = Waiting(own=self._own, lease=self._lease), UNASKED
        while True:
            self._alive()
            try:
                entry = await self._store.read()
                if trouble or entry.revision != waiting.revision:
                    trouble = ""
                    self._told(entry.record, None)
                waiting = saw(waiting, entry.revision, entry.record, boottime())
                if await self._may_take(waiting):
                    record, sent = claim(waiting, utc(time.time())), boottime()
                    revision = await self._store.write(record, entry.revision)
                    held = taken(record, revision, sent)
                    self._fence.extend(held.until)
                    return Right(held, self._store, self._fence)
            except OvertakenError:
                pass  # which is seen at the next look
            except (StoreUnreachableError, StoreUnusableError) as error:
                if not trouble or trouble == UNASKED:  # once, whichever server it is then
                    trouble = str(error)
                    self._told(None, trouble)
            await asyncio.sleep(min(self._lease / LOOKS, LONGEST_LOOK))

    async def _may_take(self, waiting: Waiting) -> bool:
        """Whether the lease is free, and this daemon could serve."""
        conditions = self._conditions
        troubles = conditions.troubles()
        if any(kind in conditions.barred for kind in troubles):
            return False
        free = free_from(waiting, troubles, rival=conditions.rival())
        return free is not None and boottime() >= free and await conditions.sure()


class Right:
    """The lease, held. ``progress``: asked with each renewal, once the journal has begun."""

    def __init__(self, held: Held, store: Store[Record], fence: Fence) -> None:
        self.progress: Callable[[], Progress] | None = None
        self.able = 0.0
        """Leases for which the daemon has been able to serve."""
        self._held, self._store, self._fence = held, store, fence
        self._lost = OVERTAKEN
        """Why it is this daemon's no more, once it is not."""
        self._renewed = boottime()
        self._one = asyncio.Lock()
        self._log = structlog.get_logger()

    @property
    def record(self) -> Record:
        """As it was last written."""
        return self._held.record

    @property
    def tenure(self) -> Tenure:
        """What the journal keeps of it; the hand-over is not yet told of which entry it follows."""
        record = self._held.record
        return Tenure(instance=record.instance, term=record.term, before=record.handed)

    def end(self, why: str) -> None:
        """End the process at once."""
        self._fence.end(why)

    def hold(self) -> None:
        """Return if we may write now; otherwise the process ends here."""
        self._fence.hold()

    async def keep(self) -> None:
        """Renew it until cancelled."""
        every = self._held.record.lease / RENEWALS
        while True:
            await asyncio.sleep(max(0.0, self._renewed + every - boottime()))
            if not await self._renew():
                await asyncio.sleep(every / LOOKS)

    async def confirm(self) -> None:
        """Return once the store has confirmed, to a request that is sent from now on, that we hold
        it.
        """
        while not await self._renew():  # noqa: ASYNC110 - each turn asks the store
            await asyncio.sleep(self._held.record.lease / RENEWALS / LOOKS)

    async def release(
        self, last: Progress | None, trouble: str = "", *, yields: bool = False
    ) -> None:
        """Give it back, when nothing is written any more. ``trouble``: why, where that is no
        ordinary end; ``yields``: because another daemon could serve.
        """
        record = self._next(last)
        record = replace(
            record,
            released=True,
            trouble=trouble[:LONGEST_TEXT],
            yields=record.yields + yields,
        )
        self._fence.lift()
        async with self._one:
            for _ in range(RENEWALS):
                try:
                    await self._store.write(record, self._held.revision)
                except OvertakenError:
                    if not await self._look_again():
                        return
                except (StoreUnreachableError, StoreUnusableError):
                    continue
                else:
                    self._log.info("lease given back", term=record.term, trouble=trouble)
                    return
        self._log.warning("lease not given back; the other daemon waits until it ends")

    async def _renew(self) -> bool:
        """One try. Returns whether it is confirmed."""
        async with self._one:
            record = self._next(None if self.progress is None else self.progress())
            sent = boottime()  # the right lasts from before the request
            try:
                revision = await self._store.write(record, self._held.revision)
            except (OvertakenError, StoreUnreachableError, StoreUnusableError) as error:
                self._log.warning("lease not renewed", reason=str(error))
                if not await self._look_again():
                    self._fence.end(self._lost)
                return False
            self._held = renewed(self._held, record, revision, sent)
            self._renewed = sent
            self._fence.extend(self._held.until)
            return True

    def _next(self, progress: Progress | None) -> Record:
        now = utc(time.time())
        if progress is None:
            return renewal(self._held, now, {}, {}, able=self.able)
        numbers = dict(progress.sessions), dict(progress.readings)
        record = renewal(self._held, now, *numbers, able=self.able)
        made = progress.checkpoint
        return replace(record, checkpoint=made, journal=made.journal)

    async def _look_again(self) -> bool:
        """After an answer that did not come: whether the lease may still be ours."""
        try:
            entry = await self._store.read()
        except (StoreUnreachableError, StoreUnusableError):
            return True
        again = reread(self._held, entry.revision, entry.record)
        if again is None:
            self._lost = DELETED if entry.record is None else OVERTAKEN
            return False
        self._held = again
        return True
