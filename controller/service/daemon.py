"""The daemon: reads a configuration and runs its devices, tables, journal and publisher in one task
group until it is stopped.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import signal
import time
from collections.abc import AsyncIterator, Collection, Coroutine, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from controller.configuration.checks import deals_face_down
from controller.configuration.listening import address
from controller.configuration.settings import BrokerConfig, Configuration
from controller.configuration.settings import DeviceConfig as DeviceSettings
from controller.configuration.settings import TableConfig as TableSettings
from controller.contract.node import PeopleHealth, ReloadHealth
from controller.contract.retained import About, Alert
from controller.contract.times import utc
from controller.contract.topics import Topics
from controller.contract.version import SOFTWARE
from controller.games.games import make_game
from controller.journal.journal import Journal
from controller.journal.schema import Entry, JournalFullError, JournalUnusableError, new_boot
from controller.journal.setup import Boot, HandOver, PeopleSetup, Restored, Why
from controller.mqtt.embedded_broker import embedded_broker
from controller.mqtt.publisher import Publisher
from controller.mqtt.tables_api import ServedTable, TablesApi
from controller.people.authority import allowed, at_table, rights
from controller.people.gate import Gate
from controller.people.people_file import InForce, PeopleFile
from controller.people.seen import Seen
from controller.people.signed_command import TOLERANCE, taken_before
from controller.people.two_persons import MARKED
from controller.proof.journal_upkeep import JournalUpkeep
from controller.rulebooks.chapters import chapter, head
from controller.service.certificates import CertificateWatch
from controller.service.ending import DEATH, STOP, Deadline, TaskDiedError, error_fields
from controller.service.health import PERIOD, STUCK, HealthReporter
from controller.service.identities import configured_identity, plate, usb_identity
from controller.service.keys import card_cipher
from controller.service.people_in_force import people_file
from controller.service.privacy import exposed, exposed_secrets
from controller.service.reload import Floor, ReloadTables
from controller.service.reload_answer import Answer, write_answer
from controller.service.signed_before import tokens
from controller.service.systemd_notify import notify, watchdog_interval
from controller.service.time_watch import TimeWatch
from controller.tables.runner import TableRunner, last_state
from controller.tables.stages import Stages
from controller.tables.table import Table
from devices.calls import AnyCall, BytesReceived, clock_time
from devices.codec import Codec
from devices.command_line import has_terminal, stop_signals
from devices.device import DeviceSupervisor
from devices.drivers import driver
from devices.log import structlog
from devices.readings import (
    AnyReading,
    LinkLost,
    LinkOpen,
    LinkStale,
    LinkUnintelligible,
    LinkUp,
)
from devices.recording import RecordingWriter

if TYPE_CHECKING:
    from controller.service.pair import Duty, Pair
    from controller.standby.right import Progress

OF_A_LINK = (LinkOpen, LinkUp, LinkLost, LinkStale, LinkUnintelligible)
"""Readings after which the health of a device is another."""
REPORTING = 0.05
"""The most of its CPU time that the event loop spends on reports of health."""
LOOK = 1.0
"""Seconds after which a trouble that nobody tells of is noticed, such as that of the log."""
PEOPLE = "people"
"""The alert of a people file that is refused."""
RESTORED = "journal-restored"
"""The alert of a journal that goes on from a backup."""
TAKEN_OVER = "taken-over"
"""The alert of tables that another daemon had before."""
UNREADY = "standby-unready"
"""The alert that no other daemon of the pair could take the tables over."""
DIFFERENT = "standby-different"
"""The alert that the two machines of a pair are not the same."""
RETAINED = ("info", "state", "result", "history")
"""What is retained of a table, beside its alerts."""
LET_GO = 0.5
"""Seconds for the tasks of a daemon that gives its tables to the other one of the pair."""
Points = tuple[Restored | HandOver, ...]
"""What a table has not told yet of who had it, or what was restored."""
FAREWELL = 5.0
"""Seconds allowed at a clean stop to store what is pending, and again to publish it."""


async def serve(configuration: Configuration, deadline: Deadline, file: Path | None = None) -> None:
    """Run until SIGTERM or SIGINT, which start the ``deadline``, or until the terminal is closed
    from which the daemon was started, but for ``nohup``. Any other SIGHUP reads the configuration
    again, where it is from a ``file``.

    Raises ``JournalUnusableError``, ``OSError`` if the embedded broker cannot listen, and a group
    with :class:`TaskDiedError` if an essential task has ended.
    """
    stop, again = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()
    deadline.names_tasks_of(loop)

    def end(*_: object) -> None:
        deadline.within(STOP)  # first, and outside the loop, which may hang
        loop.call_soon_threadsafe(stop.set)

    attended = signal.SIGHUP in stop_signals() and has_terminal()

    def hang_up(*_: object) -> None:
        if attended and not has_terminal():
            end()
            return
        with contextlib.suppress(RuntimeError):  # the loop is closed: it has ended
            loop.call_soon_threadsafe(again.set)

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGINT)}
    before[signal.SIGHUP] = signal.signal(signal.SIGHUP, hang_up)
    try:
        if configuration.standby is None:
            await Daemon(configuration, deadline, file, again).run(stop)
        else:
            await _serve_in_pair(configuration, deadline, file, again, stop)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


async def _serve_in_pair(
    configuration: Configuration,
    deadline: Deadline,
    file: Path | None,
    again: asyncio.Event,
    stop: asyncio.Event,
) -> None:
    """Wait until the lease of the tables is ours, and serve them until ``stop``."""
    from controller.service.pair import Pair  # here: few daemons have another one beside them

    pair = Pair(configuration, file)
    try:
        if await pair.wait(stop, again):
            try:
                async with pair.renewing():
                    daemon = Daemon(pair.configuration, deadline, file, again, pair)
                    await daemon.run(stop)
            except Exception as error:
                await pair.fail(error)
                raise
            await pair.release()
    finally:
        await pair.close()


class Daemon:
    """All tables of one configuration, which is read from its ``file`` again when ``again`` is set.
    ``pair``: its place in a pair, which has the lease of the tables, and its journal. Raises
    ``JournalUnusableError`` and ``KeyFileError``.
    """

    def __init__(
        self,
        configuration: Configuration,
        deadline: Deadline,
        file: Path | None = None,
        again: asyncio.Event | None = None,
        pair: Pair | None = None,
    ) -> None:
        self.boot = new_boot() if pair is None else pair.boot
        self._pair = pair
        self._file, self._again = file, again or asyncio.Event()
        self._deadline = deadline
        self._configuration = configuration
        self._log = structlog.get_logger()
        self._health_due = asyncio.Event()
        self._stages = Stages()
        site = configuration.site
        self._journal = Journal(Path(configuration.journal.path)) if pair is None else pair.journal
        self._journal.on_change = self._journal_changed
        self._journal.on_aside = self._journal_set_aside
        if again is not None:
            self._journal.announce()
        self._publisher: Publisher | None = None
        self._places: dict[str, ServedTable] = {}
        self._runners: list[TableRunner] = []
        """Those of all places: one list, which changes with them."""
        self._reading: dict[str, list[asyncio.Task[None]]] = {}
        """By table, the tasks of its devices."""
        self._alerts: dict[str, Alert] = {}
        try:
            hidden = any(map(deals_face_down, configuration.table))
            self._cipher = (
                card_cipher(configuration, lambda: self._upkeep.signer) if hidden else None
            )
            tenure = None if pair is None else pair.begin()
            last = self._journal.latest("boot")
            # of a pair, the other daemon may have followed what this journal has not heard of
            fresh = last is None and self._journal.set_aside is None and pair is None
            self._seen = Seen(0.0 if fresh else time.time() + TOLERANCE)
            self._seen.restore(taken_before(tokens(self._journal)), time.time())
            self._people = people_file(configuration, last)
            self._take_offered(self._people)
            setup = _people_setup(configuration, self._people)
            self._upkeep = JournalUpkeep(
                *(configuration, self.boot, self._journal, self._alerts, self._changed, setup),
                tenure,
            )
            untold = {table.id: self._journal.all_untold(table.id) for table in configuration.table}
            for table in configuration.table:
                self._places[table.id] = self._place(table)
            self._runners[:] = (place.runner for place in self._places.values())
            # The node's own topics are among the simulated ones only if every table is simulated.
            node = Topics(site.id, simulated=all(table.simulated for table in configuration.table))
            self._api = TablesApi(
                *(site.node, self.boot, node, self._places, configuration.broker.response_topics),
                None if pair is None else pair.health(),
            )
            for root in _roots_before(last, site.id):
                self._api.claims.add_root(root)
            self._api.alerts = self._alerts
            self._api.reload = None if pair is None else pair.reloaded
            self._say_people()
            self._say_restored(untold)
            self._say_taken_over(untold)
            if pair is not None:
                pair.tell(self._progress)
        except BaseException:
            self._journal.close()
            raise
        if self._journal.set_aside is not None or self._journal.lost is not None:
            self._journal_set_aside()
        if self._journal.failed is not None:  # while it waited in a pair
            self._journal_changed(self._journal.failed)
        found = exposed(Path(configuration.journal.path), Path(configuration.recordings.path))
        if found := [*found, *exposed_secrets(configuration.broker)]:
            self._log.warning(
                "other users of this machine can read these files; run chmod go= on them",
                files=[str(path) for path in found],
            )

    async def run(self, stop: asyncio.Event) -> None:
        """Serve the tables until ``stop``; then store and publish what is pending and publish
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
            broker,
            broker.client_id or f"novamas-{site.id}-{site.node}",
            self._journal,
            self._api,
            self._stages,
            self._health_due.set,
            None if self._pair is None else self._pair.exclusive(),
        )
        self._publisher = publisher
        runners = self._runners
        clock = TimeWatch(
            self._configuration.clock, self._journal, runners, self._alerts, self._changed
        )
        reporter = HealthReporter(
            self.boot,
            self._journal,
            publisher,
            self._api,
            self._places,
            clock,
            lambda: self._upkeep.doubt,
            self._stages,
        )
        certificates = CertificateWatch(self._configuration, self._alerts, self._changed)
        async with asyncio.TaskGroup() as group:

            def essential(name: str, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
                return group.create_task(self._essential(name, work, stop), name=name)

            publishing = essential("publisher", publisher.run())

            def read(table: str) -> None:
                self._reading[table] = [
                    essential(f"device {name} of table {table}", device.run())
                    for name, device in self._places[table].devices.items()
                ]

            for table in self._places:
                read(table)
            pair = self._pair
            chores = [
                essential("journal", self._journal.watch()),
                essential("health", self._report(reporter)),
                essential("journal upkeep", self._upkeep.run(runners, lambda: publisher.position)),
                essential("read back", self._upkeep.read_back()),
                essential("journal watch", self._upkeep.watch()),
                essential("people", self._watch_people(publisher)),
                essential("clock", clock.run()),
                essential("certificates", certificates.run()),
            ]
            if listen := self._configuration.metrics.listen:
                chores.append(
                    group.create_task(self._tell(listen, reporter, certificates), name="metrics")
                )
            if (interval := watchdog_interval()) is not None:
                chores.append(essential("watchdog", self._live(reporter, interval)))
            floor = Floor(
                *(self._places, runners, self._api, publisher, self._upkeep),
                *(self._ready_for, self._try, self._place_anew, read, self._stop_reading),
            )
            reload = ReloadTables(
                self._configuration, self._file, self._tell_reload, self._journal, floor
            )
            reloading = essential("reload", reload.run(self._again))
            if pair is not None:
                chores.append(essential("pair", pair.watch(self._duty(publisher, reload))))
            gc.collect()
            gc.freeze()  # what stays for good is not looked through again and again
            notify("READY=1", self._status())
            self._log.info(
                "daemon up",
                boot=self.boot,
                tables=list(self._places),
                devices=sum(map(len, self._reading.values())),
                broker=broker.url,
            )
            if pair is not None and await _first(stop, pair.yields) is pair.yields:
                self._deadline.within(DEATH)
                reading = [task for tasks in self._reading.values() for task in tasks]
                await _cancel(reloading, *reading, publishing, *chores, within=LET_GO)
                await pair.let_go()
            await stop.wait()
            notify("STOPPING=1")
            self._log.info("daemon stops")
            await _cancel(reloading)
            await _cancel(*(task for tasks in self._reading.values() for task in tasks))
            self._upkeep.flush(runners)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(FAREWELL):
                    await asyncio.gather(*(runner.drain() for runner in runners))
            self._api.node["checkpoint"] = msgspec.json.encode(self._upkeep.checkpoint())
            publisher.end()
            await asyncio.wait([publishing], timeout=FAREWELL)
            await _cancel(publishing, *chores)
        if self._pair is not None:
            self._pair.ended(self._progress())
        self._log.info("daemon down")

    def _progress(self) -> Progress:
        """How far we have come, for the daemon that may go on after us."""
        from controller.standby.right import Progress  # the pair that asks for it has loaded it

        tables = {place.runner.table.id: place.runner.table for place in self._places.values()}
        return Progress(
            self._upkeep.checkpoint(),
            {id: table.session for id, table in tables.items()},  # noqa: A001
            {id: table.readings for id, table in tables.items() if table.face_down},  # noqa: A001
        )

    def _duty(self, publisher: Publisher, reload: ReloadTables) -> Duty:
        """What the pair asks of this daemon while it serves."""
        from controller.service.pair import Duty  # only a pair asks

        return Duty(
            connected=lambda: publisher.standing.connected,
            unanswered=lambda: publisher.unanswered,
            devices=lambda: {
                f"{table}/{name}": device.health().state
                for table, place in self._places.items()
                for name, device in place.devices.items()
            },
            hasten=publisher.hasten,
            alert=self._say_unready,
            differ=self._say_different,
            people=lambda: self._people,
            configuration=lambda: reload.now,
            abandon=lambda tables: self._abandon(publisher, tables),
        )

    def _abandon(self, publisher: Publisher, tables: Mapping[str, bool]) -> None:
        """The other daemon of the pair has tables that this one has not: nobody serves them now,
        and what is retained of them does not hold.
        """
        for table, simulated in tables.items():
            topics = Topics(self._configuration.site.id, simulated)
            publisher.abandon(table, [topics.table(table, leaf) for leaf in RETAINED])
        self._log.error("tables of the other daemon are served by nobody", tables=sorted(tables))

    def _say_different(self, what: str | None) -> None:
        """Raise or clear the alert that the two machines of the pair differ."""
        if what is None:
            self._alerts.pop(DIFFERENT, None)
            self._log.info("the two machines are alike")
        else:
            self._alerts[DIFFERENT] = Alert(
                alert=DIFFERENT,
                what="standby.different",
                severity="warning",
                raised=utc(time.time()),
                detail=f"the two machines of the pair differ: {what}. Make them the same",
            )
            self._log.warning("the two machines differ", what=what)
        self._changed()

    def _say_unready(self, why: str | None) -> None:
        """Raise or clear the alert that nobody could take the tables over."""
        if why is None:
            self._alerts.pop(UNREADY, None)
            self._log.info("another daemon could take the tables over")
        else:
            what = f"{why}. If this daemon ends, nobody serves the tables until that is cured"
            self._alerts[UNREADY] = Alert(
                alert=UNREADY,
                what="standby.unready",
                severity="warning",
                raised=utc(time.time()),
                detail=what,
            )
            self._log.warning("no other daemon could take the tables over", reason=why)
        self._changed()

    def _status(self) -> str:
        devices = sum(map(len, self._reading.values()))
        return f"STATUS={len(self._places)} tables, {devices} devices"

    def _ready_for(self, configuration: Configuration) -> None:
        """Raises ``KeyFileError`` if there is no key for its face-down cards."""
        if self._cipher is None and any(map(deals_face_down, configuration.table)):
            self._cipher = card_cipher(configuration, lambda: self._upkeep.signer)

    def _try(self, table: TableSettings) -> None:
        """Make the table and what reads its devices, as far as that leaves no trace. Raises
        ``JournalUnusableError``, ``UnrestorableStateError``, and whatever a defect raises.
        """
        self._table(table)
        for device in table.device:
            _codec(device)

    def _place_anew(self, table: TableSettings) -> ServedTable:
        return self._place(table, "reload")

    async def _stop_reading(self, tables: Collection[str]) -> None:
        """Let nobody read the devices of these tables, nor look for them, any more."""
        await _cancel(*(task for table in tables for task in self._reading.pop(table)))
        for table in tables:
            self._places[table] = msgspec.structs.replace(self._places[table], devices={})

    def _tell_reload(self, told: ReloadHealth, begun: int) -> None:
        """Say how the configuration was taken over that was read at ``begun``, by the monotonic
        clock in nanoseconds.
        """
        self._api.reload = told
        write_answer(Path(self._configuration.journal.path), Answer(self.boot, begun, told))
        self._health_due.set()
        notify("READY=1", self._status())

    async def _essential(
        self, name: str, work: Coroutine[Any, Any, None], stop: asyncio.Event
    ) -> None:
        """Run a task that the daemon cannot do without. If it ends before ``stop``, the whole
        daemon ends within seconds: a daemon that runs but serves nobody is worse than one that is
        restarted.
        """
        task = asyncio.current_task()
        died: BaseException | None = None
        try:
            await work
        except asyncio.CancelledError as cancelled:
            if task is None or task.cancelling():
                raise
            died = cancelled  # nobody asked for it
        except Exception as error:
            died = error
        if died is None and stop.is_set():
            return
        self._deadline.within(DEATH)
        confidential = any(place.runner.table.face_down for place in self._places.values())
        self._log.error("essential task died", task=name, **error_fields(died, confidential))
        raise TaskDiedError(name)

    def _table(self, table: TableSettings) -> Table:
        """The table as the journal knows it. Raises ``JournalUnusableError`` and
        ``UnrestorableStateError``.
        """
        people = self._configuration.people
        about = About(
            title=_title(table),
            languages=table.languages or head(table.decree).languages,
            devices={device.id: device.driver for device in table.device},
            identities={device.id: each for device in table.device if (each := plate(device))},
            software=SOFTWARE,
            settings=table.settings,
            jackpot=table.jackpot,
            commands=allowed(
                table.game,
                table.decree,
                table.settings,
                at_table(rights(table.game, table.decree), people.may if people else {}),
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
            over=any(isinstance(each, HandOver) for each in self._journal.all_untold(table.id)),
        )

    def _place(self, table: TableSettings, why: Why = "boot") -> ServedTable:
        speed = table.speed if table.simulated else 1.0

        def clock() -> float:
            return clock_time(time.monotonic() * speed)

        people = self._configuration.people
        runner = TableRunner(
            partial(self._table, table),
            self._journal,
            clock,
            partial(self._changed, table.id),
            self._cipher,
            self._stages,
            why,
        )
        said = [configured_identity(device, clock()) for device in table.device]
        if news := [each for each in said if not runner.table.is_known(each)]:
            runner.on_readings(news)
        if runner.table.face_down and self._configuration.recordings.enabled:
            self._log.warning(
                "cards are face down: no recordings are written; the journal has the bytes, sealed",
                table=table.id,
            )
        devices = {device.id: self._device(table, device, runner) for device in table.device}
        silence = (
            max((device.stale_after for device in table.device), default=0.0) + STUCK * table.speed
        )
        topics = Topics(self._configuration.site.id, table.simulated)
        gate = None
        if people is not None and self._people is not None:
            gate = Gate(
                f"{topics.root}/{table.id}",
                table.id,
                self._people.now.people,
                at_table(rights(table.game, table.decree), people.may),
                self._seen,
                tuple(mark for mark in MARKED if mark in people.two_persons),
            )
        required = people is not None and people.required is True
        return ServedTable(runner, topics, devices, silence, gate, required)

    def _device(
        self, table: TableSettings, device: DeviceSettings, runner: TableRunner
    ) -> DeviceSupervisor:
        pair = self._pair

        def hold() -> None:
            if pair is not None:
                pair.hold()

        def note(call: AnyCall) -> None:
            hold()  # what it said while we were frozen is for the daemon that has taken over
            runner.on_bytes(device.id, call)
            if not isinstance(call, BytesReceived):
                # an opened or closed link means nothing to the table, but health reports it
                self._health_due.set()

        def take(readings: list[AnyReading]) -> None:
            runner.on_readings(readings, noted=True)
            if any(isinstance(reading, OF_A_LINK) for reading in readings):
                self._health_due.set()

        def identify(facts: Mapping[str, str]) -> None:
            told = usb_identity(device.id, facts, runner.clock())
            if told is not None and not runner.table.is_known(told):
                runner.on_readings([told])

        return DeviceSupervisor(
            id=device.id,
            url=device.link,
            codec=_codec(device),
            take=take,
            stale_after=device.stale_after,
            clock=runner.clock,
            speed=table.speed if table.simulated else 1.0,
            recorder=None if runner.table.face_down else self._recorder(table.id, device),
            confidential=runner.table.face_down,
            commands_enabled=device.commands,
            note=note,
            identify=identify,
            hold=hold,
            log=self._log.bind(table=table.id),
        )

    def _recorder(self, table: str, device: DeviceSettings) -> RecordingWriter | None:
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
        """Take over each change of the people file, and tell whose command found no second person
        in time.
        """
        while True:
            await asyncio.sleep(LOOK)
            if self._people is not None:
                found = await asyncio.to_thread(self._people.look)
                if found is None and self._pair is not None:
                    found = self._pair.offered(self._people)
                if found is not None:
                    self._take_people(self._people, found)
                self._say_people()
            publisher.tell(self._api.late(time.time()))

    def _take_offered(self, file: PeopleFile | None) -> None:
        """Begin with the people file of the other daemon of a pair, where that is a later one."""
        found = None if file is None or self._pair is None else self._pair.offered(file)
        if file is not None and found is not None:
            file.take(found)
            self._log.warning("people file of the other daemon", number=found.people.head.number)

    def _take_people(self, file: PeopleFile, found: InForce) -> None:
        """Nobody may act of whom the journal does not know."""
        try:
            self._upkeep.tell_people(_setup(self._configuration, found))
        except (JournalFullError, JournalUnusableError) as error:
            self._log.error("people cannot be taken over yet", reason=str(error))
            return
        file.take(found)
        for place in self._places.values():
            if place.gate is not None:
                place.gate.people = found.people
        self._log.info("people taken over", number=found.people.head.number, sha256=found.sha256)

    def _say_people(self) -> None:
        """Tell who may act, and raise or clear the alert of a file that is refused."""
        file, known = self._people, self._api.people
        if file is None:
            return
        now = file.now
        since = known.since if known and known.sha256 == now.sha256 else utc(time.time())
        told = PeopleHealth(
            number=now.people.head.number,
            sha256=now.sha256,
            since=since,
            persons=sum(person.revoked is None for person in now.people.persons),
            trouble=file.trouble,
        )
        if told == known:
            return
        self._api.people = told
        self._health_due.set()
        if file.trouble is None:
            self._alerts.pop(PEOPLE, None)
        else:
            what = f"{file.trouble}. Number {told.number} stays in force"
            self._alerts[PEOPLE] = _alert(PEOPLE, "people.refused", what)
            self._log.error("people file refused", reason=file.trouble)
        self._changed()

    def _say_restored(self, untold: Mapping[str, Points]) -> None:
        """Raise the alert of a journal that goes on from a backup, at the start at which these
        tables tell it.
        """
        point = self._journal.restored
        tables = [table for table, told in untold.items() if point in told]
        if point is None or not tables:
            return
        self._log.error(
            "journal restored", tables=tables, since=point.since, position=point.position
        )
        what = (
            f"a backup of {point.since} was restored at {point.at}. What was told after it stands "
            f"with subscribers alone. Sessions are closed and begin with a higher number at "
            f"{', '.join(tables)}; the alert ends with the next start of the daemon"
        )
        self._alerts[RESTORED] = Alert(
            alert=RESTORED,
            what="journal.restored",
            severity="warning",
            raised=utc(time.time()),
            detail=what,
        )

    def _say_taken_over(self, untold: Mapping[str, Points]) -> None:
        """Raise the alert of tables that another daemon of the pair had before."""
        point = self._journal.handed
        tables = [table for table, told in untold.items() if point in told]
        if point is None or not tables:
            return
        who = (
            "nobody knows what another daemon did, for the store of the pair had lost its record"
            if point.forgotten
            else f"{point.instance} had the tables, and was last heard of at {point.since}"
        )
        self._log.error(
            "tables taken over", tables=tables, of=point.instance, since=point.since, at=point.at
        )
        if point.since > point.at:
            who += (
                " by its own clock, which is ahead of this one, so that nobody knows how long the "
                "gap was"
            )
        what = (
            f"{who}; this daemon took them over at {point.at}. What happened in between it cannot "
            f"know. Sessions are closed and begin with a higher number at {', '.join(tables)}; the "
            "alert ends with the next start of the daemon"
        )
        self._alerts[TAKEN_OVER] = Alert(
            alert=TAKEN_OVER,
            what="table.taken_over",
            severity="warning",
            raised=utc(time.time()),
            detail=what,
        )

    def _changed(self, table: str | None = None) -> None:
        """A table has something new to publish, or an alert that concerns every table."""
        if self._publisher is not None:
            self._publisher.wake(table)

    def _journal_changed(self, trouble: str | None) -> None:
        """The journal failed or recovered. The tables show it themselves: this news cannot wait for
        the journal.
        """
        if trouble is None:
            self._log.info("journal is written again")
            self._alerts.pop("journal", None)
        else:
            self._log.error("journal cannot be written", reason=trouble)
            what = (
                f"{trouble}. Nothing is published and every command is refused until the journal "
                "can be written: free some space, or replace the disk"
            )
            self._alerts["journal"] = _alert("journal", "journal.failed", what)
        for place in self._places.values():
            place.runner.halt(
                None if trouble is None else f"the journal cannot be written: {trouble}"
            )
        self._changed()
        self._health_due.set()

    def _journal_set_aside(self) -> None:
        """Raise the alert of a damaged journal, found at the start or at run time; at run time the
        tables continue in a new file.
        """
        aside, lost = self._journal.set_aside, self._journal.lost
        self._log.error("journal set aside", file=str(aside), lost=lost)
        happened = []
        if aside is not None:
            happened.append(
                f"the journal was damaged and was set aside as {aside}: keep that file, and "
                "confirm every round that is unresolved"
            )
        if lost is not None:
            happened.append(
                f"entries that were not yet published could not be read and are lost: {lost}"
            )
        what = ". ".join(happened)
        self._alerts["journal-set-aside"] = _alert("journal-set-aside", "journal.set_aside", what)
        self._changed()

    async def _report(self, reporter: HealthReporter) -> None:
        """Publish health: on every change, and every half minute. With many tables a report takes
        its time, so changes that come together make one.
        """
        published: tuple[Any, ...] = ()
        due = 0.0
        while True:
            self._health_due.clear()
            begun = time.thread_time()
            notable = reporter.notable()
            if notable != published or time.monotonic() >= due:
                published, due = notable, time.monotonic() + PERIOD
                self._api.node = {
                    "health": msgspec.json.encode(reporter.report()),
                    "checkpoint": msgspec.json.encode(self._upkeep.checkpoint()),
                }
                if self._publisher is not None:
                    self._publisher.wake()
            await asyncio.sleep((time.thread_time() - begun) / REPORTING)
            trouble = reporter.trouble()
            while time.monotonic() < due and reporter.trouble() == trouble:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(LOOK):
                        await self._health_due.wait()
                        break

    async def _tell(
        self, listen: str, reporter: HealthReporter, certificates: CertificateWatch
    ) -> None:
        """Answer Prometheus, for as long as the daemon runs."""
        from controller.metrics import endpoint
        from controller.service.metrics import DaemonMetrics

        await asyncio.to_thread(import_module, "prometheus_client")  # it takes its time

        site = self._configuration.site
        metrics = DaemonMetrics(
            *(site.id, site.node, reporter, self._places),
            *(self._api, self._journal, self._upkeep, self._stages),
            certificates=certificates,
        )
        await endpoint.serve(address(listen), {b"/metrics": metrics.page})

    async def _live(self, reporter: HealthReporter, interval: float) -> None:
        """Tell the watchdog that the daemon is alive, as long as everything makes progress."""
        while True:
            stuck = reporter.stuck()
            if stuck is None:
                notify("WATCHDOG=1")
            else:
                self._log.error("no progress", what=stuck)
            await asyncio.sleep(interval)


@contextlib.asynccontextmanager
async def _broker(broker: BrokerConfig) -> AsyncIterator[BrokerConfig]:
    """The broker to publish to. An embedded one runs until the context ends."""
    address = urlsplit(broker.url)
    if address.scheme != "embedded":
        yield broker
        return
    async with embedded_broker(address.hostname or "127.0.0.1", address.port or 0) as (host, port):
        yield msgspec.structs.replace(broker, url=f"mqtt://{host}:{port}", protocol="3.1.1")


async def _cancel(*tasks: asyncio.Task[None], within: float = FAREWELL) -> None:
    for task in tasks:
        task.cancel()
    if tasks:  # one that hangs must not keep the others from finishing
        await asyncio.wait(tasks, timeout=within)


async def _first(*events: asyncio.Event) -> asyncio.Event:
    """The one that is set first; of several that are, the first."""
    waiting = [asyncio.create_task(event.wait()) for event in events]
    try:
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in waiting:
            task.cancel()
    return next(event for event in events if event.is_set())


def _alert(alert: str, what: str, detail: str) -> Alert:
    return Alert(alert=alert, what=what, severity="fault", raised=utc(time.time()), detail=detail)


def _roots_before(last: Entry | None, site: str) -> list[Topics]:
    """Of the topics of the tables in ``last``, the ``boot`` entry of the run before."""
    if last is None:
        return []
    before = msgspec.json.decode(last.body, type=Boot)
    simulated = {table.simulated for table in before.tables if before.site == site}
    return [Topics(site, each) for each in sorted(simulated)]


def _people_setup(configuration: Configuration, file: PeopleFile | None) -> PeopleSetup | None:
    if file is not None:
        return _setup(configuration, file.now)
    people = configuration.people
    return None if people is None else PeopleSetup(required=people.required)


def _setup(configuration: Configuration, found: InForce) -> PeopleSetup:
    """What the journal keeps of the people file in force."""
    people = configuration.people
    assert people is not None
    return PeopleSetup(
        file=found.text,
        key=people.key,
        required=people.required,
        two_persons=people.two_persons,
        may=people.may,
    )


def _codec(device: DeviceSettings) -> Codec:
    found = driver(device.driver)
    return found.make(device.id, msgspec.convert(device.options, found.options))


def _title(table: TableSettings) -> dict[str, str]:
    """What the decree calls the game, by language."""
    book = chapter(table.decree, table.game)
    return {} if book is None else book.title
