"""A daemon in a pair: it waits for the lease of its tables, and serves them while it holds the
lease.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from common import clock
from common.chain.hand_over import Tenure
from common.chain.schema import Entry, new_boot
from common.contract.node import ReloadHealth, StandbyHealth
from common.contract.times import format_utc
from common.contract.version import VERSION
from common.errors import NovamasError
from common.log import structlog
from common.people.people_file import PeopleFile, PeopleInForce
from common.people.register import PeopleError
from common.standby.exchange import StatementExchange
from common.standby.fence import Fence
from common.standby.lease import RENEWALS_PER_LEASE, OwnIdentity, grace_seconds
from common.standby.record import MAX_TEXT_CHARACTERS, merge_highest, read_record
from common.standby.right import (
    CHECKS_PER_LEASE,
    MAX_CHECK_INTERVAL_SECONDS,
    ClaimConditions,
    LeaseCandidate,
    LeaseHolder,
    TableProgress,
    machine_id,
    reply_timeout,
)
from common.standby.seal import StructSigner
from common.standby.settings import instance_name
from common.standby.shared_people import SharedPeople
from common.standby.statements import (
    BROKER,
    DEVICES,
    JOURNAL,
    KEY,
    START,
    Board,
    DaemonStatement,
    Missing,
    peer_trouble,
    read_board,
    reason_to_yield,
)
from common.standby.store import RecordStore
from common.tasks import end_tasks
from controller.configuration.settings import Configuration
from controller.journal.journal import Journal
from controller.journal.setup import Boot
from controller.mqtt.publisher import Exclusive
from controller.proof.checkpoint_signer import CheckpointSigner
from controller.service import logs
from controller.service.ability import Ability
from controller.service.differences import Differences, log_differences
from controller.service.duty import Duty
from controller.service.in_force import InForce
from controller.service.people_in_force import people_file
from controller.service.readiness import Readiness
from controller.service.reload import Reload
from controller.service.reload_answer import ReloadReply, write_reply
from controller.service.scraping import serve_metrics
from controller.service.systemd_notify import KEEP_ALIVE, notify
from controller.service.waiting_report import WaitingReport

if TYPE_CHECKING:
    from common.metrics.endpoint import HttpResponse

KEEPALIVE_LEASES = 1 / 3
"""Longest keepalive of the connection to the broker, as a share of the lease: a broker that falls
silent between two events is noticed within two of them.
"""
MIN_KEEPALIVE_SECONDS = 2
"""Lower bound of that time. A broker ends a connection that was silent for half as long again."""
FAILURE_REPORT_LEASES = 6
"""Leases for which a daemon reports the failure of its previous run."""
STATEMENTS_SUFFIX = ".daemons"
"""Suffix of the lease's key: the key of the statements."""


class Pair:
    """One daemon of two. Until it has the lease, it only opens its journal, and reloads its
    configuration from ``file`` on request. Raises ``JournalUnusableError``.
    """

    def __init__(
        self,
        configuration: Configuration,
        file: Path | None = None,
        open_journal: Callable[[Path], Journal] = Journal,
    ) -> None:
        settings = configuration.standby
        assert settings is not None
        self.boot = new_boot()
        self.journal = open_journal(Path(configuration.journal.path))
        self._settings = settings
        self._reload = Reload(configuration=configuration, file=file, report=self._report_reload)
        self.reloaded = self._reload.health
        """Returns the outcome of the last reload while waiting."""
        self._path, self._credential = (
            Path(configuration.journal.path),
            configuration.journal.key_credential,
        )
        self._signer = CheckpointSigner(self._path, self.boot, self._credential)
        node, timeout = configuration.site.node, reply_timeout(settings.lease)
        seal, board = (
            StructSigner(
                f"{configuration.site.id}/{name}", lambda: self._signer.signer, settings.keys
            )
            for name in (node, f"{node}{STATEMENTS_SUFFIX}")
        )
        self._store = RecordStore(
            *(settings, node, timeout, partial(read_record, seal=seal)),
            lambda record: msgspec.json.encode(seal.sign(record)),
        )
        statements: RecordStore[Board] = RecordStore(
            settings, f"{node}{STATEMENTS_SUFFIX}", timeout, partial(read_board, seal=board)
        )
        self._fence = Fence(logs.drain)
        self._own, self._previous_tenure = _own_identity(
            self.journal, instance_name(settings), self.boot
        )
        self._exchange = StatementExchange(
            statements, self.journal.id, settings.lease, self._state, board
        )
        last_boot = self.journal.latest("boot")
        self._people = _usable_people_file(configuration, last_boot)
        self._in_force = InForce(waiting=lambda: self.configuration, people=self._people)
        self._shared = SharedPeople(settings, node, timeout, self._in_force.people_file)
        self._exchanging: asyncio.Task[None] | None = None
        self._renewing: asyncio.Task[None] | None = None
        self._readiness: Readiness | None = None
        """Set while waiting."""
        self._ability = Ability(journal=self.journal, lease=settings.lease)
        self._differences = Differences()
        self._failure: str | None = None
        """Reason of the failure of this run."""
        self._previous_failure: tuple[str, float] | None = None
        """Reason of the failure of the previous run, and the time until which it is reported."""
        self.yields = asyncio.Event()
        """Set when the tables are to pass to the other daemon, which can serve."""
        self._cause = ""
        self._right: LeaseHolder | None = None
        self._final_progress: TableProgress | None = None
        self._report = WaitingReport(self.reloaded)
        self._log = structlog.get_logger()

    @property
    def configuration(self) -> Configuration:
        """The configuration to serve."""
        return self._reload.now

    async def wait(self, stop: asyncio.Event, reload_requested: asyncio.Event) -> bool:
        """Wait for the lease. Return True when this daemon has it, False at ``stop``. Meanwhile
        reload the configuration whenever ``reload_requested`` is set.
        """
        self.journal.announce()
        self._log.info("daemon waits for the lease of its tables", instance=self._own.instance)
        self._report.set_status("waits for the lease of its tables", "READY=1")
        self._readiness = readiness = Readiness(
            lambda: self.configuration, self.journal, self._settings.lease
        )
        candidate = LeaseCandidate(
            *(self._own, self._settings.lease, self._store, self._fence),
            on_record=self._report.on_lease,
            on_alive=lambda: notify(KEEP_ALIVE),
            conditions=ClaimConditions(
                troubles=lambda: self._waiting_troubles(readiness),
                barred=(JOURNAL, KEY),
                rival=lambda: self._exchange.rival() is not None,
                confirm=readiness.try_journal,
            ),
        )
        self._exchanging = asyncio.create_task(self._exchange_statements(), name="statements")
        claiming, stopping = (
            asyncio.create_task(candidate.wait()),
            asyncio.create_task(stop.wait()),
        )
        reloading = asyncio.create_task(self._reload.run(reload_requested))
        looking = (
            asyncio.create_task(readiness.run(), name="readiness"),
            asyncio.create_task(self._try_devices(readiness), name="devices"),
        )
        endless = (reloading, self._exchanging, *looking)
        tasks: list[asyncio.Task[Any]] = [claiming, stopping, reloading, *looking]
        if listen := self.configuration.metrics.listen:
            tasks.append(asyncio.create_task(serve_metrics(listen, self._metrics_page())))
        try:
            await asyncio.wait((claiming, stopping, *endless), return_when=asyncio.FIRST_COMPLETED)
            for task_of_daemon in endless:
                if task_of_daemon.done():
                    task_of_daemon.result()  # raises the exception of a bug, which ends the daemon
            if not claiming.done():
                return False
            self._right = claiming.result()
        finally:
            await end_tasks(*tasks)
            self._readiness = None
            self._report.waits = False
        record = self._lease_right.record
        self._ability.troubles = {}
        self._log.info(
            "lease taken", instance=record.instance, term=record.term, first=record.first
        )
        return True

    @contextlib.asynccontextmanager
    async def renewing(self) -> AsyncIterator[None]:
        """Renew the lease while the context lasts."""
        keeping = self._renewing = asyncio.create_task(self._lease_right.run(), name="lease")
        keeping.add_done_callback(self._on_renewal_end)
        try:
            yield
        finally:
            await end_tasks(keeping)

    def _on_renewal_end(self, keeping: asyncio.Task[None]) -> None:
        """Log a bug: the lease is no longer renewed, and the process ends with it."""
        if not keeping.cancelled():
            self._log.error("the lease is renewed no longer", exc_info=keeping.exception())

    async def _exchange_statements(self) -> None:
        """Exchange statements and the people file with the other daemon, until cancelled."""
        while True:
            if self._in_force.duty is None and (file := self._people) is not None:
                if (newer := await asyncio.to_thread(file.read_newer)) is not None:
                    file.put_in_force(newer)
                if (later := self._shared.offered(file)) is not None:
                    file.put_in_force(later)
                    number = later.people.head.number
                    self._log.info("people file of the other daemon", number=number)
            await self._shared.exchange()
            await self._exchange.publish()
            if self._in_force.duty is None:
                self._compare(log_differences)
            await clock.sleep(self._settings.lease / RENEWALS_PER_LEASE)

    def offered(self, file: PeopleFile) -> PeopleInForce | None:
        """Return the other daemon's people file if it is newer than this one."""
        return self._shared.offered(file)

    def _compare(self, report: Callable[[str | None], None], *more: str) -> None:
        peers = self._exchange.running_peers()
        self._differences.compare(self._state(0), peers, report, *more)

    async def watch(self, duty: Duty) -> None:
        """Check whether this daemon and the other one can serve, until the tables are to pass to
        the other daemon.
        """
        seconds, ability = self._settings.lease, self._ability
        self._in_force.duty, self._differences.reported = duty, None
        abandoned: set[str] = set()
        start = able_since = peer_seen = clock.boottime()
        better_since: float | None = None
        reported: str | None = None
        while not self.yields.is_set():
            await clock.sleep(min(seconds / CHECKS_PER_LEASE, MAX_CHECK_INTERVAL_SECONDS))
            now = clock.boottime()
            if self._exchanging is not None and self._exchanging.done():
                self._exchanging.result()  # raises the exception of a bug
            ability.check(duty)
            if ability.troubles:
                able_since = now
            self._lease_right.able_leases = (now - able_since) / seconds
            reason = reason_to_yield(ability.troubles, ability.missing, self._exchange.rival())
            if reason is None or now - start < seconds:
                better_since = None
            elif better_since is None:
                better_since = now
            elif now - better_since >= grace_seconds(self._lease_right.record):
                self._cause = reason
                self.yields.set()
            if better_since is not None and BROKER in ability.troubles:
                duty.hasten()
            for peer in self._exchange.peers.values():
                served = peer.statement.tables if peer.statement.serves else {}
                if abandoned_now := served.keys() - self._in_force.tables() - abandoned:
                    abandoned |= abandoned_now
                    duty.abandon({name: served[name] for name in abandoned_now})
            lost = ", ".join(sorted(abandoned - self._in_force.tables()))
            self._compare(duty.differ, *([f"nobody serves {lost}"] if lost else []))
            others = [each for each in self._exchange.running_peers() if not each.serves]
            if others:
                peer_seen = now
            if (other := peer_trouble(others, (now - peer_seen) / seconds)) != reported:
                reported = other
                duty.alert(reported)
        await asyncio.Event().wait()

    def begin(self) -> Tenure:
        """Return the tenure as stored in the journal. Every table whose state is older publishes
        the hand-over.
        """
        record = self._lease_right.record
        tenure = self._lease_right.tenure
        if self._previous_tenure is not None and record.first <= self._own.term <= record.term:
            hand_over = self._previous_tenure.before
        elif (hand_over := tenure.before) is not None:
            restored = self.journal.restored
            restored_sessions = {} if restored is None else restored.sessions
            sessions = merge_highest(hand_over.sessions, restored_sessions)
            if restored is not None and hand_over.journal == restored.journal:
                # the journal that was lost here: no other daemon has served the tables
                self.journal.restored = replace(restored, sessions=sessions)
                hand_over = None
            else:
                through = self.journal.head()
                hand_over = replace(hand_over, at=record.since, through=through, sessions=sessions)
        self.journal.hand_over = hand_over
        return replace(tenure, before=hand_over)

    def health(self) -> StandbyHealth:
        """Return the health of this daemon in the pair."""
        record = self._lease_right.record
        return StandbyHealth(instance=record.instance, term=record.term, since=record.since)

    def exclusive(self) -> Exclusive:
        """Return the checks of the publisher before it writes."""
        right = self._lease_right
        return Exclusive(
            right.check,
            right.confirm,
            taken_over=self.journal.hand_over is not None,
            max_keepalive=max(MIN_KEEPALIVE_SECONDS, int(KEEPALIVE_LEASES * self._settings.lease)),
        )

    def hold(self) -> None:
        """Return if this daemon may write now; otherwise end the process."""
        self._lease_right.check()

    def set_progress_source(self, progress: Callable[[], TableProgress]) -> None:
        """Set the source of the progress that is stored with each renewal."""
        self._lease_right.progress = progress

    def ended(self, last: TableProgress) -> None:
        """Set the final progress: nothing is published after it."""
        self._final_progress = last

    async def release(self) -> None:
        """Give the lease back after a clean stop."""
        if self._final_progress is not None:
            await self._lease_right.release(self._final_progress)

    async def fail(self, error: Exception) -> None:
        """Give the lease back after the run has failed, before or while it served. It writes
        nothing more.
        """
        has_message = isinstance(error, NovamasError | OSError)
        reason = str(error) if has_message else type(error).__name__
        self._failure = reason
        self._fence.lift()
        with contextlib.suppress(TimeoutError):  # the process must end soon
            async with asyncio.timeout(2 * reply_timeout(self._settings.lease)):
                await self._exchange.publish()
        await self._lease_right.release(None, f"the run failed: {reason}")

    async def let_go(self) -> None:
        """Give the lease to the other daemon, as last renewed, and end the process. Nothing waits
        for parts that hang: unpublished events are published when this daemon serves again.
        """
        if self._renewing is not None:
            await end_tasks(self._renewing)
        await self._lease_right.release(None, self._cause, yields=True)
        self._lease_right.end_process(f"the other daemon can serve the tables: {self._cause}")

    async def close(self) -> None:
        """Close the connection to the store, and the journal."""
        self._fence.lift()
        if self._exchanging is not None:
            await end_tasks(self._exchanging)
        await self._exchange.close()
        await self._shared.close()
        await self._store.close()
        await asyncio.to_thread(self.journal.close)

    def _state(self, beat: int) -> DaemonStatement:
        """Return this daemon's statement about itself."""
        own, readiness = self._own, self._readiness
        troubles = (
            self._ability.troubles if readiness is None else self._waiting_troubles(readiness)
        )
        if self._failure is not None:
            troubles = {START: self._failure}
        return DaemonStatement(
            instance=own.instance,
            boot=own.boot,
            journal=own.journal,
            machine=own.machine,
            beat=beat,
            lease=self._settings.lease,
            serves=readiness is None,
            troubles={kind: what[:MAX_TEXT_CHARACTERS] for kind, what in troubles.items()},
            missing={} if readiness is not None else self._ability.missing,
            reached=() if readiness is None else readiness.reached,
            facts=self._in_force.facts(),
            tables={table.id: table.simulated for table in self._in_force.configuration().table},
        )

    def _waiting_troubles(self, readiness: Readiness) -> dict[str, str]:
        """Return what would prevent this daemon from serving, while it waits."""
        troubles = readiness.troubles
        if self._signer.signer is None:
            self._signer = CheckpointSigner(self._path, self.boot, self._credential)
        if self._signer.trouble is not None:
            troubles[KEY] = f"it cannot sign the lease: {self._signer.trouble}"
        previous = self._exchange.previous
        if self._previous_failure is None and previous is not None and START in previous.troubles:
            until = clock.boottime() + FAILURE_REPORT_LEASES * self._settings.lease
            self._previous_failure = previous.troubles[START], until
        if self._previous_failure is not None and clock.boottime() < self._previous_failure[1]:
            troubles[START] = f"its last run failed: {self._previous_failure[0]}"
        self._ability.troubles = troubles
        self._report.on_troubles(troubles, is_known=readiness.is_known)
        return troubles

    async def _try_devices(self, readiness: Readiness) -> None:
        """Try to reach the devices that the other daemon, which serves, cannot reach."""
        while True:
            missing: dict[str, Missing] = {}
            for other in self._exchange.running_peers():
                if other.serves and DEVICES in other.troubles:
                    missing |= other.missing
            await readiness.try_devices(missing)
            await clock.sleep(self._settings.lease / RENEWALS_PER_LEASE)

    @property
    def _lease_right(self) -> LeaseHolder:
        assert self._right is not None
        return self._right

    def _report_reload(self, outcome: ReloadHealth, started_at: int) -> None:
        """Report a reload that began at ``started_at`` (monotonic clock, nanoseconds)."""
        write_reply(self.journal.path, ReloadReply(self.boot, started_at, outcome, waits=True))
        self._report.repeat_status("READY=1")

    def _metrics_page(self) -> Callable[[], Awaitable[HttpResponse]]:
        """Return the page for Prometheus while waiting."""
        from controller.service.metrics import waiting_page  # imported late: few serve them

        site = self.configuration.site
        return waiting_page(
            site.id, site.node, VERSION, self.reloaded, lambda: bool(self._report.logged)
        )


def _usable_people_file(configuration: Configuration, last: Entry | None) -> PeopleFile | None:
    """Return the people file that would be in force; an unusable one ends the daemon only when it
    serves.
    """
    try:
        return people_file(configuration, last)
    except PeopleError:
        return None


def _own_identity(journal: Journal, name: str, boot: str) -> tuple[OwnIdentity, Tenure | None]:
    last, entry = journal.latest("boot"), journal.latest()
    tenure = None if last is None else msgspec.json.decode(last.body, type=Boot).standby
    own = OwnIdentity(
        instance=name,
        boot=boot,
        journal=journal.id,
        machine=machine_id(),
        term=0 if tenure is None else tenure.term,
        last_written=format_utc(clock.wall()) if entry is None else entry.time,
    )
    return own, tenure
