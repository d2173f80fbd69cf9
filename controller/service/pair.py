"""The daemon's place in a pair: it waits for the lease of its tables, and serves while it has
it.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from controller.configuration.listening import address
from controller.configuration.settings import Configuration, StandbyConfig
from controller.contract.node import ReloadHealth, StandbyHealth
from controller.contract.times import utc
from controller.contract.version import VERSION
from controller.journal.journal import Journal
from controller.journal.schema import Entry, new_boot
from controller.journal.setup import Boot, Tenure
from controller.mqtt.publisher import Exclusive
from controller.people.people_file import InForce, PeopleFile
from controller.people.register import PeopleError
from controller.proof.checkpoint_signer import CheckpointSigner
from controller.service import logs
from controller.service.alike import facts
from controller.service.people_in_force import people_file
from controller.service.readiness import Readiness
from controller.service.reload import Reload
from controller.service.reload_answer import Answer, write_answer
from controller.service.shared_people import SharedPeople
from controller.service.systemd_notify import notify
from controller.standby.exchange import Exchange
from controller.standby.fence import Fence, boottime
from controller.standby.lease import RENEWALS, Own, grace
from controller.standby.record import LONGEST_TEXT, Record, highest, read_record
from controller.standby.right import (
    LONGEST_LOOK,
    LOOKS,
    Candidate,
    ClaimConditions,
    Progress,
    Right,
    machine,
    patience,
)
from controller.standby.seal import Seal
from controller.standby.statements import (
    BROKER,
    DEVICES,
    JOURNAL,
    KEY,
    START,
    Board,
    Missing,
    Statement,
    better,
    differences,
    read_board,
)
from controller.standby.store import Store
from devices.errors import NovamasError
from devices.log import structlog
from devices.watch import State

HUNG = 0.5
"""The part of a lease after which a commit, or an acknowledgement of the broker, that has not come
keeps a daemon from serving.
"""
ALONE = 6
"""Leases without another daemon after which an alert says so."""
FAILED_FOR = 6
"""Leases for which a daemon whose run has failed says that it could not serve."""
SPEAKING: tuple[State, ...] = ("up", "unintelligible")
MISSING: Mapping[State, Missing] = {"lost": "lost", "stale": "stale"}
BOARD, PEOPLE = ".daemons", ".people"
"""Behind the key of the lease: the keys of the statements, and of the people file."""


def instance(settings: StandbyConfig) -> str:
    """The name of this machine in the pair."""
    return settings.instance or socket.gethostname().partition(".")[0].lower()


class Duty(NamedTuple):
    """What a daemon that serves knows of its own ability. ``devices``: the state of each, by
    ``table/device``; ``hasten``: connect to the broker now; ``alert``: that the other daemon could
    not take over, and why; None: it could; ``differ``: what differs between the two; ``people``
    and ``configuration``: those in force; ``abandon``: take back what another daemon published of
    these tables.
    """

    connected: Callable[[], bool]
    unanswered: Callable[[], float]
    devices: Callable[[], Mapping[str, State]]
    hasten: Callable[[], None]
    alert: Callable[[str | None], None]
    differ: Callable[[str | None], None]
    people: Callable[[], PeopleFile | None]
    configuration: Callable[[], Configuration]
    abandon: Callable[[Mapping[str, bool]], None]


class Pair:
    """One daemon of two. It opens its journal at once, and nothing else before it has the lease.
    Until then it reads its configuration again from ``file``. Raises ``JournalUnusableError``.
    """

    def __init__(self, configuration: Configuration, file: Path | None = None) -> None:
        settings = configuration.standby
        assert settings is not None
        self.boot = new_boot()
        self.journal = Journal(Path(configuration.journal.path))
        self._settings = settings
        self.reloaded: ReloadHealth | None = None
        """How the configuration was last taken over while we waited."""
        self._reload = Reload(configuration, file, self._tell_reload)
        self._path, self._credential = (
            Path(configuration.journal.path),
            configuration.journal.key_credential,
        )
        self._signer = CheckpointSigner(self._path, self.boot, self._credential)
        node, within = configuration.site.node, patience(settings.lease)
        seal, board = (
            Seal(f"{configuration.site.id}/{name}", lambda: self._signer.signer, settings.keys)
            for name in (node, f"{node}{BOARD}")
        )
        self._store = Store(
            *(settings, node, within, partial(read_record, seal=seal)),
            lambda record: msgspec.json.encode(seal.sign(record)),
        )
        statements: Store[Board] = Store(
            settings, f"{node}{BOARD}", within, partial(read_board, seal=board)
        )
        self._fence = Fence(logs.drain)
        self._own, self._before = _own(self.journal, instance(settings), self.boot)
        self._exchange = Exchange(statements, self.journal.id, settings.lease, self._state, board)
        self._duty: Duty | None = None
        """Once it serves."""
        last = self.journal.latest("boot")
        self._people = _people_of(configuration, last)
        self._shared = SharedPeople(
            Store(settings, f"{node}{PEOPLE}", within, _text, str.encode),
            lambda: self._people if self._duty is None else self._duty.people(),
        )
        self._exchanging: asyncio.Task[None] | None = None
        self._keeping: asyncio.Task[None] | None = None
        self._readiness: Readiness | None = None
        """While it waits."""
        self._troubles: dict[str, str] = {}
        self._missing: dict[str, Missing] = {}
        self._judged: Collection[str] | None = None
        """The kinds of trouble that the log has of the one that waits; None: none yet."""
        self._failure: str | None = None
        """Why this run has failed."""
        self._failed: tuple[str, float] | None = None
        """Why the run before this one failed, and until when that counts."""
        self.yields = asyncio.Event()
        """Set when the tables are to be given to the other daemon, which can serve."""
        self._cause = ""
        self._right: Right | None = None
        self._last: Progress | None = None
        self._status = ""
        self._log = structlog.get_logger()

    @property
    def configuration(self) -> Configuration:
        """By which the tables are to be served."""
        return self._reload.now

    async def wait(self, stop: asyncio.Event, again: asyncio.Event) -> bool:
        """Until the lease is ours: True; or until ``stop``. Meanwhile, whenever ``again`` is set,
        the configuration is read again.
        """
        self.journal.announce()
        self._log.info("daemon waits for the lease of its tables", instance=self._own.instance)
        self._say("waits for the lease of its tables", "READY=1")
        self._readiness = readiness = Readiness(
            lambda: self.configuration, self.journal, self._settings.lease
        )
        candidate = Candidate(
            *(self._own, self._settings.lease, self._store, self._fence),
            told=self._tell,
            alive=lambda: notify("WATCHDOG=1"),
            conditions=ClaimConditions(
                troubles=lambda: self._unable(readiness),
                barred=(JOURNAL, KEY),
                rival=lambda: self._exchange.rival() is not None,
                sure=readiness.try_journal,
            ),
        )
        self._exchanging = asyncio.create_task(self._talk(), name="statements")
        taking, stopping = (
            asyncio.create_task(candidate.wait()),
            asyncio.create_task(stop.wait()),
        )
        reloading = asyncio.create_task(self._reload.run(again))
        looking = (
            asyncio.create_task(readiness.run(), name="readiness"),
            asyncio.create_task(self._look_for_devices(readiness), name="devices"),
        )
        endless = (reloading, self._exchanging, *looking)
        tasks: list[asyncio.Task[Any]] = [taking, stopping, reloading, *looking]
        if listen := self.configuration.metrics.listen:
            tasks.append(asyncio.create_task(self._answer(listen)))
        try:
            await asyncio.wait((taking, stopping, *endless), return_when=asyncio.FIRST_COMPLETED)
            for each in endless:
                if each.done():
                    each.result()  # a defect, which ends the daemon
            if not taking.done():
                return False
            self._right = taking.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            self._readiness = None
        record = self._held.record
        self._troubles = {}
        self._log.info(
            "lease taken", instance=record.instance, term=record.term, first=record.first
        )
        return True

    @contextlib.asynccontextmanager
    async def renewing(self) -> AsyncIterator[None]:
        """Renew the lease meanwhile."""
        keeping = self._keeping = asyncio.create_task(self._held.keep(), name="lease")
        keeping.add_done_callback(self._note_end)
        try:
            yield
        finally:
            keeping.cancel()
            await asyncio.wait([keeping])

    def _note_end(self, keeping: asyncio.Task[None]) -> None:
        """A defect: nothing renews the lease any more, and the process ends with it."""
        if not keeping.cancelled():
            self._log.error("the lease is renewed no longer", exc_info=keeping.exception())

    async def _talk(self) -> None:
        """Exchange statements and the people file with the other daemon, until cancelled."""
        while True:
            if self._duty is None and (file := self._people) is not None:
                if (found := await asyncio.to_thread(file.look)) is not None:
                    file.take(found)
                if (later := self._shared.offered(file)) is not None:
                    file.take(later)
                    number = later.people.head.number
                    self._log.info("people file of the other daemon", number=number)
            await self._shared.exchange()
            await self._exchange.tell()
            if self._duty is None:
                self._compare(self._tell_differences)
            await asyncio.sleep(self._settings.lease / RENEWALS)

    def offered(self, file: PeopleFile) -> InForce | None:
        """A later people file than this one, which the other daemon has or had in force."""
        return self._shared.offered(file)

    def _compare(self, tell: Callable[[str | None], None], *more: str) -> None:
        """Say what differs between the machines, and ``more``, when that is another."""
        own = self._state(0)
        found = {each for other in self._exchange.fresh() for each in differences(own, other)}
        found.update(more)
        said = "; ".join(sorted(found)) or None
        if said != self._different:
            self._different = said
            tell(said)

    _different: str | None = None

    def _tell_differences(self, said: str | None) -> None:
        if said is None:
            self._log.info("the two machines are alike")
        else:
            self._log.warning("the two machines differ", what=said)

    async def watch(self, duty: Duty) -> None:
        """Until the tables are to be given to the other daemon: see whether this one can serve, and
        whether the other one could.
        """
        seconds = self._settings.lease
        self._duty, self._different = duty, None
        abandoned: set[str] = set()
        begun = steady = heard = boottime()
        since: float | None = None
        told: str | None = None
        while not self.yields.is_set():
            await asyncio.sleep(min(seconds / LOOKS, LONGEST_LOOK))
            now = boottime()
            if self._exchanging is not None and self._exchanging.done():
                self._exchanging.result()  # a defect, which ends the daemon
            self._judge(duty)
            if self._troubles:
                steady = now
            self._held.able = (now - steady) / seconds
            why = better(self._troubles, self._missing, self._exchange.rival())
            if why is None or now - begun < seconds:
                since = None
            elif since is None:
                since = now
            elif now - since >= grace(self._held.record):
                self._cause = why
                self.yields.set()
            if since is not None and BROKER in self._troubles:
                duty.hasten()
            for peer in self._exchange.peers.values():
                served = peer.statement.tables if peer.statement.serves else {}
                if left := served.keys() - self._tables() - abandoned:
                    abandoned |= left
                    duty.abandon({name: served[name] for name in left})
            lost = ", ".join(sorted(abandoned - self._tables()))
            self._compare(duty.differ, *([f"nobody serves {lost}"] if lost else []))
            others = [each for each in self._exchange.fresh() if not each.serves]
            if others:
                heard = now
            if (other := _other(others, now - heard > ALONE * seconds)) != told:
                told = other
                duty.alert(told)
        await asyncio.Event().wait()

    def _judge(self, duty: Duty) -> None:
        """What keeps this daemon, which serves, from doing so."""
        most, found = HUNG * self._settings.lease, {}
        if self.journal.failed is not None:
            found[JOURNAL] = f"the journal cannot be written: {self.journal.failed}"
        elif (hung := self.journal.hung) > most:
            found[JOURNAL] = f"the journal's disk has not stored anything for {hung:.0f} s"
        if not duty.connected():
            found[BROKER] = "the broker cannot be reached"
        elif (silent := duty.unanswered()) > most:
            found[BROKER] = f"the broker has acknowledged nothing for {silent:.0f} s"
        states = duty.devices()
        self._missing = {name: MISSING[state] for name, state in states.items() if state in MISSING}
        if self._missing and not any(state in SPEAKING for state in states.values()):
            found[DEVICES] = f"no device can be reached: {', '.join(self._missing)}"
        if found.keys() != self._troubles.keys() and found:
            self._log.warning("this daemon cannot serve", reason="; ".join(found.values()))
        self._troubles = found

    def begin(self) -> Tenure:
        """By which right the daemon serves, as its journal keeps it. A hand-over is told by every
        table whose state is older than it.
        """
        record = self._held.record
        tenure = self._held.tenure
        if self._before is not None and record.first <= self._own.term <= record.term:
            before = self._before.before
        elif (before := tenure.before) is not None:
            restored = self.journal.restored
            known = {} if restored is None else restored.sessions
            sessions = highest(before.sessions, known)
            if restored is not None and before.journal == restored.journal:
                # of the journal that was lost here: no other daemon had the tables
                self.journal.restored = replace(restored, sessions=sessions)
                before = None
            else:
                through = self.journal.head()
                before = replace(before, at=record.since, through=through, sessions=sessions)
        self.journal.handed = before
        return replace(tenure, before=before)

    def health(self) -> StandbyHealth:
        """What the daemon says of it."""
        record = self._held.record
        return StandbyHealth(instance=record.instance, term=record.term, since=record.since)

    def exclusive(self) -> Exclusive:
        """What the publisher asks before it writes."""
        right = self._held
        return Exclusive(right.hold, right.confirm, taken_over=self.journal.handed is not None)

    def hold(self) -> None:
        """Return if we may write now; otherwise the process ends here."""
        self._held.hold()

    def tell(self, progress: Callable[[], Progress]) -> None:
        """What the store is told from now on with each renewal."""
        self._held.progress = progress

    def ended(self, last: Progress) -> None:
        """Nothing is published any more, and the journal ends so."""
        self._last = last

    async def release(self) -> None:
        """Give the lease back, once all has ended in order."""
        if self._last is not None:
            await self._held.release(self._last)

    async def fail(self, error: Exception) -> None:
        """The run has failed, before or while it served, and writes nothing any more: give the
        lease back.
        """
        named = isinstance(error, NovamasError | OSError)
        why = str(error) if named else type(error).__name__
        self._failure = why
        self._fence.lift()
        with contextlib.suppress(TimeoutError):  # the process must end soon
            async with asyncio.timeout(2 * patience(self._settings.lease)):
                await self._exchange.tell()
        await self._held.release(None, f"the run failed: {why}")

    async def let_go(self) -> None:
        """Give the lease to the other daemon, as it was last renewed, and end the process. Nothing
        waits for what hangs: what is not published yet is when this daemon has the tables again.
        """
        if self._keeping is not None:
            self._keeping.cancel()
            await asyncio.wait([self._keeping])
        await self._held.release(None, self._cause, yields=True)
        self._held.end(f"the other daemon can serve the tables: {self._cause}")

    async def close(self) -> None:
        """End the connection to the store, and close the journal."""
        self._fence.lift()
        if self._exchanging is not None:
            self._exchanging.cancel()
            await asyncio.wait([self._exchanging])
        await self._exchange.close()
        await self._shared.close()
        await self._store.close()
        await asyncio.to_thread(self.journal.close)

    def _state(self, beat: int) -> Statement:
        """What this daemon states of itself."""
        own, readiness = self._own, self._readiness
        troubles = self._troubles if readiness is None else self._unable(readiness)
        if self._failure is not None:
            troubles = {START: self._failure}
        return Statement(
            instance=own.instance,
            boot=own.boot,
            journal=own.journal,
            machine=own.machine,
            beat=beat,
            lease=self._settings.lease,
            serves=readiness is None,
            troubles={kind: what[:LONGEST_TEXT] for kind, what in troubles.items()},
            missing={} if readiness is not None else self._missing,
            reached=() if readiness is None else readiness.reached,
            facts=self._facts(),
            tables={table.id: table.simulated for table in self._configured().table},
        )

    def _facts(self) -> dict[str, str]:
        """What must be the same on both machines, reckoned again when it may have changed."""
        of = self._configured(), self._in_force()
        if self._known_facts is None or self._known_facts[0] != of:
            self._known_facts = of, facts(*of)
        return self._known_facts[1]

    _known_facts: tuple[tuple[Configuration, InForce | None], dict[str, str]] | None = None

    def _configured(self) -> Configuration:
        return self.configuration if self._duty is None else self._duty.configuration()

    def _in_force(self) -> InForce | None:
        file = self._people if self._duty is None else self._duty.people()
        return None if file is None else file.now

    def _tables(self) -> set[str]:
        return {table.id for table in self._configured().table}

    def _unable(self, readiness: Readiness) -> dict[str, str]:
        """What keeps this daemon, which waits, from serving."""
        found = readiness.troubles
        if self._signer.signer is None:
            self._signer = CheckpointSigner(self._path, self.boot, self._credential)
        if self._signer.trouble is not None:
            found[KEY] = f"it cannot sign the lease: {self._signer.trouble}"
        before = self._exchange.before
        if self._failed is None and before is not None and START in before.troubles:
            until = boottime() + FAILED_FOR * self._settings.lease
            self._failed = before.troubles[START], until
        if self._failed is not None and boottime() < self._failed[1]:
            found[START] = f"its last run failed: {self._failed[0]}"
        self._troubles = found
        if readiness.is_known and found.keys() != self._judged:
            self._judged = found.keys()
            if found:
                self._log.warning("this daemon could not serve", reason="; ".join(found.values()))
            else:
                self._log.info("this daemon could serve")
            self._say(self._status)
        return found

    async def _look_for_devices(self, readiness: Readiness) -> None:
        """While the other daemon, which serves, misses devices, try to reach them."""
        while True:
            missing: dict[str, Missing] = {}
            for other in self._exchange.fresh():
                if other.serves and DEVICES in other.troubles:
                    missing |= other.missing
            await readiness.try_devices(missing)
            await asyncio.sleep(self._settings.lease / RENEWALS)

    @property
    def _held(self) -> Right:
        assert self._right is not None
        return self._right

    def _tell(self, record: Record | None, trouble: str | None) -> None:
        if trouble is not None:
            self._log.warning("the store of the lease does not answer", reason=trouble)
            self._say(f"waits; the store of the lease does not answer: {trouble[:200]}")
        elif record is None:
            self._say("waits; nobody has had the lease yet")
        else:
            who = f"{record.instance} {'gave back' if record.released else 'has'} the tables"
            if self._seen != (who, record.term):
                self._seen = who, record.term
                self._log.info(
                    "another daemon has the lease",
                    instance=record.instance,
                    term=record.term,
                    released=record.released,
                )
            self._say(f"waits: {who}, term {record.term}")

    _seen: tuple[str, int] = "", 0

    def _say(self, status: str, *lines: str) -> None:
        """Tell the service manager, also of a configuration that was not taken over."""
        self._status = status
        if self._judged and self._readiness is not None:
            status += f"; could not serve: {'; '.join(self._troubles.values())[:200]}"
        trouble = None if self.reloaded is None else self.reloaded.trouble
        if trouble is not None:
            status += f"; configuration not taken over: {' '.join(trouble.split())[:200]}"
        notify(*lines, f"STATUS={status}")

    def _tell_reload(self, told: ReloadHealth, begun: int) -> None:
        """``begun``: when the file began to be read, by the monotonic clock in nanoseconds."""
        self.reloaded = told
        write_answer(self.journal.path, Answer(self.boot, begun, told, waits=True))
        self._say(self._status, "READY=1")

    async def _answer(self, listen: str) -> None:
        """Answer Prometheus while we wait."""
        from controller.metrics import endpoint
        from controller.service.metrics import waiting_page

        await asyncio.to_thread(import_module, "prometheus_client")
        site = self.configuration.site
        page = waiting_page(
            site.id, site.node, VERSION, lambda: self.reloaded, lambda: bool(self._judged)
        )
        await endpoint.serve(address(listen), {b"/metrics": page})


def _other(waiting: list[Statement], alone: bool) -> str | None:
    """Why no other daemon could take the tables over; None: one could, or it is too early to
    say.
    """
    if not waiting:
        return "no other daemon waits" if alone else None
    if any(each.able for each in waiting):
        return None
    return "; ".join(f"{each.instance}: {'; '.join(each.troubles.values())}" for each in waiting)


def _people_of(configuration: Configuration, last: Entry | None) -> PeopleFile | None:
    """What this daemon would have in force; one that cannot be used ends it when it serves."""
    try:
        return people_file(configuration, last)
    except PeopleError:
        return None


def _text(body: bytes) -> str:
    return body.decode(errors="replace")


def _own(journal: Journal, name: str, boot: str) -> tuple[Own, Tenure | None]:
    last, entry = journal.latest("boot"), journal.latest()
    tenure = None if last is None else msgspec.json.decode(last.body, type=Boot).standby
    own = Own(
        instance=name,
        boot=boot,
        journal=journal.id,
        machine=machine(),
        term=0 if tenure is None else tenure.term,
        until=utc(time.time()) if entry is None else entry.time,
    )
    return own, tenure
