"""The daemon: runs the devices, tables, journal and publisher of a configuration in one task group
until it is stopped.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import signal
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from common import clock
from common.chain.schema import Entry, JournalFullError, JournalUnusableError, new_boot
from common.command_line import has_terminal, stop_signals
from common.contract.node import PeopleHealth, ReloadHealth
from common.contract.retained import About, Alert
from common.contract.times import format_utc
from common.contract.topics import Topics
from common.contract.version import SOFTWARE
from common.log import structlog
from common.people.people_file import PeopleFile, PeopleInForce
from common.people.seen import SeenCommands
from common.people.signed_command import CLOCK_TOLERANCE_SECONDS, seen_before
from common.people.two_persons import MARKED_BY_DEFAULT
from common.readings import (
    AnyReading,
    LinkLost,
    LinkOpen,
    LinkStale,
    LinkUnintelligible,
    LinkUp,
)
from controller.configuration.checks import deals_face_down
from controller.configuration.listening import address
from controller.configuration.settings import BrokerConfig, Configuration, DeviceConfig, TableConfig
from controller.games.games import make_game
from controller.journal.journal import Journal
from controller.journal.setup import Boot, HandOver, PeopleSetup, RestoredBackup, StartReason
from controller.mqtt.embedded_broker import embedded_broker
from controller.mqtt.publisher import Publisher
from controller.mqtt.tables_api import ServedTable, TablesApi
from controller.people.authority import allowed_commands, command_rights, narrow_at_table
from controller.people.gate import CommandGate
from controller.proof.journal_upkeep import JournalUpkeep
from controller.rulebooks.chapters import chapter, head
from controller.service.certificates import CertificateWatch
from controller.service.ending import (
    FAILURE_TIMEOUT_SECONDS,
    STOP_TIMEOUT_SECONDS,
    Deadline,
    TaskDiedError,
    error_fields,
)
from controller.service.health import REPORT_INTERVAL_SECONDS, STUCK_SECONDS, HealthReporter
from controller.service.identities import configured_identity, plate, usb_identity
from controller.service.keys import card_cipher
from controller.service.people_in_force import people_file
from controller.service.privacy import exposed, exposed_secrets
from controller.service.reload import ReloadTables, ServedFloor
from controller.service.reload_answer import ReloadReply, write_reply
from controller.service.signed_before import tokens
from controller.service.systemd_notify import notify, watchdog_interval
from controller.service.time_watch import TimeWatch
from controller.tables.runner import TableRunner, last_state
from controller.tables.stages import Stages
from controller.tables.table import Table
from devices.calls import AnyCall, BytesReceived, clock_time
from devices.codec import Codec
from devices.device import DeviceSupervisor
from devices.drivers import driver
from devices.recording import RecordingWriter

if TYPE_CHECKING:
    from controller.service.pair import Duty, Pair
    from controller.standby.right import TableProgress

LINK_READINGS = (LinkOpen, LinkUp, LinkLost, LinkStale, LinkUnintelligible)
"""Readings that change the health of a device."""
MAX_REPORT_CPU_SHARE = 0.05
"""Maximum share of the event loop's CPU time spent on health reports."""
CHECK_INTERVAL_SECONDS = 1.0
"""Seconds between two checks for conditions that nothing signals, such as a failing log."""
PEOPLE_ALERT_ID = "people"
"""Id of the alert for a rejected people file."""
RESTORED_ALERT_ID = "journal-restored"
"""Id of the alert for a journal that continues a backup."""
TAKEN_OVER_ALERT_ID = "taken-over"
"""Id of the alert for tables that another daemon has served before."""
UNREADY_ALERT_ID = "standby-unready"
"""Id of the alert that no other daemon of the pair could take over."""
DIFFERENT_ALERT_ID = "standby-different"
"""Id of the alert that the two machines of a pair differ."""
RETAINED_TOPICS = ("info", "state", "result", "history")
"""Retained topics of a table, besides its alerts."""
HAND_OVER_SECONDS = 0.5
"""Seconds for the tasks to end when the tables pass to the other daemon of the pair."""
Unpublished = tuple[RestoredBackup | HandOver, ...]
"""Restores and hand-overs that a table has not yet published."""
CLEAN_STOP_SECONDS = 5.0
"""Seconds allowed at a clean stop to store pending data, and again to publish it."""


async def serve(configuration: Configuration, deadline: Deadline, file: Path | None = None) -> None:
    """Run until SIGTERM or SIGINT, which start the ``deadline``, or until the controlling terminal
    is closed, except under ``nohup``. Any other SIGHUP reloads the configuration from ``file``.

    Raises ``JournalUnusableError``, ``OSError`` if the embedded broker cannot listen, and a group
    with :class:`TaskDiedError` if an essential task has ended.
    """
    stop, reload_requested = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()
    deadline.names_tasks_of(loop)

    def on_stop(*_: object) -> None:
        deadline.within(STOP_TIMEOUT_SECONDS)  # first, and outside the loop, which may be stuck
        loop.call_soon_threadsafe(stop.set)

    on_terminal = signal.SIGHUP in stop_signals() and has_terminal()

    def on_hang_up(*_: object) -> None:
        if on_terminal and not has_terminal():
            on_stop()
            return
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(reload_requested.set)

    previous_handlers = {
        number: signal.signal(number, on_stop) for number in (signal.SIGTERM, signal.SIGINT)
    }
    previous_handlers[signal.SIGHUP] = signal.signal(signal.SIGHUP, on_hang_up)
    try:
        if configuration.standby is None:
            await Daemon(configuration, deadline, file, reload_requested).run(stop)
        else:
            await serve_in_pair(configuration, deadline, file, reload_requested, stop)
    finally:
        for number, handler in previous_handlers.items():
            signal.signal(number, handler)


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
                    daemon = Daemon(pair.configuration, deadline, file, reload_requested, pair)
                    await daemon.run(stop)
            except Exception as error:
                await pair.fail(error)
                raise
            await pair.release()
    finally:
        await pair.close()


class Daemon:
    """All tables of one configuration, which is reloaded from ``file`` when ``again`` is set.
    ``pair``: its place in a pair, which holds the lease and the journal. Raises
    ``JournalUnusableError`` and ``KeyFileError``.
    """

    def __init__(
        self,
        configuration: Configuration,
        deadline: Deadline,
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
        self._health_due = asyncio.Event()
        self._stages = Stages()
        site = configuration.site
        self._journal = (
            open_journal(Path(configuration.journal.path)) if pair is None else pair.journal
        )
        self._journal.on_change = self._journal_changed
        self._journal.on_aside = self._journal_set_aside
        if reload_requested is not None:
            self._journal.announce()
        self._publisher: Publisher | None = None
        self._places: dict[str, ServedTable] = {}
        self._runners: list[TableRunner] = []
        """The runners of all places; the list is updated in place."""
        self._device_tasks: dict[str, list[asyncio.Task[None]]] = {}
        """By table, the tasks that read its devices."""
        self._alerts: dict[str, Alert] = {}
        try:
            face_down = any(map(deals_face_down, configuration.table))
            self._cipher = (
                card_cipher(configuration, lambda: self._upkeep.signer) if face_down else None
            )
            tenure = None if pair is None else pair.begin()
            last_boot = self._journal.latest("boot")
            # the other daemon of a pair may have executed commands unknown to this journal
            is_new = last_boot is None and self._journal.set_aside is None and pair is None
            self._seen = SeenCommands(0.0 if is_new else clock.wall() + CLOCK_TOLERANCE_SECONDS)
            self._seen.restore(seen_before(tokens(self._journal)), clock.wall())
            self._people = people_file(configuration, last_boot)
            self._adopt_peer_people(self._people)
            setup = _people_setup(configuration, self._people)
            self._upkeep = JournalUpkeep(
                *(configuration, self.boot, self._journal, self._alerts, self._changed, setup),
                tenure,
            )
            unpublished = {
                table.id: self._journal.all_unreported(table.id) for table in configuration.table
            }
            for table in configuration.table:
                self._places[table.id] = self._build_place(table)
            self._runners[:] = (place.runner for place in self._places.values())
            # The node's own topics are among the simulated ones only if every table is simulated.
            node = Topics(site.id, simulated=all(table.simulated for table in configuration.table))
            self._api = TablesApi(
                *(site.node, self.boot, node, self._places, configuration.broker.response_topics),
                None if pair is None else pair.health(),
            )
            for root in _previous_roots(last_boot, site.id):
                self._api.claims.add_root(root)
            self._api.alerts = self._alerts
            self._api.reload = None if pair is None else pair.reloaded
            self._report_people()
            self._alert_restored(unpublished)
            self._alert_taken_over(unpublished)
            if pair is not None:
                pair.set_progress_source(self._progress)
        except BaseException:
            self._journal.close()
            raise
        if self._journal.set_aside is not None or self._journal.lost is not None:
            self._journal_set_aside()
        if self._journal.failed is not None:  # it failed while waiting in a pair
            self._journal_changed(self._journal.failed)
        readable = exposed(Path(configuration.journal.path), Path(configuration.recordings.path))
        if readable := [*readable, *exposed_secrets(configuration.broker)]:
            self._log.warning(
                "other users of this machine can read these files; run chmod go= on them",
                files=[str(path) for path in readable],
            )

    async def run(self, stop: asyncio.Event) -> None:
        """Serve the tables until ``stop``; then store and publish what is pending, and publish
        ``offline``.
        """
        try:
            async with _broker(self._configuration.broker) as broker:
                await self._serve(broker, stop)
        finally:
            await asyncio.to_thread(self._journal.close)

    async def _serve(self, broker: BrokerConfig, stop: asyncio.Event) -> None:
        site = self._configuration.site
        publisher = Publisher(
            broker=broker,
            client_id=broker.client_id or f"novamas-{site.id}-{site.node}",
            journal=self._journal,
            api=self._api,
            stages=self._stages,
            changed=self._health_due.set,
            exclusive=None if self._pair is None else self._pair.exclusive(),
        )
        self._publisher = publisher
        runners = self._runners
        time_watch = TimeWatch(
            self._configuration.clock, self._journal, runners, self._alerts, self._changed
        )
        reporter = HealthReporter(
            self.boot,
            self._journal,
            publisher,
            self._api,
            self._places,
            time_watch,
            lambda: self._upkeep.doubt,
            self._stages,
        )
        certificates = CertificateWatch(self._configuration, self._alerts, self._changed)
        async with asyncio.TaskGroup() as group:

            def essential(name: str, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
                return group.create_task(self._essential(name, work, stop), name=name)

            publishing = essential("publisher", publisher.run())

            def read_devices(table: str) -> None:
                self._device_tasks[table] = [
                    essential(f"device {name} of table {table}", device.run())
                    for name, device in self._places[table].devices.items()
                ]

            for table in self._places:
                read_devices(table)
            pair = self._pair
            chores = [
                essential("journal", self._journal.watch()),
                essential("health", self._report(reporter)),
                essential("journal upkeep", self._upkeep.run(runners, lambda: publisher.position)),
                essential("read back", self._upkeep.read_back()),
                essential("journal watch", self._upkeep.watch()),
                essential("people", self._watch_people(publisher)),
                essential("clock", time_watch.run()),
                essential("certificates", certificates.run()),
            ]
            if listen := self._configuration.metrics.listen:
                chores.append(
                    group.create_task(
                        self._serve_metrics(listen, reporter, certificates), name="metrics"
                    )
                )
            if (interval := watchdog_interval()) is not None:
                chores.append(essential("watchdog", self._feed_watchdog(reporter, interval)))
            floor = ServedFloor(
                *(self._places, runners, self._api, publisher, self._upkeep),
                *(self._ready_for, self._attempt, self._replace, read_devices, self._stop_reading),
            )
            reload = ReloadTables(
                self._configuration, self._file, self._report_reload, self._journal, floor
            )
            reloading = essential("reload", reload.run(self._reload_requested))
            if pair is not None:
                chores.append(essential("pair", pair.watch(self._duty(publisher, reload))))
            gc.collect()
            gc.freeze()  # exempt long-lived objects from every later collection
            notify("READY=1", self._status())
            self._log.info(
                "daemon up",
                boot=self.boot,
                tables=list(self._places),
                devices=sum(map(len, self._device_tasks.values())),
                broker=broker.url,
            )
            if pair is not None and await _wait_any(stop, pair.yields) is pair.yields:
                self._deadline.within(FAILURE_TIMEOUT_SECONDS)
                reading = [task for tasks in self._device_tasks.values() for task in tasks]
                await _cancel_all(
                    reloading, *reading, publishing, *chores, within=HAND_OVER_SECONDS
                )
                await pair.let_go()
            await stop.wait()
            notify("STOPPING=1")
            self._log.info("daemon stops")
            await _cancel_all(reloading)
            await _cancel_all(*(task for tasks in self._device_tasks.values() for task in tasks))
            self._upkeep.flush(runners)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(CLEAN_STOP_SECONDS):
                    await asyncio.gather(*(runner.drain() for runner in runners))
            self._api.node["checkpoint"] = msgspec.json.encode(self._upkeep.checkpoint())
            publisher.end()
            await asyncio.wait([publishing], timeout=CLEAN_STOP_SECONDS)
            await _cancel_all(publishing, *chores)
        if self._pair is not None:
            self._pair.ended(self._progress())
        self._log.info("daemon down")

    def _progress(self) -> TableProgress:
        """Return how far this daemon has come, for a daemon that takes over."""
        from controller.standby.right import TableProgress  # already loaded by the pair

        tables = {place.runner.table.id: place.runner.table for place in self._places.values()}
        return TableProgress(
            self._upkeep.checkpoint(),
            {id: table.session for id, table in tables.items()},  # noqa: A001
            {id: table.readings for id, table in tables.items() if table.face_down},  # noqa: A001
        )

    def _duty(self, publisher: Publisher, reload: ReloadTables) -> Duty:
        """Return the callbacks of the pair to this daemon while it serves."""
        from controller.service.pair import Duty  # already loaded by the pair

        return Duty(
            connected=lambda: publisher.health.connected,
            unanswered=lambda: publisher.unacknowledged_seconds,
            devices=lambda: {
                f"{table}/{name}": device.health().state
                for table, place in self._places.items()
                for name, device in place.devices.items()
            },
            hasten=publisher.reconnect_now,
            alert=self._alert_unready,
            differ=self._alert_different,
            people=lambda: self._people,
            configuration=lambda: reload.now,
            abandon=lambda tables: self._abandon(publisher, tables),
        )

    def _abandon(self, publisher: Publisher, tables: Mapping[str, bool]) -> None:
        """Clear the retained topics of tables that only the other daemon of the pair has: they are
        not served now.
        """
        for table, simulated in tables.items():
            topics = Topics(self._configuration.site.id, simulated)
            publisher.abandon(table, [topics.table(table, leaf) for leaf in RETAINED_TOPICS])
        self._log.error("tables of the other daemon are served by nobody", tables=sorted(tables))

    def _alert_different(self, message: str | None) -> None:
        """Raise or clear the alert that the two machines of the pair differ."""
        if message is None:
            self._alerts.pop(DIFFERENT_ALERT_ID, None)
            self._log.info("the two machines are alike")
        else:
            self._alerts[DIFFERENT_ALERT_ID] = Alert(
                alert=DIFFERENT_ALERT_ID,
                what="standby.different",
                severity="warning",
                raised=format_utc(clock.wall()),
                detail=f"the two machines of the pair differ: {message}. Make them the same",
            )
            self._log.warning("the two machines differ", what=message, alert=DIFFERENT_ALERT_ID)
        self._changed()

    def _alert_unready(self, why: str | None) -> None:
        """Raise or clear the alert that the other daemon could not take over."""
        if why is None:
            self._alerts.pop(UNREADY_ALERT_ID, None)
            self._log.info("another daemon could take the tables over")
        else:
            message = f"{why}. If this daemon ends, the tables are not served until that is fixed"
            self._alerts[UNREADY_ALERT_ID] = Alert(
                alert=UNREADY_ALERT_ID,
                what="standby.unready",
                severity="warning",
                raised=format_utc(clock.wall()),
                detail=message,
            )
            self._log.warning(
                "no other daemon could take the tables over", reason=why, alert=UNREADY_ALERT_ID
            )
        self._changed()

    def _status(self) -> str:
        devices = sum(map(len, self._device_tasks.values()))
        return f"STATUS={len(self._places)} tables, {devices} devices"

    def _ready_for(self, configuration: Configuration) -> None:
        """Create the key for face-down cards if needed. Raises ``KeyFileError``."""
        if self._cipher is None and any(map(deals_face_down, configuration.table)):
            self._cipher = card_cipher(configuration, lambda: self._upkeep.signer)

    def _attempt(self, table: TableConfig) -> None:
        """Build a table and the codecs of its devices, without side effects. Raises
        ``JournalUnusableError``, ``UnrestorableStateError``, and any exception of a bug.
        """
        self._build_table(table)
        for device in table.device:
            _codec(device)

    def _replace(self, table: TableConfig) -> ServedTable:
        return self._build_place(table, "reload")

    async def _stop_reading(self, tables: Collection[str]) -> None:
        """Stop reading the devices of these tables."""
        await _cancel_all(*(task for table in tables for task in self._device_tasks.pop(table)))
        for table in tables:
            self._places[table] = msgspec.structs.replace(self._places[table], devices={})

    def _report_reload(self, outcome: ReloadHealth, started_at: int) -> None:
        """Report the outcome of a reload that began at ``started_at`` (monotonic clock,
        nanoseconds).
        """
        self._api.reload = outcome
        write_reply(
            Path(self._configuration.journal.path), ReloadReply(self.boot, started_at, outcome)
        )
        self._health_due.set()
        notify("READY=1", self._status())

    async def _essential(
        self, name: str, work: Coroutine[Any, Any, None], stop: asyncio.Event
    ) -> None:
        """Run a task that the daemon needs. If it ends before ``stop``, the whole daemon ends
        within seconds, to be restarted by its unit: a daemon that runs but does not serve is worse.
        """
        task = asyncio.current_task()
        died: BaseException | None = None
        try:
            await work
        except asyncio.CancelledError as cancelled:
            if task is None or task.cancelling():
                raise
            died = cancelled  # nothing requested the cancellation
        except Exception as error:
            died = error
        if died is None and stop.is_set():
            return
        self._deadline.within(FAILURE_TIMEOUT_SECONDS)
        confidential = any(place.runner.table.face_down for place in self._places.values())
        self._log.error("essential task died", task=name, **error_fields(died, confidential))
        raise TaskDiedError(name)

    def _build_table(self, table: TableConfig) -> Table:
        """Build a table from the journal. Raises ``JournalUnusableError`` and
        ``UnrestorableStateError``.
        """
        people = self._configuration.people
        about = About(
            title=_title(table),
            languages=table.languages or head(table.decree).languages,
            devices={device.id: device.driver for device in table.device},
            identities={
                device.id: identity for device in table.device if (identity := plate(device))
            },
            software=SOFTWARE,
            settings=table.settings,
            jackpot=table.jackpot,
            commands=allowed_commands(
                table.game,
                table.decree,
                table.settings,
                narrow_at_table(
                    command_rights(table.game, table.decree), people.may if people else {}
                ),
                people.two_persons if people else (),
                tuple(device.id for device in table.device),
            ),
        )

        return Table(
            site=self._configuration.site.id,
            id=table.id,
            game_id=table.game,
            decree=table.decree,
            game=make_game(table.game, table.decree, table.settings),
            boot=self.boot,
            simulated=table.simulated,
            saved=last_state(self._journal, table.id, self._cipher),
            about=about,
            unsigned=people is not None and people.required == "accept-the-risk",
            over=any(
                isinstance(identity, HandOver)
                for identity in self._journal.all_unreported(table.id)
            ),
        )

    def _build_place(self, table: TableConfig, why: StartReason = "boot") -> ServedTable:
        speed = table.speed if table.simulated else 1.0

        def table_clock() -> float:
            return clock_time(clock.monotonic() * speed)

        people = self._configuration.people
        runner = TableRunner(
            partial(self._build_table, table),
            self._journal,
            table_clock,
            partial(self._changed, table.id),
            self._cipher,
            self._stages,
            why,
        )
        identities = [configured_identity(device, table_clock()) for device in table.device]
        if unknown := [identity for identity in identities if not runner.table.is_known(identity)]:
            runner.on_readings(unknown)
        if runner.table.face_down and self._configuration.recordings.enabled:
            self._log.warning(
                "cards are face down: no recordings are written; the journal has the bytes, sealed",
                table=table.id,
            )
        devices = {device.id: self._build_device(table, device, runner) for device in table.device}
        silence = (
            max((device.stale_after for device in table.device), default=0.0)
            + STUCK_SECONDS * table.speed
        )
        topics = Topics(self._configuration.site.id, table.simulated)
        gate = None
        if people is not None and self._people is not None:
            gate = CommandGate(
                f"{topics.root}/{table.id}",
                table.id,
                self._people.in_force.people,
                narrow_at_table(command_rights(table.game, table.decree), people.may),
                self._seen,
                tuple(mark for mark in MARKED_BY_DEFAULT if mark in people.two_persons),
            )
        required = people is not None and people.required is True
        return ServedTable(runner, topics, devices, silence, gate, required)

    def _build_device(
        self, table: TableConfig, device: DeviceConfig, runner: TableRunner
    ) -> DeviceSupervisor:
        pair = self._pair

        def hold() -> None:
            if pair is not None:
                pair.hold()

        def on_bytes(call: AnyCall) -> None:
            hold()  # bytes read after a suspension belong to the daemon that has taken over
            runner.on_bytes(device.id, call)
            if not isinstance(call, BytesReceived):
                # an opened or closed link does not concern the table, but health reports it
                self._health_due.set()

        def on_readings(readings: list[AnyReading]) -> None:
            runner.on_readings(readings, noted=True)
            if any(isinstance(reading, LINK_READINGS) for reading in readings):
                self._health_due.set()

        def on_identity(facts: Mapping[str, str]) -> None:
            identity = usb_identity(device.id, facts, runner.clock())
            if identity is not None and not runner.table.is_known(identity):
                runner.on_readings([identity])

        return DeviceSupervisor(
            id=device.id,
            url=device.link,
            codec=_codec(device),
            on_readings=on_readings,
            stale_after=device.stale_after,
            clock=runner.clock,
            speed=table.speed if table.simulated else 1.0,
            recorder=None if runner.table.face_down else self._build_recorder(table.id, device),
            confidential=runner.table.face_down,
            commands_enabled=device.commands,
            on_call=on_bytes,
            on_connected=on_identity,
            before_write=hold,
            log=self._log.bind(table=table.id),
        )

    def _build_recorder(self, table: str, device: DeviceConfig) -> RecordingWriter | None:
        settings = self._configuration.recordings
        if not settings.enabled:
            return None
        return RecordingWriter(
            Path(settings.path, table, f"{device.id}.rec"),
            {"device": device.id, "driver": device.driver, "link": device.link, "table": table},
            max_bytes=settings.max_bytes,
            max_files=settings.max_files,
            max_days=settings.max_days,
        )

    async def _watch_people(self, publisher: Publisher) -> None:
        """Apply changes of the people file, and report commands that got no second signature in
        time.
        """
        while True:
            await clock.sleep(CHECK_INTERVAL_SECONDS)
            if self._people is not None:
                newer = await asyncio.to_thread(self._people.read_newer)
                if newer is None and self._pair is not None:
                    newer = self._pair.offered(self._people)
                if newer is not None:
                    self._apply_people(self._people, newer)
                self._report_people()
            publisher.send_now(self._api.expired_replies(clock.wall()))

    def _adopt_peer_people(self, file: PeopleFile | None) -> None:
        """Start with the people file of the other daemon of a pair if it is newer."""
        newer = None if file is None or self._pair is None else self._pair.offered(file)
        if file is not None and newer is not None:
            file.put_in_force(newer)
            self._log.warning("people file of the other daemon", number=newer.people.head.number)

    def _apply_people(self, file: PeopleFile, newer: PeopleInForce) -> None:
        """Put a people file in force, after it is stored in the journal."""
        try:
            self._upkeep.record_people(_setup(self._configuration, newer))
        except (JournalFullError, JournalUnusableError) as error:
            self._log.error("people cannot be taken over yet", reason=str(error))
            return
        file.put_in_force(newer)
        for place in self._places.values():
            if place.gate is not None:
                place.gate.people = newer.people
        self._log.info("people taken over", number=newer.people.head.number, sha256=newer.sha256)

    def _report_people(self) -> None:
        """Report the people file in force, and raise or clear the alert of a rejected file."""
        file, published = self._people, self._api.people
        if file is None:
            return
        in_force = file.in_force
        since = (
            published.since
            if published and published.sha256 == in_force.sha256
            else format_utc(clock.wall())
        )
        health = PeopleHealth(
            number=in_force.people.head.number,
            sha256=in_force.sha256,
            since=since,
            persons=sum(person.revoked is None for person in in_force.people.persons),
            trouble=file.trouble,
        )
        if health == published:
            return
        self._api.people = health
        self._health_due.set()
        if file.trouble is None:
            self._alerts.pop(PEOPLE_ALERT_ID, None)
        else:
            message = f"{file.trouble}. Number {health.number} remains in force"
            self._alerts[PEOPLE_ALERT_ID] = _alert(PEOPLE_ALERT_ID, "people.refused", message)
            self._log.error("people file refused", reason=file.trouble, alert=PEOPLE_ALERT_ID)
        self._changed()

    def _alert_restored(self, unpublished: Mapping[str, Unpublished]) -> None:
        """Raise the "restored from backup" alert at the first start after a restore."""
        point = self._journal.restored
        tables = [table for table, points in unpublished.items() if point in points]
        if point is None or not tables:
            return
        self._log.error(
            "journal restored",
            tables=tables,
            since=point.since,
            position=point.position,
            alert=RESTORED_ALERT_ID,
        )
        message = (
            f"a backup of {point.since} was restored at {point.at}. Later events exist only at "
            f"subscribers. Sessions are closed and begin with a higher number at "
            f"{', '.join(tables)}; the alert ends with the next start of the daemon"
        )
        self._alerts[RESTORED_ALERT_ID] = Alert(
            alert=RESTORED_ALERT_ID,
            what="journal.restored",
            severity="warning",
            raised=format_utc(clock.wall()),
            detail=message,
        )

    def _alert_taken_over(self, unpublished: Mapping[str, Unpublished]) -> None:
        """Raise the alert for tables that the other daemon of the pair has served before."""
        point = self._journal.hand_over
        tables = [table for table, points in unpublished.items() if point in points]
        if point is None or not tables:
            return
        cause = (
            "what another daemon did is unknown, because the store of the pair had lost its record"
            if point.forgotten
            else f"{point.instance} had the tables, and last reported at {point.since}"
        )
        self._log.error(
            "tables taken over",
            tables=tables,
            of=point.instance,
            since=point.since,
            at=point.at,
            alert=TAKEN_OVER_ALERT_ID,
        )
        if point.since > point.at:
            cause += (
                " by its own clock, which is ahead of this one, so the length of the gap is unknown"
            )
        message = (
            f"{cause}; this daemon took them over at {point.at}. What happened in between is "
            f"unknown. Sessions are closed and begin with a higher number at {', '.join(tables)}; "
            "the alert ends with the next start of the daemon"
        )
        self._alerts[TAKEN_OVER_ALERT_ID] = Alert(
            alert=TAKEN_OVER_ALERT_ID,
            what="table.taken_over",
            severity="warning",
            raised=format_utc(clock.wall()),
            detail=message,
        )

    def _changed(self, table: str | None = None) -> None:
        """Wake the publisher: a table, or an alert that concerns all tables, has changed."""
        if self._publisher is not None:
            self._publisher.wake(table)

    def _journal_changed(self, trouble: str | None) -> None:
        """Report that the journal has failed or recovered. The tables show it at once, because a
        failed journal cannot store it first.
        """
        if trouble is None:
            self._log.info("journal is written again")
            self._alerts.pop("journal", None)
        else:
            self._log.error("journal cannot be written", reason=trouble, alert="journal")
            message = (
                f"{trouble}. Nothing is published and every command is refused until the journal "
                "can be written: free some space, or replace the disk"
            )
            self._alerts["journal"] = _alert("journal", "journal.failed", message)
        for place in self._places.values():
            place.runner.halt(
                None if trouble is None else f"the journal cannot be written: {trouble}"
            )
        self._changed()
        self._health_due.set()

    def _journal_set_aside(self) -> None:
        """Raise the alert for a damaged journal, found at the start or at run time; at run time the
        tables continue in a new file.
        """
        aside, lost = self._journal.set_aside, self._journal.lost
        self._log.error("journal set aside", file=str(aside), lost=lost, alert="journal-set-aside")
        sentences = []
        if aside is not None:
            sentences.append(
                f"the journal was damaged and was set aside as {aside}: keep that file, and "
                "confirm every round that is unresolved"
            )
        if lost is not None:
            sentences.append(
                f"entries that were not yet published could not be read and are lost: {lost}"
            )
        message = ". ".join(sentences)
        self._alerts["journal-set-aside"] = _alert(
            "journal-set-aside", "journal.set_aside", message
        )
        self._changed()

    async def _report(self, reporter: HealthReporter) -> None:
        """Publish health on every change, and every half minute. With many tables a report is
        expensive, so changes in quick succession are combined.
        """
        published: tuple[Any, ...] = ()
        due = 0.0
        while True:
            self._health_due.clear()
            start = clock.thread_time()
            notable = reporter.notable()
            if notable != published or clock.monotonic() >= due:
                published, due = notable, clock.monotonic() + REPORT_INTERVAL_SECONDS
                self._api.node = {
                    "health": msgspec.json.encode(reporter.report()),
                    "checkpoint": msgspec.json.encode(self._upkeep.checkpoint()),
                }
                if self._publisher is not None:
                    self._publisher.wake()
            await clock.sleep((clock.thread_time() - start) / MAX_REPORT_CPU_SHARE)
            trouble = reporter.trouble()
            while clock.monotonic() < due and reporter.trouble() == trouble:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(CHECK_INTERVAL_SECONDS):
                        await self._health_due.wait()
                        break

    async def _serve_metrics(
        self, listen: str, reporter: HealthReporter, certificates: CertificateWatch
    ) -> None:
        """Serve metrics to Prometheus while the daemon runs."""
        from common.metrics import endpoint
        from controller.service.metrics import DaemonMetrics

        await asyncio.to_thread(import_module, "prometheus_client")  # a slow import

        site = self._configuration.site
        metrics = DaemonMetrics(
            *(site.id, site.node, reporter, self._places),
            *(self._api, self._journal, self._upkeep, self._stages),
            certificates=certificates,
        )
        await endpoint.serve(address(listen), {b"/metrics": metrics.page})

    async def _feed_watchdog(self, reporter: HealthReporter, interval: float) -> None:
        """Feed the watchdog as long as everything makes progress."""
        while True:
            stuck = reporter.stuck()
            if stuck is None:
                notify("WATCHDOG=1")
            else:
                self._log.error("no progress", what=stuck)
            await clock.sleep(interval)


@contextlib.asynccontextmanager
async def _broker(broker: BrokerConfig) -> AsyncIterator[BrokerConfig]:
    """Yield the broker to publish to. An embedded one runs until the context ends."""
    address = urlsplit(broker.url)
    if address.scheme != "embedded":
        yield broker
        return
    async with embedded_broker(address.hostname or "127.0.0.1", address.port or 0) as (host, port):
        yield msgspec.structs.replace(broker, url=f"mqtt://{host}:{port}", protocol="3.1.1")


async def _cancel_all(*tasks: asyncio.Task[None], within: float = CLEAN_STOP_SECONDS) -> None:
    for task in tasks:
        task.cancel()
    if tasks:  # a task that hangs must not keep the others from ending
        await asyncio.wait(tasks, timeout=within)


async def _wait_any(*events: asyncio.Event) -> asyncio.Event:
    """Wait for any of the events; return the first in order that is set."""
    waiting = [asyncio.create_task(event.wait()) for event in events]
    try:
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in waiting:
            task.cancel()
    return next(event for event in events if event.is_set())


def _alert(alert: str, message: str, detail: str) -> Alert:
    return Alert(
        alert=alert, what=message, severity="fault", raised=format_utc(clock.wall()), detail=detail
    )


def _previous_roots(last: Entry | None, site: str) -> list[Topics]:
    """Return the topic roots of the tables in ``last``, the ``boot`` entry of the previous run."""
    if last is None:
        return []
    previous = msgspec.json.decode(last.body, type=Boot)
    simulated = {table.simulated for table in previous.tables if previous.site == site}
    return [Topics(site, is_simulated) for is_simulated in sorted(simulated)]


def _people_setup(configuration: Configuration, file: PeopleFile | None) -> PeopleSetup | None:
    if file is not None:
        return _setup(configuration, file.in_force)
    people = configuration.people
    return None if people is None else PeopleSetup(required=people.required)


def _setup(configuration: Configuration, in_force: PeopleInForce) -> PeopleSetup:
    """Return the journal's record of the people file in force."""
    people = configuration.people
    assert people is not None
    return PeopleSetup(
        file=in_force.text,
        key=people.key,
        required=people.required,
        two_persons=people.two_persons,
        may=people.may,
    )


def _codec(device: DeviceConfig) -> Codec:
    driver_of = driver(device.driver)
    return driver_of.make(device.id, msgspec.convert(device.options, driver_of.options))


def _title(table: TableConfig) -> dict[str, str]:
    """Return the decree's name of the game, by language."""
    book = chapter(table.decree, table.game)
    return {} if book is None else book.title
