"""The part ``carrousel-pair``: two controllers of the jackpots, one of which serves, and what must
hold of them.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from contextvars import Context
from random import Random
from typing import TYPE_CHECKING
from unittest import mock

import msgspec

import subscribers.carrousel.pair
from common.standby.record import LeaseRecord
from tests.support.carrousel.log import MemoryStream
from tests.world.broker import faults as broker
from tests.world.broker.faults import Partition
from tests.world.broker.packets import Publish
from tests.world.carrousel.checkers import Ledger
from tests.world.carrousel.disk import Trouble
from tests.world.carrousel.part import (
    KEEPALIVE,
    MACHINE,
    TABLES,
    ControllerProgram,
    Floor,
    install,
)
from tests.world.checkers import Checker, Final, Immediate, require
from tests.world.lease_store import USUAL_STORE_SECONDS, Bucket, WorldFence
from tests.world.pair import Takeover

if TYPE_CHECKING:
    from tests.world.world import World

End = Callable[[], object]
MACHINES = (MACHINE, "vault")
NODE = "carrousel"
LOG = f"novamas-standby-{NODE}-ledger"
LEASE_SECONDS = 4.0
TAKEOVER_SECONDS = 2 * LEASE_SECONDS
"""Within this time a controller that could serve has the lease."""
LOOK_SECONDS = 0.2
AWAY_LEASES = 1.2, 6.0
SECTION = """
[standby]
servers = ["nats://store.world:4222"]
instance = "{name}"
lease = {lease}
"""


def join(world: World) -> None:
    """Add the tables, both controllers, their store and the people."""
    store = world.bucket
    if store is None:
        store = Bucket(Random(world.random.getrandbits(32)))
        world.stack.enter_context(store.in_use())
    world.stack.enter_context(mock.patch.object(subscribers.carrousel.pair, "Fence", WorldFence))
    controllers = [
        install(world, f"carrousel-{name}", name, SECTION.format(name=name, lease=LEASE_SECONDS))
        for name in MACHINES
    ]
    pair = PairOfControllers(world, store, controllers)
    world.extras["carrousel-pair"] = pair
    floor = Floor(world)
    disks = [controller.disk for controller in controllers]
    floor.check(
        Ledger(disks, TABLES, floor.play, floor.payers),
        OneHistory(pair),
        OnePublishes(pair),
        pair,
    )


class PairOfControllers(Checker):
    """Which controller serves, and that one does wherever one could, within two leases.

    Its first statement follows within a keepalive.
    """

    def __init__(
        self, world: World, store: Bucket, controllers: Sequence[ControllerProgram]
    ) -> None:
        self.world, self.store, self.controllers = world, store, controllers
        self._able: dict[str, float] = {}
        self._unserved_since: float | None = 0.0
        self._served_by = ""
        self._claimed_at: float | None = None
        self._boot = ""
        for each in controllers:
            store.on_claim[each.machine] = self._on_claim
        world.loop.call_later(LOOK_SECONDS, self._look_again, context=Context())

    @property
    def record(self) -> LeaseRecord | None:
        """The lease; None if there is none yet."""
        value = self.store.values.get(NODE)
        return None if value is None else msgspec.json.decode(value.value, type=LeaseRecord)

    @property
    def stream(self) -> MemoryStream:
        """The log of the ledger."""
        return self.store.streams.get(LOG, MemoryStream())

    @property
    def serving(self) -> ControllerProgram | None:
        """The controller that has the lease; None if none has."""
        held = self.record
        if held is None or held.released:
            return None
        return next(each for each in self.controllers if each.machine.name == held.instance)

    @property
    def waiting(self) -> ControllerProgram | None:
        """The other one; None if none has the lease."""
        serving = self.serving
        return serving and next(each for each in self.controllers if each is not serving)

    def is_unable(self, controller: ControllerProgram) -> bool:
        """Return whether a controller certainly cannot serve."""
        process, machine, now = controller.process, controller.machine, self.world.loop.now
        return (
            process is None
            or not process.alive
            or max(process.frozen_until, machine.asleep_until) > now
            or machine in self.store.unheard | self.store.deaf
            or (controller.disk.trouble is not None and controller.disk.is_met)
            or controller.disk.is_old
            or self.world.broker.faults.cut_off({machine.name})
        )

    def is_able(self, controller: ControllerProgram) -> bool:
        """Return whether nothing keeps a controller from serving."""
        machine = controller.machine
        return (
            not self.is_unable(controller)
            and controller.disk.trouble is None
            and self.store.delay <= USUAL_STORE_SECONDS
            and not machine.disk_seconds
            and all(isinstance(each, Partition) for each in self.world.broker.faults.active)
        )

    def on_received(self, message: Publish) -> None:
        """See :class:`Checker`."""
        if "/jackpot/" not in message.topic or not message.topic.endswith("/state"):
            return
        boot = json.loads(message.payload)["boot"]
        if boot == self._boot:
            return
        self._boot = boot
        if self._claimed_at is not None:
            seconds, self._claimed_at = self.world.loop.now - self._claimed_at, None
            if not self.world.broker.faults.active and self.store.delay <= USUAL_STORE_SECONDS:
                self.world.announced.append(seconds)
                require(seconds <= KEEPALIVE, "the tables are told too late", seconds)

    def is_settled(self) -> bool:
        """See :class:`Checker`."""
        return self._unserved_since is None and self._claimed_at is None

    def _on_claim(self) -> None:
        is_usual = self.store.delay <= USUAL_STORE_SECONDS
        self._claimed_at = self.world.loop.now if is_usual else None

    def _look_again(self) -> None:
        self.world.check(self._look)
        self.world.loop.call_later(LOOK_SECONDS, self._look_again, context=Context())

    def _look(self) -> None:
        now = self.world.loop.now
        self._able = {
            each.name: self._able.get(each.name, now)
            for each in self.controllers
            if self.is_able(each)
        }
        serving = self.serving
        if serving is not None and not self.is_unable(serving):
            name, since = serving.machine.name, self._unserved_since
            if since is not None and self._served_by:
                is_same = name == self._served_by
                self.world.takeovers.append(Takeover(since, self._waited(now), is_same))
            self._served_by, self._unserved_since = name, None
            return
        if self._unserved_since is None:
            self._unserved_since = now
        require(
            self._waited(now) <= TAKEOVER_SECONDS,
            "a controller could serve and does not",
            self._able,
            round(now - self._unserved_since, 1),
        )

    def _waited(self, now: float) -> float:
        """Return for how long a controller could have served, and none did."""
        if not self._able or self._unserved_since is None:
            return 0.0
        return now - max(self._unserved_since, min(self._able.values()))


class OneHistory(Final):
    """Both ledgers hold entries of the log alone, and in the end the same; no statement is ahead of
    the log.
    """

    def __init__(self, pair: PairOfControllers) -> None:
        self._pair = pair
        self._read = self._last = 0

    def on_sent(self, message: Publish) -> None:
        """See :class:`Checker`."""
        if "/jackpot/" in message.topic and message.topic.endswith("/state") and message.payload:
            self._follow()
            state = json.loads(message.payload)
            require(state["seq"] <= self._last, "a statement is ahead of the log", state)

    def _follow(self) -> None:
        entries = self._pair.stream.entries or []
        for body in entries[self._read :]:
            found = json.loads(body)
            require(found["position"] == self._last, "the log has a gap", found, self._last)
            self._last += len(found.get("entries", ()))
        self._read = len(entries)

    def on_end(self) -> None:
        """See :class:`Checker`."""
        self._follow()
        rows = [_rows(each) for each in self._pair.controllers]
        require(rows[0] == rows[1], "the ledgers differ", *map(len, rows))
        require(len(rows[0]) == self._last, "the ledgers are not the log", len(rows[0]), self._last)


class OnePublishes(Immediate):
    """After a statement of another run, an earlier run publishes none."""

    def __init__(self, pair: PairOfControllers) -> None:
        self._pair = pair
        self._boots: dict[str, None] = {}

    def on_sent(self, message: Publish) -> None:
        """See :class:`Checker`."""
        if "/jackpot/" not in message.topic or not message.topic.endswith("/state"):
            return
        if not message.payload:
            return
        boot = json.loads(message.payload)["boot"]
        is_last = boot not in self._boots or boot == next(reversed(self._boots))
        require(is_last, "a controller publishes after its successor", boot, list(self._boots))
        self._boots[boot] = None


def _rows(controller: ControllerProgram) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(f"file:{controller.disk.path}?mode=ro", uri=True)) as file:
        return file.execute("SELECT * FROM entry ORDER BY position").fetchall()


def _pair(world: World) -> PairOfControllers:
    pair = world.extras["carrousel-pair"]
    assert isinstance(pair, PairOfControllers)
    return pair


Hit = Callable[["World", PairOfControllers, ControllerProgram, Random], End]


def of_serving(begin: Hit) -> Callable[[World, Random], End]:
    """Return a fault of the controller that serves."""

    def fault(world: World, random: Random) -> End:
        pair = _pair(world)
        if (serving := pair.serving) is None:
            return _nothing
        world.note(f"HITS {serving.machine.name}")
        return begin(world, pair, serving, random)

    return fault


def of_waiting(begin: Hit) -> Callable[[World, Random], End]:
    """Return a fault of the controller that waits, while the other one is away for some leases."""

    def fault(world: World, random: Random) -> End:
        pair = _pair(world)
        serving, waiting = pair.serving, pair.waiting
        if serving is None or waiting is None:
            return _nothing
        world.note(f"HITS {waiting.machine.name}")
        end = begin(world, pair, waiting, random)
        away = LEASE_SECONDS * random.uniform(*AWAY_LEASES)
        world.lasts(LEASE_SECONDS + away)
        world.loop.call_later(LEASE_SECONDS, serving.kill, away, context=Context())
        return end

    return fault


def _killed(world: World, _pair: PairOfControllers, one: ControllerProgram, random: Random) -> End:
    one.kill(world.lasts(random.choice((0.1, 2.0, 10.0, 40.0))))
    return _nothing


def _frozen(world: World, _pair: PairOfControllers, one: ControllerProgram, random: Random) -> End:
    if (process := one.process) is not None and process.alive:
        world.loop.freeze(process, world.lasts(random.choice((0.3, 3.0, 5.0, 20.0))))
    return _nothing


def _suspended(
    world: World, _pair: PairOfControllers, one: ControllerProgram, random: Random
) -> End:
    world.loop.suspend(one.machine, world.lasts(random.choice((3.0, 5.0, 60.0))))
    return _nothing


def _clock_set(
    _world: World, _pair: PairOfControllers, one: ControllerProgram, random: Random
) -> End:
    one.machine.wall += random.choice((-3600.0, -5.0, 5.0, 3600.0))
    return _nothing


def at_a_commit(*troubles: Trouble) -> Hit:
    """Something happens to the next commit, or to all until the end."""

    def begin(
        _world: World, _pair: PairOfControllers, one: ControllerProgram, random: Random
    ) -> End:
        one.disk.trouble, one.disk.is_met = random.choice(troubles), False

        def end() -> None:
            one.disk.trouble = None

        return end

    return begin


def _old_copy(
    world: World, _pair: PairOfControllers, one: ControllerProgram, _random: Random
) -> End:
    """A person puts an older copy of its ledger in its place, and later the last file back."""
    if not one.disk.swap_old():
        one.disk.copy()
        return _nothing
    one.kill()
    world.lasts(0.0)

    def end() -> None:
        one.kill()
        one.disk.swap_back()

    return end


def _store_away(
    _world: World, pair: PairOfControllers, one: ControllerProgram, random: Random
) -> End:
    """Requests, replies, or both are lost."""
    store = pair.store
    directions = random.choice(((store.unheard,), (store.deaf,), (store.unheard, store.deaf)))
    for direction in directions:
        direction.add(one.machine)

    def end() -> None:
        for direction in directions:
            direction.discard(one.machine)

    return end


def _store_slow(
    _world: World, pair: PairOfControllers, _one: ControllerProgram, random: Random
) -> End:
    pair.store.delay = random.choice((0.05, 0.3, 1.0))

    def end() -> None:
        pair.store.delay = USUAL_STORE_SECONDS

    return end


def _both_killed(
    world: World, pair: PairOfControllers, _one: ControllerProgram, random: Random
) -> End:
    """Both machines lose power."""
    for each in pair.controllers:
        each.kill(world.lasts(random.choice((2.0, 10.0))))
    return _nothing


def from_broker(make: Callable[[Random, str], broker.Fault]) -> Hit:
    """A fault between a controller and the broker."""

    def begin(
        world: World, _pair: PairOfControllers, one: ControllerProgram, random: Random
    ) -> End:
        fault = make(random, one.machine.name)
        world.sockets.begin(fault)
        return lambda: world.sockets.end(fault)

    return begin


def _cut_off(world: World, pair: PairOfControllers, one: ControllerProgram, random: Random) -> End:
    """It is cut off from store and broker."""
    fault = Partition(frozenset({one.machine.name}))
    world.sockets.begin(fault)
    end_store = _store_away(world, pair, one, random)

    def end() -> None:
        world.sockets.end(fault)
        end_store()

    return end


def _nothing() -> None:
    """Do nothing: no controller served, or the fault ends by itself."""


PAIR_FAULTS: dict[str, Callable[[World, Random], End]] = {
    "serving controller killed": of_serving(_killed),
    "serving controller killed at a commit": of_serving(
        at_a_commit("killed before", "killed after")
    ),
    "serving controller's disk full": of_serving(at_a_commit("full", "dead")),
    "serving controller's commit torn": of_serving(at_a_commit("torn")),
    "serving controller frozen": of_serving(_frozen),
    "serving controller's machine suspended": of_serving(_suspended),
    "serving controller's clock set": of_serving(_clock_set),
    "serving controller without store": of_serving(_store_away),
    "serving controller cut off": of_serving(_cut_off),
    "serving controller without broker": of_serving(
        from_broker(lambda _, name: Partition(frozenset({name})))
    ),
    "serving controller half open": of_serving(
        from_broker(
            lambda random, name: broker.HalfOpen(name, random.choice(("to_broker", "to_client")))
        )
    ),
    "controllers' store slow": of_serving(_store_slow),
    "both controllers killed": of_serving(_both_killed),
    "waiting controller killed": of_waiting(_killed),
    "waiting controller's disk full": of_waiting(at_a_commit("full", "dead")),
    "waiting controller killed at a commit": of_waiting(
        at_a_commit("killed before", "killed after")
    ),
    "waiting controller without store": of_waiting(_store_away),
    "old copy at the waiting controller": of_waiting(_old_copy),
}
"""Name of each fault, and what begins it."""
