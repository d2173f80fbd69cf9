"""What goes wrong with one machine of a pair while the other one could serve."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context
from random import Random
from sqlite3 import SQLITE_FULL
from typing import TYPE_CHECKING

from tests.world.broker.faults import Partition
from tests.world.device import PORTS
from tests.world.disk_faults import RECOVERY_SECONDS
from tests.world.pair import LEASE_SECONDS, serving

if TYPE_CHECKING:
    from tests.world.daemon import Node
    from tests.world.world import World

End = Callable[[], object]
NOTICED_SECONDS = LEASE_SECONDS
"""A daemon that waits has noticed by then that it could not serve."""
AWAY_LEASES = 1.2, 6.0
"""For how many leases the daemon that serves is away, at least and at most."""
PAUSES = 0.3, 1.0, 2.0, 3.0
"""Seconds until a daemon that dies again and again is started."""


def _of_serving(begin: Callable[[World, Node, Random], End]) -> Callable[[World, Random], End]:
    """Return a fault of the daemon that serves."""

    def fault(world: World, random: Random) -> End:
        node = serving(world)
        if node is None:
            return _nothing
        world.note(f"HITS {node.machine.name}")
        return begin(world, node, random)

    return fault


def _of_waiting(begin: Callable[[World, Node, Random], End]) -> Callable[[World, Random], End]:
    """Return a fault of the daemon that waits, while the one that serves is away for some
    leases.
    """

    def fault(world: World, random: Random) -> End:
        node = serving(world)
        if node is None:
            return _nothing
        other = next(each for each in world.nodes if each is not node)
        world.note(f"HITS {other.machine.name}")
        end = begin(world, other, random)
        away = LEASE_SECONDS * random.uniform(*AWAY_LEASES)
        world.lasts(NOTICED_SECONDS + away)
        world.loop.call_later(NOTICED_SECONDS, node.program.kill, away, context=Context())
        return end

    return fault


def _no_broker(world: World, node: Node, _random: Random) -> End:
    """It reaches the store, and not the broker."""
    fault = Partition(frozenset({node.machine.name}))
    world.sockets.begin(fault)
    return lambda: world.sockets.end(fault)


def _no_device(_world: World, node: Node, _random: Random) -> End:
    """It reaches store and broker, and no device."""
    for device in PORTS.values():
        device.cut(node.machine)

    def end() -> None:
        for device in PORTS.values():
            device.cut_off.discard(node.machine)

    return end


def _full_disk(_world: World, node: Node, _random: Random) -> End:
    disk = node.disk
    disk.begin_trouble()
    disk.trouble.write_error = SQLITE_FULL

    def end() -> None:
        disk.trouble.write_error = None
        disk.recover(RECOVERY_SECONDS)

    return end


def _hung_commit(world: World, node: Node, random: Random) -> End:
    """Its disk stores nothing for a long time."""
    disk = node.disk
    seconds = world.lasts(random.choice((10.0, 40.0, 60.0)))
    disk.hung_until = max(disk.hung_until, disk.loop.now + seconds)
    return _nothing


def _dies_again(world: World, node: Node, random: Random) -> End:
    """It is killed, and again soon after each time that it has the lease."""
    pause, life = random.choice(PAUSES), random.uniform(0.1, 1.0)

    def kill() -> None:
        if serving(world) is node:
            node.program.kill(pause)

    return _doomed(world, node, pause, lambda: world.loop.call_later(life, kill, context=Context()))


def _start_loop(world: World, node: Node, random: Random) -> End:
    """Each start of it fails once it has the lease: part of its journal cannot be read."""

    def fail() -> None:
        node.disk.trouble.unreadable = True

    end_doom = _doomed(world, node, random.choice(PAUSES), fail)

    def look() -> None:
        process = node.program.process
        if process is None or not process.alive:
            node.disk.trouble.unreadable = False
        if node.machine.is_doomed:
            world.loop.call_later(0.1, look, context=Context())

    def end() -> None:
        end_doom()
        node.disk.trouble.unreadable = False

    look()
    return end


def _doomed(world: World, node: Node, pause: float, on_claim: Callable[[], object]) -> End:
    """Kill a daemon, and do something each time that it takes the lease again."""
    bucket = world.bucket
    assert bucket is not None
    node.machine.is_doomed = True
    bucket.on_claim[node.machine] = on_claim
    node.program.kill(pause)

    def end() -> None:
        node.machine.is_doomed = False
        bucket.on_claim.pop(node.machine, None)

    return end


def _nothing() -> None:
    """Do nothing: no daemon served, or the fault ends by itself."""


PAIR_FAULTS = {
    "serving daemon without broker": _of_serving(_no_broker),
    "serving daemon without device": _of_serving(_no_device),
    "serving daemon dies again": _of_serving(_dies_again),
    "serving daemon in a start loop": _of_serving(_start_loop),
    "serving daemon with a full disk": _of_serving(_full_disk),
    "serving daemon with a hung commit": _of_serving(_hung_commit),
    "waiting daemon with a full disk": _of_waiting(_full_disk),
    "waiting daemon with a hung commit": _of_waiting(_hung_commit),
    "waiting daemon without broker": _of_waiting(_no_broker),
}
