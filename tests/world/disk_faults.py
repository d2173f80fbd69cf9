"""What can go wrong with the disk of a daemon."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context
from random import Random
from sqlite3 import SQLITE_FULL, SQLITE_IOERR_WRITE
from typing import TYPE_CHECKING

from tests.world.disk import USUAL_LATENCY_SECONDS, Disk

if TYPE_CHECKING:
    from tests.world.daemon import Node
    from tests.world.world import World

RECOVERY_SECONDS = 30.0
"""After a fault of the disk: what waited may still be stored so long."""

MAX_COMMIT_INTERVAL_SECONDS = 90.0
"""A daemon that runs commits at least so often."""

End = Callable[[], object]


def nothing() -> None:
    """Do nothing at the end of a fault that ends by itself."""


def _disk(begin: Callable[[World, Disk, Random], End]) -> Callable[[World, Random], End]:
    """Return a fault of the disk of a daemon."""

    def fault(world: World, random: Random) -> End:
        disk = random.choice(world.nodes).disk
        disk.begin_trouble()
        mend = begin(world, disk, random)

        def end() -> None:
            mend()
            disk.recover(RECOVERY_SECONDS)

        return end

    return fault


def _write_error(code: int) -> Callable[[World, Disk, Random], End]:
    def begin(_world: World, disk: Disk, _random: Random) -> End:
        disk.trouble.write_error = code
        return lambda: setattr(disk.trouble, "write_error", None)

    return begin


def _failed_commit(_world: World, disk: Disk, random: Random) -> End:
    disk.trouble.fate = random.choice(("absent", "unflushed", "spoiled", "stored"))
    return nothing


def _slow(_world: World, disk: Disk, random: Random) -> End:
    disk.latency = random.choice((0.05, 0.5, 3.0))
    return lambda: setattr(disk, "latency", USUAL_LATENCY_SECONDS)


def _hung(world: World, disk: Disk, random: Random) -> End:
    seconds = world.lasts(random.choice((2.0, 10.0, 60.0)))
    disk.hung_until = max(disk.hung_until, disk.loop.now + seconds)
    return nothing


def _unreadable(world: World, disk: Disk, random: Random) -> End:
    """For less time than the program tries to open its journal."""
    world.loop.call_later(
        world.lasts(random.choice((0.5, 3.0, 8.0))),
        lambda: setattr(disk.trouble, "unreadable", False),
        context=Context(),
    )
    disk.trouble.unreadable = True
    return nothing


def _killed_in_a_commit(world: World, random: Random) -> End:
    node, pause = random.choice(world.nodes), random.choice((0.1, 2.0, 10.0))
    node.disk.in_commit = lambda: node.program.kill(pause)
    world.lasts(MAX_COMMIT_INTERVAL_SECONDS + pause)
    return nothing


def _power_cut(world: World, random: Random) -> End:
    node, seconds = random.choice(world.nodes), random.choice((5.0, 60.0))

    def cut() -> None:
        cut_power(world, node, seconds)

    if random.random() < 0.5:
        cut()
    else:
        node.disk.in_commit = cut
    world.lasts(MAX_COMMIT_INTERVAL_SECONDS + seconds)
    return nothing


def cut_power(world: World, node: Node, seconds: float) -> None:
    """Cut the power of a machine for that time: its programs end, and its disk loses what was not
    flushed.
    """
    machine = node.machine
    machine.asleep_until = max(machine.asleep_until, world.loop.now + seconds)
    for program in world.programs:
        if program.machine is machine:
            program.kill(seconds)
    node.disk.cut_power()


DISK_FAULTS: dict[str, Callable[[World, Random], End]] = {
    "disk fails": _disk(_write_error(SQLITE_IOERR_WRITE)),
    "disk full": _disk(_write_error(SQLITE_FULL)),
    "commit fails": _disk(_failed_commit),
    "disk slow": _disk(_slow),
    "disk hung": _disk(_hung),
    "disk unreadable": _disk(_unreadable),
    "daemon killed in a commit": _killed_in_a_commit,
    "power cut": _power_cut,
}
