"""A whole casino in one process, on virtual time, from one seed."""

from __future__ import annotations

import gc
import shutil
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import Context
from functools import lru_cache, partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock
from urllib.parse import urlsplit

import paho.mqtt.client

import controller.service.pair
import controller.service.readiness
from common import blocking, clock, randomness
from common.chain import schema
from common.chain.schema import Entry
from controller.journal import read_back
from controller.proof import kernel_clock
from devices import loop_watch
from tests.world import device as devices
from tests.world.bodies import decoded
from tests.world.broker.broker import Broker, Connection
from tests.world.broker.faults import ActiveFaults
from tests.world.broker.packets import Publish, Reason
from tests.world.broker.sockets import Sockets, connect_in_memory
from tests.world.broker.wires import Wires
from tests.world.checkers import (
    Checker,
    InOrder,
    OneWriter,
    OnlyMotion,
    RoundOnce,
    StoredFirst,
    Truth,
)
from tests.world.client import Client
from tests.world.configuration import CONFIGURATION, ROOT, STANDBY, UNSIGNED
from tests.world.daemon import Node, daemon
from tests.world.disk import Disk
from tests.world.errors import PropertyViolatedError
from tests.world.lateness import Prompt
from tests.world.lease_store import Bucket, ProcessEndedError, WorldFence
from tests.world.liveness import CALM_SECONDS, Calm, PlaysAgain, Shown
from tests.world.loop import WorldLoop
from tests.world.pair import Fenced, Served, Takeover
from tests.world.parts import PARTS
from tests.world.process import PROCESS, Machine
from tests.world.program import Program
from tests.world.trace import Trace
from tests.world.watch import WorldLoopWatch
from tests.world.wheels import croupier, kinds
from tests.world.wheels.wheel import Wheel

BEGINS = 1_800_000_000.0
"""Wall time at which every world begins."""
LOOK_SECONDS = 30.0
"""How often the head of the tables looks whether one is closed."""
TICK_SECONDS = 1.0
"""How often checkers look at what lasts."""
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
"""Where the few files of a world are, if the machine has it: a file system in memory."""
BROKER = "broker.world", 1883
MOTION_SHARE = 0.25
"""Share of the worlds whose broker permits the topic ``motion``: its messages, of which nothing
follows, are nine in ten of a world's.
"""
TAIL_ENTRIES = 100
"""So many entries of a journal are read back twice a minute; it is 20,000 in a casino."""
KNOWN_ENTRIES = 50_000
"""Entries of journals whose hash is not computed again."""


class World:
    """``seed`` decides everything that happens in it. ``stack``: what is undone when it ends;
    ``folder``: where the files of its machines lie.

    A part (:mod:`tests.world.parts`) adds to ``tables``, ``sections``, ``programs`` and
    ``checkers`` before anything starts.
    """

    def __init__(
        self,
        seed: int,
        folder: Path,
        stack: ExitStack,
        pace: float = 1.0,
        pair: bool = False,
        wheels: Sequence[str] = ("cammegh-ss2",),
    ) -> None:
        self.folder, self.stack = folder, stack
        self.seed = seed
        self.random = Random(seed)
        self.finding: PropertyViolatedError | None = None
        self.loop = WorldLoop(lambda: self.random.uniform(0.0005, 0.005))
        self.checkers: list[Checker] = []
        self._methods: dict[str, list[Callable[..., None]]] = {}
        self.trace = Trace(lambda: self.loop.now, folder)
        self.quiet_at = 0.0
        """When the last fault ends."""
        self.is_settled = False
        """Whether everything has become right before the end of the rest."""
        self.calm = Calm()
        self.commands = 0
        self.loop.set_exception_handler(self._on_error)
        permits_motion = Random(f"motion {seed}").random() < MOTION_SHARE
        self.broker = _ObservedBroker(
            self._on_published, self._on_sent, self._on_refused, permits_motion=permits_motion
        )
        self.sockets = Sockets(Wires(self.broker), self.loop, self.loop.pair)
        self.wheels = {
            f"r{number}": Wheel(self.loop, f"r{number}", self.random.getrandbits(32), kind, pace)
            for number, kind in enumerate(wheels, 1)
        }
        devices.PORTS.clear()
        devices.PORTS.update(self.wheels)
        # at one that may be silent for long, only the age of its bytes shows that a number is late
        self.tables = {
            name: kinds.section(name, wheel.kind, pace, (60.0, 5.0)[number % 2])
            for number, (name, wheel) in enumerate(self.wheels.items())
        }
        """The configuration of each table."""
        self.profiles = [kinds.FOLDER / profile for profile in kinds.PROFILES]
        """The files beside the configuration of each daemon."""
        self.sections: list[str] = []
        """Further sections of the configuration of the daemons."""
        self.people = UNSIGNED
        """The section that says who may act. Where commands need no signature, the world itself
        opens the tables.
        """
        self.bucket = Bucket(self.random) if pair else None
        self.programs: list[Program] = []
        self.nodes: list[Node] = []
        self.takeovers: list[Takeover] = []
        """Of the tables of a pair of daemons, or of the ledger of a pair of controllers."""
        self.announced: list[float] = []
        """Seconds from each claim of a ledger to the first statement."""
        self.extras: dict[str, object] = {}
        """What a part keeps for its own faults and measurements, by its name."""
        self.sqlite = False
        """Whether journals are real files."""
        self.shared: set[str] = set()
        """Tables that several daemons have, of which no lease decides which of them serves."""
        self.absent: set[str] = set()
        """Tables whose daemon does not run once all faults are over."""

    def assemble(self, parts: Sequence[str]) -> None:
        """Let the parts join, and install the daemons and the checkers of every world."""
        for part in parts:
            PARTS[part](self)
        text = "".join([CONFIGURATION, self.people, *self.sections, *self.tables.values()])
        names = ("north", "south") if self.bucket else ("north",)
        installed = [
            self.install(name, text + STANDBY.format(name=name) if self.bucket else text)
            for name in names
        ]
        self.subscriber = Client(self.sockets, "observer", ("#",), self._on_received)
        for table, wheel in self.wheels.items():
            if wheel.kind.by_hand:
                croupier.WheelCroupier(
                    self, self.subscriber, table, wheel, self.random.getrandbits(32)
                )
        self.held = InOrder()
        disks = [node.disk for node in installed]
        ports = {(table, "wheel"): wheel for table, wheel in self.wheels.items()}
        self.checkers += [
            StoredFirst(self.shared),
            self.held,
            OneWriter(self.shared),
            RoundOnce(),
            OnlyMotion(),
            Truth(self.wheels, disks, names),
            Prompt(ports, names),
            Shown(self.broker.retained, self.calm, self.absent),
        ]
        if self.people is UNSIGNED:  # where people sign, a table is played if they like
            self.checkers += [
                PlaysAgain(lambda: self._tables(by_hand=False), self.calm),
                PlaysAgain(lambda: self._tables(by_hand=True), self.calm, croupier.PLAYS_SECONDS),
            ]
        if self.bucket is not None:
            served = Served(self, installed)
            self.takeovers = served.takeovers
            self.checkers += [Fenced(self, names), served]

    def install(self, name: str, text: str) -> Node:
        """Give a machine its disk, this configuration and a daemon."""
        folder = self.folder / name
        folder.mkdir()
        file = folder / "novamas.toml"
        file.write_text(text, encoding="utf-8")
        for profile in self.profiles:
            shutil.copy(profile, folder)
        on_stored = partial(self._on_stored, name)
        on_lost = partial(self._on_lost, name)
        disk = Disk(self.loop, self.random, on_stored, on_lost, real=self.sqlite)
        machine = Machine(name)
        program = Program(self.loop, name, machine, daemon(file, disk), self.note)
        self.programs.append(program)
        node = Node(machine, disk, program)
        self.nodes.append(node)
        return node

    def start(self) -> None:
        """Start all programs."""
        for program in self.programs:
            program.start()
        if self.people is UNSIGNED:
            self.open_sessions()
        self._tick()

    def lasts(self, seconds: float) -> float:
        """Note that a fault which begins now lasts that long; returns the seconds."""
        self.quiet_at = max(self.quiet_at, self.loop.now + seconds)
        self.calm.disturb(self.loop.now + seconds)
        return seconds

    def open_sessions(self) -> None:
        """The head of the tables opens those that are closed, and looks again in a while."""
        for table in self.wheels:
            retained = self.broker.retained.get(f"{ROOT}/{table}/state")
            if retained is not None and decoded(retained.payload)["status"] == "closed":
                self.subscriber.publish(
                    f"{ROOT}/{table}/command/session-open",
                    {"by": "M. Lasa", "role": "table_head", "client": "t", "id": self.commands},
                )
                self.commands += 1
        self.loop.call_later(LOOK_SECONDS, self.open_sessions, context=Context())

    def check_end(self) -> None:
        """Everything must have become right."""
        for program in self.programs:
            for failure in program.failures:
                text = f"{program.name}: {failure!r}"
                self.finding = self.finding or PropertyViolatedError(text)
        for table in self._unready():
            retained = self.broker.retained.get(f"{ROOT}/{table}/state")
            text = f"{table} has not become right: {retained and retained.payload!r}"
            self.finding = self.finding or PropertyViolatedError(text)
        for checker in self.checkers:
            self.check(checker.on_end)

    def _unready(self) -> Iterator[str]:
        """Return the tables at which nobody could play."""
        for table in self.wheels:
            retained = self.broker.retained.get(f"{ROOT}/{table}/state")
            status = None if retained is None else decoded(retained.payload)["status"]
            if status not in {"open", "closed", "waiting"}:
                yield table

    def _tables(self, *, by_hand: bool) -> list[str]:
        """Return the tables whose wheel is spun by hand, or not."""
        return [table for table, wheel in self.wheels.items() if wheel.kind.by_hand == by_hand]

    def _settle(self) -> None:
        """End the world before the end of its rest if every checker says that all is right."""
        now = self.loop.now
        if (
            now > self.quiet_at
            and self.calm.seconds(now) > CALM_SECONDS
            and all(checker.is_settled() for checker in reversed(self.checkers))
            and not any(self._unready())
        ):
            self.is_settled = True
            self.check_end()  # before anything else happens in the same moment
            self.loop.stop()

    def _on_error(self, loop: object, context: dict[str, Any]) -> None:
        """An exception that nobody has caught, in the world itself or in a program."""
        del loop
        error = context.get("exception")
        if isinstance(error, ProcessEndedError):
            return
        self.note(f"ERROR      {context['message']}: {error!r}")
        if error is not None:
            self.note("".join(traceback.format_exception(error)))
        self.finding = self.finding or PropertyViolatedError(f"{context['message']}: {error!r}")
        self.loop.stop()

    def note(self, text: str) -> None:
        """Add a line to the trace."""
        self.trace.note(text)

    def _tick(self) -> None:
        self._show("on_tick", self.loop.now)
        self._settle()
        self.loop.call_later(TICK_SECONDS, self._tick, context=Context())

    def _on_stored(self, owner: str, entries: list[Entry]) -> None:
        published = [entry for entry in entries if entry.is_published]
        for entry in published:
            self.trace.stored(owner, entry)
        self._show("on_entries", entries, owner)
        if published:
            self._show("on_stored", published, owner)

    def _on_lost(self, owner: str, entries: list[Entry]) -> None:
        self.note(f"LOST       {owner} {[(e.table, e.boot, e.seq) for e in entries]}")
        for checker in self.checkers:
            self.check(checker.on_lost, entries, owner)

    def restored(self, owner: str, kept: list[Entry]) -> None:
        """The journal of a daemon holds only what a backup has kept, from now on."""
        self.note(f"RESTORED   {owner}: {len(kept)} entries")
        for checker in self.checkers:
            self.check(checker.on_restored, kept, owner)

    def _on_published(self, client: str, packet: Publish) -> None:
        self.trace.published(client, packet)
        self._show("on_published", packet)

    def _on_refused(self, packet: Publish) -> None:
        self.note(f"REFUSED    {packet.topic}")
        for checker in self.checkers:
            self.check(checker.on_refused, packet)

    def _on_sent(self, packet: Publish) -> None:
        self._show("on_sent", packet)

    def _on_received(self, packet: Publish) -> None:
        self._show("on_received", packet)

    def _show(self, name: str, *what: Any) -> None:
        """Let all checkers look that have this method. They have all joined by the first call."""
        if (methods := self._methods.get(name)) is None:
            methods = self._methods[name] = [
                getattr(checker, name)
                for checker in self.checkers
                if getattr(type(checker), name) is not getattr(Checker, name)
            ]
        for method in methods:
            try:  # as :meth:`check`, without the call
                method(*what)
            except Exception as error:
                self._on_finding(error)

    def check(self, check: Callable[..., None], *what: Any) -> None:
        """Let a checker look; its first finding ends the world. Raising here would only end the
        callback of the program.
        """
        try:
            check(*what)
        except Exception as error:
            self._on_finding(error)

    def _on_finding(self, error: Exception) -> None:
        if not isinstance(error, PropertyViolatedError):
            self._on_error(self.loop, {"message": "a checker fails", "exception": error})
            return
        self.note(f"VIOLATED   {error}")
        self.finding = self.finding or error
        self.loop.stop()


class _ObservedBroker(Broker):
    """Reports each message as it arrives: of a daemon, or of another client."""

    def __init__(
        self,
        on_published: Callable[[str, Publish], None],
        on_sent: Callable[[Publish], None],
        on_refused: Callable[[Publish], None],
        *,
        permits_motion: bool,
    ) -> None:
        super().__init__(
            faults=ActiveFaults(),
            access=lambda _client, _user, _action, topic: (
                permits_motion or not topic.endswith("/motion")
            ),
        )
        self._on_daemon, self._on_other = on_published, on_sent
        self._on_refused = on_refused

    def _publish(self, connection: Connection, packet: Publish) -> int:
        is_daemon = connection.client_id.startswith("novamas-")
        if is_daemon:
            self._on_daemon(connection.client_id, packet)
        else:
            self._on_other(packet)
        reason = super()._publish(connection, packet)
        if is_daemon and reason >= Reason.UNSPECIFIED_ERROR:
            self._on_refused(packet)
        return reason


class _Kernel:
    """Answers ``adjtimex(2)``: nothing controls the clock of any machine."""

    def adjtimex(self, _timex: object) -> int:
        return kernel_clock.TIME_ERROR


async def _is_reachable(link: str, *, data: bool) -> bool:
    """Whether a device can be reached, without a real connection."""
    del data
    machine = _machine()
    assert machine is not None
    return devices.PORTS[urlsplit(link).hostname or ""].is_reachable(machine)


def _peer(_client: object) -> str:
    """Return the name of the machine on which a client runs."""
    machine = _machine()
    assert machine is not None
    return machine.name


def _machine() -> Machine | None:
    process = PROCESS.get()
    return None if process is None else process.machine


@contextmanager
def world(
    seed: int,
    pace: float = 1.0,
    pair: bool = False,
    parts: Sequence[str] = (),
    wheels: Sequence[str] = ("cammegh-ss2",),
    folder: Path | None = None,
) -> Iterator[World]:
    """Make a world, in which the clocks, chance, threads and the network of this process are."""
    with ExitStack() as stack:
        if folder is None:
            folder = Path(stack.enter_context(TemporaryDirectory(prefix="world-", dir=MEMORY)))
        made = World(seed, folder, stack, pace, pair, wheels)
        loop = made.loop

        def boottime() -> float:
            process = PROCESS.get()
            return loop.now if process is None else process.machine.boottime(loop.now)

        def wall() -> float:
            process = PROCESS.get()
            if process is None:
                return BEGINS + loop.now
            machine = process.machine
            return BEGINS + machine.boottime(loop.now) + machine.wall

        def start(run: object, _name: str) -> None:
            loop.call_later(made.random.uniform(0.0005, 0.005), run)  # type: ignore[arg-type]

        stack.enter_context(
            clock.use(
                clock.Source(
                    wall=wall,
                    monotonic=loop.time,
                    monotonic_ns=lambda: round(loop.time() * 1e9),
                    boottime_ns=lambda: round(boottime() * 1e9),
                    uptime_ns=lambda: round((loop.time() - _started()) * 1e9),
                    thread_time=lambda: 0.0,
                )
            )
        )
        stack.enter_context(mock.patch.object(kernel_clock, "_libc", _Kernel))
        # a daemon reads the end of its journal back twice a minute: the entries are mostly the same
        known = lru_cache(KNOWN_ENTRIES)(schema.has_valid_hash)
        stack.enter_context(mock.patch.object(schema, "has_valid_hash", known))
        stack.enter_context(mock.patch.object(read_back, "TAIL_ENTRIES", TAIL_ENTRIES))
        stack.enter_context(randomness.use(made.random.randbytes))
        stack.enter_context(blocking.use(start))
        stack.enter_context(loop_watch.use(WorldLoopWatch))
        stack.enter_context(connect_in_memory({BROKER: made.sockets}, _peer))
        stack.enter_context(mock.patch.object(paho.mqtt.client, "time_func", clock.monotonic))
        if made.bucket is not None:
            stack.enter_context(made.bucket.in_use())
            stack.enter_context(mock.patch.object(controller.service.pair, "Fence", WorldFence))
            stack.enter_context(
                mock.patch.object(controller.service.readiness, "_is_reachable", _is_reachable)
            )
        stack.callback(devices.register())
        made.assemble(parts)
        gc.disable()
        stack.callback(gc.enable)
        # a daemon that starts would collect what all worlds before have left
        stack.enter_context(mock.patch.object(gc, "collect", return_value=0))
        # it keeps files open, which a killed daemon would never close: 1,024 in some hundred worlds
        stack.enter_context(mock.patch.object(read_back.ReadBack, "_forget"))
        try:
            yield made
        finally:
            _end(made)


def _started() -> float:
    """Return the monotonic time at which the running process was started."""
    process = PROCESS.get()
    return 0.0 if process is None else process.started


def _end(made: World) -> None:
    for program in made.programs:
        if program.process is not None and program.process.alive:
            made.loop.kill(program.process)
    Context().run(made.loop.close)
