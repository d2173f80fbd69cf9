"""What can go wrong in a world. Each fault is a row of :data:`FAULTS`; the world draws them by
seed, with how long each lasts.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from simulators.faults import FAULTS as SIMULATED_FAULTS
from tests.world.broker import faults as broker
from tests.world.broker.packets import Reason
from tests.world.device import PORTS
from tests.world.lease_store import USUAL_STORE_SECONDS

if TYPE_CHECKING:
    from tests.world.world import World

RECOVERY_SECONDS = 30.0
"""After a fault of the disk: what waited may still be stored so long."""

End = Callable[[], object]


def _nothing() -> None:
    """Do nothing at the end of a fault that ends by itself."""


class Happening(NamedTuple):
    """A fault that was drawn: when it begins and ends in the time of the world, and which."""

    at: float
    until: float
    name: str
    seed: int


def _kill(world: World, random: Random) -> End:
    random.choice(world.daemons).kill(world.lasts(random.choice((0.1, 2.0, 10.0))))
    return _nothing


def _freeze(world: World, random: Random) -> End:
    if (process := random.choice(world.daemons).process) is not None and process.alive:
        world.loop.freeze(process, world.lasts(random.choice((0.3, 3.0, 20.0))))
    return _nothing


def _suspend(world: World, random: Random) -> End:
    machine = random.choice(world.daemons).machine
    world.loop.suspend(machine, world.lasts(random.choice((2.0, 60.0, 600.0))))
    return _nothing


def _wall(world: World, random: Random) -> End:
    random.choice(world.daemons).machine.wall += random.choice(
        (-3600.0, -5.0, -0.2, 0.2, 5.0, 3600.0)
    )
    return _nothing


def _broken_disk(world: World, random: Random) -> End:
    disk = random.choice(world.daemons).disk
    disk.broken, disk.trouble_until = True, inf

    def end() -> None:
        disk.broken = False
        disk.recover(RECOVERY_SECONDS)

    return end


def _torn_commit(world: World, random: Random) -> End:
    disk = random.choice(world.daemons).disk
    disk.torn, disk.trouble_until = True, inf
    return lambda: disk.recover(RECOVERY_SECONDS)


def _slow_disk(world: World, random: Random) -> End:
    disk = random.choice(world.daemons).disk
    usual, disk.latency, disk.trouble_until = 0.002, random.choice((0.05, 0.5, 3.0)), inf

    def end() -> None:
        disk.latency = usual
        disk.recover(RECOVERY_SECONDS)

    return end


def _store_away(world: World, random: Random) -> End:
    bucket, machine = world.bucket, random.choice(world.daemons).machine
    if bucket is None:
        return _nothing
    bucket.away.add(machine)
    return lambda: bucket.away.discard(machine)


def _store_slow(world: World, random: Random) -> End:
    bucket = world.bucket
    if bucket is None:
        return _nothing
    bucket.delay = random.choice((0.1, 0.5, 2.0))

    def end() -> None:
        bucket.delay = USUAL_STORE_SECONDS

    return end


def _unplug(world: World, random: Random) -> End:
    random.choice(list(PORTS.values())).unplug(world.lasts(random.choice((0.5, 5.0, 60.0))))
    return _nothing


def _device(name: str, *values: float) -> Callable[[World, Random], End]:
    """A fault of ``simulators/``, at one of the devices that can have it."""
    protocols = SIMULATED_FAULTS[name].protocols

    def begin(world: World, random: Random) -> End:
        able = [each for each in PORTS.values() if not protocols or each.protocol in protocols]
        if able:
            random.choice(able).fault(name, world.lasts(random.choice(values)))
        return _nothing

    return begin


def _broker(make: Callable[[Random], broker.Fault]) -> Callable[[World, Random], End]:
    def begin(world: World, random: Random) -> End:
        fault = make(random)
        world.sockets.begin(fault)
        return lambda: world.sockets.end(fault)

    return begin


DAEMON = "novamas-palma-pit-1"
"""The client id of the daemon."""

FAULTS: dict[str, Callable[[World, Random], End]] = {
    "daemon killed": _kill,
    "daemon starved": _freeze,
    "machine suspended": _suspend,
    "wall clock set": _wall,
    "disk fails": _broken_disk,
    "commit stored but failed": _torn_commit,
    "disk slow": _slow_disk,
    "store of the lease away": _store_away,
    "store of the lease slow": _store_slow,
    "device unplugged": _unplug,
    "line silent": _device("silence", 1.0, 10.0, 60.0),
    "line held and burst": _device("burst", 0.5, 5.0),
    "line at a wrong speed": _device("wrong_baud", 1.0, 10.0),
    "line damaged": _device("damaged", 0.0),
    "line doubled": _device("duplicate", 0.0),
    "line split": _device("split", 0.0),
    "line spliced": _device("spliced", 0.0),
    "wheel reset": _device("power_cycle", 0.5, 5.0),
    "wheel sensor": _device("sensor", 1.0, 5.0),
    "broker down, forgets": _broker(lambda _: broker.Outage()),
    "broker down, keeps all": _broker(lambda _: broker.Outage(True, True)),
    "broker down, keeps retained": _broker(lambda _: broker.Outage(False, True)),
    "broker cut off": _broker(lambda _: broker.Partition(frozenset({DAEMON}))),
    "broker half open": _broker(
        lambda random: broker.HalfOpen(DAEMON, random.choice(("to_broker", "to_client")))
    ),
    "broker slow": _broker(lambda random: broker.Delay(DAEMON, random.choice((0.05, 1.0, 5.0)))),
    "broker doubles": _broker(lambda _: broker.Duplicate()),
    "broker refuses": _broker(lambda _: broker.RefusePublish("novamas/#", Reason.QUOTA_EXCEEDED)),
    "broker disconnects": _broker(lambda _: broker.ForcedDisconnect(DAEMON)),
}
"""Name of each fault, and what begins it; that returns what ends it."""
DURATIONS = (0.0, 0.5, 3.0, 15.0, 90.0)
"""How long a fault lasts, in seconds, unless it decides that itself."""


def draw(random: Random, hours: float, faults: int) -> list[Happening]:
    """Draw that many faults over that many hours, in order."""
    found = []
    for _ in range(faults):
        at = random.uniform(30.0, hours * 3600.0)
        name = random.choice(list(FAULTS))
        found.append(Happening(at, at + random.choice(DURATIONS), name, random.getrandbits(32)))
    return sorted(found)
