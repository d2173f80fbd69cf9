"""The daemon: runs the devices, tables, journal and publisher of a configuration in one task group
until it is stopped.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from common import clock
from common.chain.schema import Entry, new_boot
from common.contract.node import ReloadHealth
from common.contract.retained import Alert
from common.contract.topics import Topics
from common.log import structlog
from common.people.people_file import PeopleFile, PeopleInForce
from common.people.seen import SeenCommands
from common.people.signed_command import CLOCK_TOLERANCE_SECONDS, seen_before
from common.readings import AnyReading
from common.wakeup import Wakeup
from controller.configuration.settings import BrokerConfig, Configuration
from controller.journal.journal import Journal
from controller.journal.setup import Boot
from controller.mqtt.embedded_broker import broker_to_publish_to
from controller.mqtt.publisher import Publisher
from controller.mqtt.served_table import ServedTable
from controller.mqtt.tables_api import TablesApi
from controller.proof.journal_upkeep import JournalUpkeep
from controller.service.building import TableBuilder
from controller.service.certificates import CertificateWatch
from controller.service.collector import exempt_started, exempt_when_settled
from controller.service.ending import (
    CLEAN_STOP_SECONDS,
    FAILURE_TIMEOUT_SECONDS,
    Deadline,
    cancel_all,
)
from controller.service.health import HealthPublisher, HealthReporter
from controller.service.journal_alerts import JournalAlerts
from controller.service.people_in_force import people_file
from controller.service.people_watch import PeopleWatch, adopt_offered, people_setup
from controller.service.privacy import exposed, exposed_secrets
from controller.service.reload import ReloadTables, ServedFloor
from controller.service.reload_answer import ReloadReply, write_reply
from controller.service.scraping import serve_metrics
from controller.service.signals import handled_signals
from controller.service.signed_before import tokens
from controller.service.systemd_notify import notify, watchdog_interval
from controller.service.tasks import DaemonTasks
from controller.service.time_watch import TimeWatch
from controller.service.watchdog import Watchdog
from controller.tables.after_restore import unreported
from controller.tables.runner import TableRunner
from controller.tables.stages import Stages

if TYPE_CHECKING:
    from common.metrics.endpoint import HttpResponse
    from common.standby.right import TableProgress
    from controller.service.duty import Duty
    from controller.service.pair import Pair

HAND_OVER_SECONDS = 0.5
"""Seconds for the tasks to end when the tables pass to the other daemon of the pair."""


async def serve(configuration: Configuration, deadline: Deadline, file: Path | None = None) -> None:
    """Run until SIGTERM or SIGINT, which start the ``deadline``, or until the controlling terminal
    is closed, except under ``nohup``. Any other SIGHUP reloads the configuration from ``file``.

    Raises ``JournalUnusableError``, ``OSError`` if the embedded broker cannot listen, and a group
    with :class:`~controller.service.ending.TaskDiedError` if an essential task has ended.
    """
    stop, reload_requested = asyncio.Event(), asyncio.Event()
    deadline.names_tasks_of(asyncio.get_running_loop())
    with handled_signals(deadline, stop, reload_requested):
        if configuration.standby is None:
            daemon = Daemon(configuration, deadline, file=file, reload_requested=reload_requested)
            await daemon.run(stop)
        else:
            await serve_in_pair(configuration, deadline, file, reload_requested, stop)


async def serve_in_pair(
    configuration: Configuration,
    deadline: Deadline,
    file: Path | None,
    reload_requested: asyncio.Event,
    stop: asyncio.Event,
    open_journal: Callable[[Path], Journal] = Journal,
) -> None:
    """Wait until this daemon has the lease of the tables, then serve them until ``stop``."""
    from controller.service.pair import Pair  # imported late: few daemons are in a pair

    pair = Pair(configuration, file, open_journal)
    try:
        if await pair.wait(stop, reload_requested):
            try:
                async with pair.renewing():
                    daemon = Daemon(
                        pair.configuration,
                        deadline,
                        file=file,
                        reload_requested=reload_requested,
                        pair=pair,
                    )
                    await daemon.run(stop)
            except Exception as error:
                await pair.fail(error)
                raise
            await pair.release()
    finally:
        await pair.close()


class Daemon:
    """All tables of one configuration, which is reloaded from ``file`` when ``reload_requested`` is
    set. ``pair``: its place in a pair, which holds the lease and the journal. Raises
    ``JournalUnusableError`` and ``KeyFileError``.
    """

    def __init__(
        self,
        configuration: Configuration,
        deadline: Deadline,
        *,
        file: Path | None = None,
        reload_requested: asyncio.Event | None = None,
        pair: Pair | None = None,
        open_journal: Callable[[Path], Journal] = Journal,
    ) -> None:
        self.boot = new_boot() if pair is None else pair.boot
        self._pair = pair
        self._file, self._reload_requested = file, reload_requested or asyncio.Event()
        self._deadline = deadline
        self._configuration = configuration
        self._log = structlog.get_logger()
        self._health_due = Wakeup()
        self._stages = Stages()
        self._journal = (
            open_journal(Path(configuration.journal.path)) if pair is None else pair.journal
        )
        self._publisher: Publisher | None = None
        self._places: dict[str, ServedTable] = {}
        self._runners: list[TableRunner] = []
        """The runners of all places; the list is updated in place."""
        self._tasks: DaemonTasks | None = None
        self._alerts: dict[str, Alert] = {}
        self._journal_alerts = JournalAlerts(
            journal=self._journal,
            places=self._places,
            alerts=self._alerts,
            changed=self._changed,
            health_due=self._health_due.set,
        )
        self._journal.on_change = self._journal_alerts.on_change
        self._journal.on_aside = self._journal_alerts.on_aside
        if reload_requested is not None:
            self._journal.announce()
        try:
            self._begin(configuration, pair)
        except BaseException:
            self._journal.close()
            raise
        if self._journal.set_aside is not None or self._journal.lost is not None:
            self._journal_alerts.on_aside()
        if self._journal.failed is not None:  # it failed while waiting in a pair
            self._journal_alerts.on_change(self._journal.failed)
        readable = exposed(Path(configuration.journal.path), Path(configuration.recordings.path))
        if readable := [*readable, *exposed_secrets(configuration.broker)]:
            self._log.warning(
                "other users of this machine can read these files; run chmod go= on them",
                files=[str(path) for path in readable],
            )

    def _begin(self, configuration: Configuration, pair: Pair | None) -> None:
        """Begin a run in the journal, and build its tables."""
        site = configuration.site
        last_boot = self._journal.latest("boot")
        # the other daemon of a pair may have executed commands unknown to this journal
        is_new = last_boot is None and self._journal.set_aside is None and pair is None
        seen = SeenCommands(0.0 if is_new else clock.wall() + CLOCK_TOLERANCE_SECONDS)
        seen.restore(seen_before(tokens(self._journal)), clock.wall())
        self._people = people_file(configuration, last_boot)
        self._builder = TableBuilder(
            configuration=configuration,
            boot=self.boot,
            journal=self._journal,
            stages=self._stages,
            seen=seen,
            people=self._people,
            signer=lambda: self._upkeep.signer,
            changed=self._changed,
            moved=self._moved,
            health_due=self._health_due.set,
            hold=(lambda: None) if pair is None else pair.hold,
        )
        self._builder.prepare(configuration)
        tenure = None if pair is None else pair.begin()
        adopt_offered(self._people, self._offered_people)
        self._upkeep = JournalUpkeep(
            configuration=configuration,
            run=self.boot,
            journal=self._journal,
            alerts=self._alerts,
            changed=self._changed,
            people=people_setup(configuration, self._people),
            standby=tenure,
        )
        unpublished = {
            table.id: unreported(self._journal, table.id) for table in configuration.table
        }
        for table in configuration.table:
            self._places[table.id] = self._builder.build_place(table)
        self._runners[:] = (place.runner for place in self._places.values())
        # The node's own topics are among the simulated ones only if every table is simulated.
        node = Topics(site.id, simulated=all(table.simulated for table in configuration.table))
        self._api = TablesApi(
            site.node,
            self.boot,
            node,
            self._places,
            response_topics=configuration.broker.response_topics,
            leased=pair is not None,
        )
        for root in _previous_roots(last_boot, site.id):
            self._api.claims.add_root(root)
        self._api.alerts = self._alerts
        self._people_watch = PeopleWatch(
            configuration=configuration,
            file=self._people,
            api=self._api,
            places=self._places,
            upkeep=self._upkeep,
            alerts=self._alerts,
            offered=self._offered_people,
            changed=self._changed,
            health_due=self._health_due.set,
        )
        self._people_watch.report()
        self._journal_alerts.on_start(unpublished)
        if pair is not None:
            pair.set_progress_source(self._progress)

    def _offered_people(self, file: PeopleFile) -> PeopleInForce | None:
        """Return the people file of the other daemon of a pair if it is newer."""
        return None if self._pair is None else self._pair.offered(file)

    async def run(self, stop: asyncio.Event) -> None:
        """Serve the tables until ``stop``; then store and publish what is pending, and publish
        ``offline``.
        """
        try:
            async with broker_to_publish_to(self._configuration.broker) as broker:
                await self._serve(broker, stop)
        finally:
            await asyncio.to_thread(self._journal.close)

    async def _serve(self, broker: BrokerConfig, stop: asyncio.Event) -> None:
        pair = self._pair
        self._publisher = publisher = self._make_publisher(broker)
        async with asyncio.TaskGroup() as group:
            self._tasks = tasks = DaemonTasks(
                group=group, deadline=self._deadline, stop=stop, places=self._places
            )
            publishing = tasks.start("publisher", publisher.run())
            for table in self._places:
                tasks.read_devices(table)
            reload = self._make_reload(publisher, tasks)
            reloading = tasks.start("reload", reload.run(self._reload_requested))
            services = self._start_services(tasks, publisher, reload)
            exempt_started()
            notify("READY=1", self._status())
            self._log.info(
                "daemon up",
                boot=self.boot,
                tables=list(self._places),
                devices=len(tasks.reading),
                broker=broker.url,
            )
            if pair is not None and await _wait_any(stop, pair.yields) is pair.yields:
                self._deadline.within(FAILURE_TIMEOUT_SECONDS)
                everything = (reloading, *tasks.reading, publishing, *services)
                await cancel_all(*everything, within=HAND_OVER_SECONDS)
                await pair.let_go()
            await stop.wait()
            notify("STOPPING=1")
            self._log.info("daemon stops")
            await cancel_all(reloading)
            await self._finish(tasks, publisher, publishing)
            await cancel_all(publishing, *services)
        if pair is not None:
            pair.ended(self._progress())
        self._log.info("daemon down")

    def _start_services(
        self, tasks: DaemonTasks, publisher: Publisher, reload: ReloadTables
    ) -> list[asyncio.Task[None]]:
        """Start everything beside the publisher, the devices and the reload. Return the tasks."""
        time_watch = TimeWatch(
            settings=self._configuration.clock,
            journal=self._journal,
            runners=self._runners,
            alerts=self._alerts,
            changed=self._changed,
            doubt=lambda: self._upkeep.doubt,
        )
        certificates = CertificateWatch(
            configuration=self._configuration, alerts=self._alerts, changed=self._changed
        )
        reporter = self._make_reporter(publisher, reload, time_watch)
        health = HealthPublisher(
            reporter=reporter,
            api=self._api,
            checkpoint=self._upkeep.checkpoint,
            due=self._health_due,
            wake=publisher.wake,
        )
        services = {
            "journal": self._journal.watch(),
            "health": health.run(),
            "journal upkeep": self._upkeep.run(self._runners, lambda: publisher.position),
            "read back": self._upkeep.read_back(),
            "journal watch": self._upkeep.watch(),
            "clock": time_watch.run(),
            "certificates": certificates.run(),
        }
        if self._people is not None:
            services["people"] = self._people_watch.run(self._people, publisher.send_now)
        if (interval := watchdog_interval()) is not None:
            watchdog = Watchdog(journal=self._journal, places=self._places, interval=interval)
            services["watchdog"] = watchdog.run()
        if self._pair is not None:
            services["pair"] = self._pair.watch(self._make_duty(publisher, reload))
        started = [tasks.start(name, work) for name, work in services.items()]
        if listen := self._configuration.metrics.listen:
            page = self._metrics_page(reporter, certificates)
            started.append(tasks.start_optional("metrics", serve_metrics(listen, page)))
        return started

    def _make_reporter(
        self, publisher: Publisher, reload: ReloadTables, time_watch: TimeWatch
    ) -> HealthReporter:
        return HealthReporter(
            boot=self.boot,
            journal=self._journal,
            publisher=publisher,
            api=self._api,
            stages=self._stages,
            time_watch=time_watch,
            people=self._people_watch.health,
            reload=reload.health,
            standby=(lambda: None) if self._pair is None else self._pair.health,
        )

    def _make_publisher(self, broker: BrokerConfig) -> Publisher:
        site = self._configuration.site
        return Publisher(
            broker=broker,
            client_id=broker.client_id or f"novamas-{site.id}-{site.node}",
            journal=self._journal,
            api=self._api,
            stages=self._stages,
            changed=self._health_due.set,
            exclusive=None if self._pair is None else self._pair.exclusive(),
        )

    def _make_reload(self, publisher: Publisher, tasks: DaemonTasks) -> ReloadTables:
        floor = ServedFloor(
            places=self._places,
            runners=self._runners,
            api=self._api,
            publisher=publisher,
            upkeep=self._upkeep,
            ready_for=self._builder.prepare,
            attempt=self._builder.attempt,
            place=self._builder.rebuild_place,
            read=tasks.read_devices,
            stop_reading=tasks.stop_reading,
        )
        return ReloadTables(
            configuration=self._configuration,
            file=self._file,
            report=self._report_reload,
            last=None if self._pair is None else self._pair.reloaded(),
            journal=self._journal,
            floor=floor,
        )

    def _make_duty(self, publisher: Publisher, reload: ReloadTables) -> Duty:
        from controller.service.duty import Duty  # imported late: few daemons are in a pair

        return Duty(
            site=self._configuration.site.id,
            publisher=publisher,
            places=self._places,
            alerts=self._alerts,
            people=self._people,
            configuration=lambda: reload.now,
            changed=self._changed,
        )

    def _metrics_page(
        self, reporter: HealthReporter, certificates: CertificateWatch
    ) -> Callable[[], Awaitable[HttpResponse]]:
        from controller.service.metrics import DaemonMetrics  # imported late: few serve them

        site = self._configuration.site
        return DaemonMetrics(
            site=site.id,
            node=site.node,
            reporter=reporter,
            places=self._places,
            api=self._api,
            journal=self._journal,
            upkeep=self._upkeep,
            stages=self._stages,
            certificates=certificates,
        ).page

    async def _finish(
        self, tasks: DaemonTasks, publisher: Publisher, publishing: asyncio.Task[None]
    ) -> None:
        """Store and publish what is pending, after the last byte of the devices."""
        await cancel_all(*tasks.reading)
        self._upkeep.flush(self._runners)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CLEAN_STOP_SECONDS):
                await asyncio.gather(*(runner.drain() for runner in self._runners))
        self._api.node["checkpoint"] = msgspec.json.encode(self._upkeep.checkpoint())
        publisher.end()
        await asyncio.wait([publishing], timeout=CLEAN_STOP_SECONDS)

    def _progress(self) -> TableProgress:
        """Return how far this daemon has come, for a daemon that takes over."""
        from common.standby.right import TableProgress  # already loaded by the pair

        tables = {place.runner.table.id: place.runner.table for place in self._places.values()}
        return TableProgress(
            self._upkeep.checkpoint(),
            {id: table.session for id, table in tables.items()},  # noqa: A001
            {id: table.readings for id, table in tables.items() if table.face_down},  # noqa: A001
        )

    def _changed(self, table: str | None = None) -> None:
        """Wake the publisher: a table, or an alert that concerns all tables, has changed."""
        if self._publisher is not None:
            self._publisher.wake(table)

    def _moved(self, table: str, readings: list[AnyReading]) -> None:
        """Publish what moves at a table."""
        if self._publisher is not None:
            self._publisher.motion.on_readings(table, readings)

    def _status(self) -> str:
        devices = 0 if self._tasks is None else len(self._tasks.reading)
        return f"STATUS={len(self._places)} tables, {devices} devices"

    def _report_reload(self, outcome: ReloadHealth, started_at: int) -> None:
        """Report the outcome of a reload that began at ``started_at`` (monotonic clock,
        nanoseconds).
        """
        write_reply(
            Path(self._configuration.journal.path), ReloadReply(self.boot, started_at, outcome)
        )
        self._health_due.set()
        exempt_when_settled()
        notify("READY=1", self._status())


async def _wait_any(*events: asyncio.Event) -> asyncio.Event:
    """Wait for any of the events; return the first in order that is set."""
    waiting = [asyncio.create_task(event.wait()) for event in events]
    try:
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in waiting:
            task.cancel()
    return next(event for event in events if event.is_set())


def _previous_roots(last: Entry | None, site: str) -> list[Topics]:
    """Return the topic roots of the tables in ``last``, the ``boot`` entry of the previous run."""
    if last is None:
        return []
    previous = msgspec.json.decode(last.body, type=Boot)
    simulated = {table.simulated for table in previous.tables if previous.site == site}
    return [Topics(site, is_simulated) for is_simulated in sorted(simulated)]
