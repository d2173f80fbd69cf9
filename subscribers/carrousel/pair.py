"""A pair of controllers: one waits and follows the ledger of the other, and serves when it has the
lease.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from common import clock, randomness
from common.chain.checkpoint import public
from common.contract.jackpot import JackpotAlert
from common.contract.version import SOFTWARE
from common.log import structlog
from common.metrics.endpoint import HttpResponse, serve
from common.metrics.text import TEXT_CONTENT_TYPE, exposition
from common.standby.errors import OvertakenError, StoreUnreachableError, StoreUnusableError
from common.standby.exchange import StatementExchange
from common.standby.fence import Fence
from common.standby.lease import RENEWALS_PER_LEASE, OwnIdentity, grace_seconds
from common.standby.ledger_message import LEDGER_SUFFIX, LedgerMessage, ledger_log
from common.standby.record import MAX_TEXT_CHARACTERS, LeaseRecord, read_record
from common.standby.right import (
    CHECKS_PER_LEASE,
    MAX_CHECK_INTERVAL_SECONDS,
    ClaimConditions,
    LeaseCandidate,
    LeaseHolder,
    machine_id,
    reply_timeout,
)
from common.standby.seal import StructSigner
from common.standby.settings import instance_name
from common.standby.shared_people import SharedPeople
from common.standby.statements import (
    BROKER,
    JOURNAL,
    START,
    Board,
    DaemonStatement,
    differences,
    peer_trouble,
    read_board,
    reason_to_yield,
)
from common.standby.store import RecordStore
from common.tasks import end_tasks
from subscribers.carrousel.alerting import AlertReporter
from subscribers.carrousel.checkpoints import signing_key
from subscribers.carrousel.follower import LedgerFollower
from subscribers.carrousel.metrics import STANDBY_FAMILIES, StandbyStatus
from subscribers.carrousel.schema import LedgerError
from subscribers.carrousel.self_check import check_program, configuration_digest
from subscribers.carrousel.service import JackpotController
from subscribers.carrousel.settings import CarrouselSettings
from subscribers.carrousel.store import LedgerStore
from subscribers.carrousel.tenure import RETRY_SECONDS, LedgerTenure, broker_keepalive
from subscribers.carrousel.wiring import order_people
from subscribers.feed.connection import ServiceConnection

STATEMENTS_SUFFIX = ".controllers"
"""Suffix of the lease's key: the key of the statements."""
JOURNAL_ID_CHARACTERS = 32
NO_BROKER = "the broker cannot be reached"
PAIR_ALERTS: tuple[JackpotAlert, ...] = ("standby_unready", "standby_different")
NOT_SERVED = "the jackpots are out of play until that is fixed"
MAKE_ALIKE = "Make the two machines the same"


async def run_in_pair(
    settings: CarrouselSettings,
    ending: asyncio.Event,
    open_ledger: Callable[[Path], LedgerStore] = LedgerStore,
    check_program: Callable[[], str] = check_program,
) -> None:
    """Wait for the lease, then serve until ``ending`` is set. Raises ``PrivateKeyError``,
    ``OSError`` and :class:`LedgerError`.
    """
    pair = ControllerPair(settings, open_ledger)
    try:
        tenure = await pair.wait(ending)
        if tenure is None:
            return
        controller = JackpotController(
            settings, open_ledger=open_ledger, check_program=check_program, tenure=tenure
        )
        async with pair.serving(controller, tenure):
            try:
                await controller.run(ending)
            except Exception as error:
                await pair.fail(error)
                raise
            await pair.release()
    finally:
        await pair.close()


class ControllerPair:
    """One controller of two. Raises :class:`LedgerError` if its key cannot be used."""

    def __init__(
        self, settings: CarrouselSettings, open_ledger: Callable[[Path], LedgerStore]
    ) -> None:
        standby = settings.standby
        assert standby is not None
        path, node, timeout = Path(settings.ledger), settings.node, reply_timeout(standby.lease)
        path.parent.mkdir(parents=True, exist_ok=True)
        key = signing_key(path, None if settings.key is None else Path(settings.key))
        seal, board, entries = (
            StructSigner(f"{settings.site}/{node}{suffix}", lambda: key, standby.keys)
            for suffix in ("", STATEMENTS_SUFFIX, LEDGER_SUFFIX)
        )
        self._settings, self._lease = settings, standby.lease
        self._own = OwnIdentity(
            instance=instance_name(standby),
            boot=randomness.token_hex(4),
            journal=public(key)[:JOURNAL_ID_CHARACTERS],
            machine=machine_id(),
        )
        self._store: RecordStore[LeaseRecord] = RecordStore(
            *(standby, node, timeout, partial(read_record, seal=seal)),
            lambda record: msgspec.json.encode(seal.sign(record)),
        )
        statements: RecordStore[Board] = RecordStore(
            standby, f"{node}{STATEMENTS_SUFFIX}", timeout, partial(read_board, seal=board)
        )
        self._exchange = StatementExchange(
            statements, self._own.journal, standby.lease, self._statement, board
        )
        self._people = order_people(settings)
        self._shared = SharedPeople(standby, node, timeout, lambda: self._people.file)
        self._fence = Fence()
        self._log = ledger_log(standby, node, timeout, entries)
        self._follower = LedgerFollower(
            path=path, log=self._log, key=key, boot=self._own.boot, open_ledger=open_ledger
        )
        self._holder: LeaseHolder | None = None
        self.status = StandbyStatus()
        """The samples of the metrics."""
        self._failure: str | None = None
        self._reaches_broker = False
        """While waiting: whether a connection with a client id of its own is accepted."""
        self._serving_troubles: dict[str, str] = {}
        self._record_seen: tuple[str, int, bool] | None = None
        self._tasks: list[asyncio.Task[Any]] = []
        self._logger = structlog.get_logger()

    async def wait(self, ending: asyncio.Event) -> LedgerTenure | None:
        """Wait for the lease while following the ledger. Return None at ``ending``."""
        self._logger.info("the controller waits for the lease", instance=self._own.instance)
        await self._follower.step()
        self._own = replace(self._own, term=self._follower.last_term())
        candidate = LeaseCandidate(
            *(self._own, self._lease, self._store, self._fence),
            on_record=self._on_record,
            conditions=ClaimConditions(
                troubles=self._troubles,
                barred=(JOURNAL,),
                rival=lambda: self._exchange.rival() is not None,
                confirm=self._confirm,
            ),
        )
        self._tasks = [asyncio.create_task(self._exchange_statements(), name="statements")]
        following = asyncio.create_task(self._follow(), name="follower")
        probe = ServiceConnection(
            *(self._settings.broker, (), None, lambda *_: None, self._on_broker),
            keepalive=broker_keepalive(self._lease),
        )
        probing = asyncio.create_task(probe.run(), name="broker")
        pages = [
            asyncio.create_task(serve(listen, {b"/metrics": self._metrics}), name="metrics")
            for listen in (self._settings.listen,)
            if listen is not None
        ]
        claiming = asyncio.create_task(candidate.wait(), name="lease")
        stopping = asyncio.create_task(ending.wait())
        try:
            await asyncio.wait(
                (claiming, stopping, following, probing, *self._tasks),
                return_when=asyncio.FIRST_COMPLETED,
            )
            for task in (following, probing, *self._tasks):
                if task.done():
                    task.result()  # raises the exception of a bug, which ends the process
            if not claiming.done():
                return None
            holder = self._holder = claiming.result()
        finally:
            probe.end()
            await end_tasks(claiming, stopping, following, probing, *pages)
        renewing = asyncio.create_task(holder.run(), name="renewal")
        self._tasks.append(renewing)
        self._logger.info("lease taken", instance=self._own.instance, term=holder.record.term)
        sequence = await self._begin_term(holder)
        await self._people.share(self._shared)
        self._follower.close()
        client_id = f"carrousel-{self._settings.site}-{self._settings.node}"
        self.status = StandbyStatus(term=holder.record.term)
        return LedgerTenure(
            holder=holder,
            log=self._log,
            sequence=sequence,
            client_id=client_id,
            people=self._people,
            status=self.status,
        )

    @asynccontextmanager
    async def serving(
        self, controller: JackpotController, tenure: LedgerTenure
    ) -> AsyncIterator[None]:
        """Watch this controller and the other one while the context lasts."""
        watching = (
            asyncio.create_task(self._watch_other(controller.alerts), name="other controller"),
            asyncio.create_task(self._watch_broker(controller, tenure), name="broker"),
        )
        try:
            yield
        finally:
            await end_tasks(*watching)

    async def _watch_broker(self, controller: JackpotController, tenure: LedgerTenure) -> None:
        """Yield the ledger once this controller has not reached the broker for a while and the
        other one, which does, could serve.
        """
        holder = self._holder
        assert holder is not None
        start = able_since = clock.boottime()
        worse_since: float | None = None
        while True:
            await clock.sleep(min(self._lease / CHECKS_PER_LEASE, MAX_CHECK_INTERVAL_SECONDS))
            now = clock.boottime()
            self._serving_troubles = {} if controller.is_connected else {BROKER: NO_BROKER}
            if self._serving_troubles:
                able_since = now
            holder.able_leases = (now - able_since) / self._lease
            reason = reason_to_yield(self._serving_troubles, {}, self._exchange.rival())
            if reason is None or now - start < self._lease:
                worse_since = None
            elif worse_since is None:
                worse_since = now
            elif now - worse_since >= grace_seconds(holder.record):
                await tenure.give_up(reason, yields=True)

    async def release(self) -> None:
        """Give the lease back after an orderly end."""
        if self._holder is not None:
            await end_tasks(*self._tasks)
            await self._holder.release(None)

    async def fail(self, error: Exception) -> None:
        """Give the lease back after the run has failed."""
        self._failure = f"{type(error).__name__}: {error}"[:MAX_TEXT_CHARACTERS]
        if self._holder is not None:
            await end_tasks(*self._tasks)
            await self._holder.release(None, f"the run failed: {self._failure}")

    async def close(self) -> None:
        """Close the ledger and the connections to the store."""
        self._fence.lift()
        await end_tasks(*self._tasks)
        self._follower.close()
        await self._exchange.close()
        await self._shared.close()
        await self._log.close()
        await self._store.close()

    async def _follow(self) -> None:
        while True:
            await self._follower.step()
            await clock.sleep(min(self._lease / CHECKS_PER_LEASE, MAX_CHECK_INTERVAL_SECONDS))

    async def _confirm(self) -> bool:
        """Return whether the ledger has everything and its disk can be written, directly before the
        lease is taken.
        """
        await self._follower.step()
        return self._follower.trouble is None and await self._follower.is_writable()

    async def _begin_term(self, holder: LeaseHolder) -> int:
        """Follow the log to its end and append the beginning of this term. From then on nothing
        that an earlier holder sends can be appended. Returns the sequence of the beginning.
        """
        follower = self._follower
        while True:
            await follower.step()
            try:
                if follower.trouble is None:
                    await follower.open_own()
                    books = follower.books
                    message = LedgerMessage(
                        ledger=books.store.id,
                        term=holder.record.term,
                        instance=self._own.instance,
                        position=books.position,
                        head=books.store.committed.hash.hex(),
                    )
                    return await self._log.append(message, follower.sequence)
                reason = follower.trouble
            except OvertakenError:
                continue
            except LedgerError as error:
                reason = str(error)
            except (StoreUnreachableError, StoreUnusableError):
                await clock.sleep(RETRY_SECONDS)
                continue
            await holder.release(None, reason[:MAX_TEXT_CHARACTERS])
            holder.end_process(reason)

    async def _metrics(self) -> HttpResponse:
        """Return the page for Prometheus while waiting."""
        self.status.is_unable = bool(self._troubles())
        page = await exposition(STANDBY_FAMILIES, self.status.values())
        return HttpResponse(page, TEXT_CONTENT_TYPE)

    async def _exchange_statements(self) -> None:
        """Exchange statements and the people file with the other controller, until cancelled."""
        while True:
            await self._people.share(self._shared)
            await self._exchange.publish()
            await clock.sleep(self._lease / RENEWALS_PER_LEASE)

    def _troubles(self) -> dict[str, str]:
        """Return what keeps this controller from serving."""
        trouble = self._follower.trouble
        troubles = {} if self._reaches_broker else {BROKER: NO_BROKER}
        return troubles | ({} if trouble is None else {JOURNAL: trouble[:MAX_TEXT_CHARACTERS]})

    def _on_broker(self, up: bool) -> None:
        self._reaches_broker = up

    def _statement(self, beat: int) -> DaemonStatement:
        own, serves = self._own, self._holder is not None
        troubles = self._serving_troubles if serves else self._troubles()
        if self._failure is not None:
            troubles = {START: self._failure}
        return DaemonStatement(
            instance=own.instance,
            boot=own.boot,
            journal=own.journal,
            machine=own.machine,
            beat=beat,
            lease=self._lease,
            serves=serves,
            troubles=troubles,
            facts={
                "release": SOFTWARE,
                "configuration": configuration_digest(self._settings)[:JOURNAL_ID_CHARACTERS],
                "people file": self._people.digest,
            },
        )

    async def _watch_other(self, alerts: AlertReporter) -> None:
        """Raise alerts while the other controller could not take over, or differs from this one."""
        peer_seen = clock.boottime()
        open_alerts: dict[JackpotAlert, str] = {}
        before = ""
        while True:
            await clock.sleep(self._lease)
            others = [each for each in self._exchange.running_peers() if not each.serves]
            now = clock.boottime()
            if others:
                peer_seen = now
            unready = peer_trouble(others, (now - peer_seen) / self._lease)
            own = self._statement(0)
            different = "; ".join(found for other in others for found in differences(own, other))
            self.status.is_unready = unready is not None or not others or bool(different)
            problems: dict[JackpotAlert, str] = {}
            if unready is not None:
                problems["standby_unready"] = f"{unready}. If this controller ends, {NOT_SERVED}"
            if different and different == before:  # not a file that was replaced just now
                problems["standby_different"] = f"{different}. {MAKE_ALIKE}"
            for kind in PAIR_ALERTS:
                if problems.get(kind) != open_alerts.get(kind):
                    alerts.report_or_clear(kind, problems.get(kind))
            open_alerts, before = problems, different

    def _on_record(self, record: LeaseRecord | None, trouble: str | None) -> None:
        if trouble is not None:
            self._logger.warning("the lease cannot be read", reason=trouble)
            return
        seen = None if record is None else (record.instance, record.term, record.released)
        if record is not None and seen != self._record_seen and not record.released:
            self._logger.info(
                "another controller has the lease", instance=record.instance, term=record.term
            )
        self._record_seen = seen
