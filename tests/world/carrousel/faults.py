"""What can go wrong with the controller of the jackpots, beside what can with every program."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING

from tests.world.broker import faults as broker
from tests.world.carrousel.disk import Trouble
from tests.world.carrousel.part import MACHINE, ControllerProgram

if TYPE_CHECKING:
    from tests.world.world import World

End = Callable[[], object]
PAUSE_SECONDS = 2.0


def _controller(world: World) -> ControllerProgram:
    return next(each for each in world.programs if isinstance(each, ControllerProgram))


def killed(world: World, random: Random) -> End:
    """The controller is killed at a random moment."""
    _controller(world).kill(world.lasts(random.choice((0.1, 2.0, 10.0))))
    return _nothing


def at_a_commit(*troubles: Trouble) -> Callable[[World, Random], End]:
    """Something happens to the next commit of the ledger, or to all until the end."""

    def begin(world: World, random: Random) -> End:
        disk = _controller(world).disk
        disk.trouble = random.choice(troubles)

        def end() -> None:
            if disk.trouble in {"full", "dead"}:
                disk.trouble = None

        return end

    return begin


def slow(world: World, random: Random) -> End:
    """Commits take long."""
    machine = _controller(world).machine
    machine.disk_seconds = random.choice((0.05, 0.5, 3.0))

    def end() -> None:
        machine.disk_seconds = 0.0

    return end


def old_ledger(world: World, random: Random) -> End:
    """A person puts an older copy of the ledger in its place, and at the end the last file back."""
    del random
    controller = _controller(world)
    disk = controller.disk
    if not disk.swap_old():
        return _nothing
    controller.kill(PAUSE_SECONDS)

    def end() -> None:
        controller.kill(PAUSE_SECONDS)
        disk.swap_back()

    return end


def copied(world: World, random: Random) -> End:
    """A person copies the ledger: :func:`old_ledger` will put this copy in its place."""
    del random
    _controller(world).disk.copy()
    return _nothing


def rival(world: World, random: Random) -> End:
    """A second controller is started for the same ledger, and stopped at the end."""
    del random
    first = _controller(world)
    second = ControllerProgram(world, "rival", first.machine, first.file)
    second.start()

    def end() -> None:
        if second.process is not None and second.process.alive:
            world.loop.kill(second.process)

    return end


def from_broker(make: Callable[[Random], broker.Fault]) -> Callable[[World, Random], End]:
    """A fault of the broker."""

    def begin(world: World, random: Random) -> End:
        fault = make(random)
        world.sockets.begin(fault)
        return lambda: world.sockets.end(fault)

    return begin


def _nothing() -> None:
    """Do nothing at the end of a fault that ends by itself."""


FAULTS: dict[str, Callable[[World, Random], End]] = {
    "controller killed": killed,
    "controller killed at a commit": at_a_commit("killed before", "killed after"),
    "ledger's disk full": at_a_commit("full"),
    "ledger's disk dead": at_a_commit("dead"),
    "ledger's commit stored but failed": at_a_commit("torn"),
    "ledger's disk slow": slow,
    "ledger copied": copied,
    "ledger replaced by an old copy": old_ledger,
    "second controller": rival,
    "controller cut off": from_broker(lambda _: broker.Partition(frozenset({MACHINE}))),
    "controller half open": from_broker(
        lambda random: broker.HalfOpen(MACHINE, random.choice(("to_broker", "to_client")))
    ),
    "controller's connection slow": from_broker(
        lambda random: broker.Delay(MACHINE, random.choice((0.05, 1.0, 5.0)))
    ),
    "controller disconnected": from_broker(lambda _: broker.ForcedDisconnect(MACHINE)),
    "recalls answered late": from_broker(
        lambda random: broker.Lag("novamas/v1/+/+/reply/#", random.choice((1.0, 4.0, 20.0)))
    ),
}
"""Name of each fault, and what begins it; that returns what ends it."""
