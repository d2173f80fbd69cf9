"""More daemons at the same broker: one with a table of its own, one that has a table of the first
by mistake, and one that has the first one's name.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING

from tests.world.bodies import decoded
from tests.world.broker.packets import Publish
from tests.world.checkers import Checker, Truth, require
from tests.world.configuration import CONFIGURATION
from tests.world.device import PORTS
from tests.world.lateness import Prompt
from tests.world.liveness import CALM_SECONDS, Calm
from tests.world.program import Program
from tests.world.wheels.kinds import section
from tests.world.wheels.wheel import Wheel

if TYPE_CHECKING:
    from tests.world.world import World

TWIN, TWIN_TABLE = "twin", "t1"
"""The machine of the daemon with the first one's name, and its table."""
WATCHED_SECONDS = 180.0
"""For so long in calm is watched that one daemon alone has a table."""
REPORTED_SECONDS = 60.0
"""Within this time two daemons of one name are reported: after some connections that were ended."""


def join_second_node(world: World) -> None:
    """Let the daemon ``pit-2`` have a table of its own."""
    table = f"r{len(world.wheels) + 1}"
    world.wheels[table] = _install(world, "east", "pit-2", table, table)


def join_rival(world: World) -> None:
    """Let the daemon ``pit-3`` have the first table too, with another wheel: a mistake in its
    configuration.
    """
    table = next(iter(world.wheels))
    _install(world, "west", "pit-3", table, f"{table}-west")
    world.shared.add(table)
    world.checkers.append(OneHolder(table, world.calm))


def join_twin(world: World) -> None:
    """Install a daemon with a table of its own and, by mistake, the name of the first: the broker
    ends the connection of one when it accepts the other. It runs during its fault only.
    """
    _install(world, TWIN, "pit-1", TWIN_TABLE, TWIN_TABLE)
    twin = world.nodes[-1].program
    world.programs.remove(twin)
    world.checkers.append(TwinReported(twin))
    world.shared.add(TWIN_TABLE)
    world.absent.add(TWIN_TABLE)


def run_twin(world: World, random: Random) -> Callable[[], None]:
    """Start the daemon of the same name; return what stops it."""
    world.lasts(random.choice((1.0, 20.0, 120.0)))
    [twin] = [node.program for node in world.nodes if node.machine.name == TWIN]
    if twin.process is None or not twin.process.alive:
        twin.start()
    return twin.stop


def _install(world: World, machine: str, node: str, table: str, port: str) -> Wheel:
    wheel = Wheel(world.loop, port, world.random.getrandbits(32))
    PORTS[port] = wheel
    text = section(table, wheel.kind, 1.0, 5.0).replace(f"tcp://{table}:", f"tcp://{port}:")
    installed = world.install(machine, CONFIGURATION.replace("pit-1", node) + world.people + text)
    world.checkers += [
        Truth({table: wheel}, [installed.disk], (machine,)),
        Prompt({(table, "wheel"): wheel}, (machine,)),
    ]
    return wheel


class TwinReported(Checker):
    """While two daemons have one name, one of them says so."""

    def __init__(self, twin: Program) -> None:
        self._twin = twin
        self._since = 0.0
        self._is_reported = False

    @property
    def _runs(self) -> bool:
        return self._twin.process is not None and self._twin.process.alive

    def is_settled(self) -> bool:
        """See :class:`Checker`."""
        return not self._runs

    def on_published(self, message: Publish) -> None:
        """See :class:`Checker`."""
        self._is_reported = self._is_reported or b"broker-client-id" in message.payload

    def on_tick(self, now: float) -> None:
        """See :class:`Checker`."""
        if not self._runs:
            self._since, self._is_reported = now, False
        elif now - self._since > REPORTED_SECONDS:
            require(self._is_reported, "two daemons have one name, and neither says so")


class OneHolder(Checker):
    """In calm, one daemon publishes what happens at a table, of those that have it."""

    def __init__(self, table: str, calm: Calm) -> None:
        self._table, self._calm = table, calm
        self._boots: dict[str, None] = {}
        self._is_calm = self._is_settled = False

    def on_published(self, message: Publish) -> None:
        """See :class:`Checker`."""
        if not self._is_calm or not message.topic.endswith((f"{self._table}/event", "/state")):
            return
        body = decoded(message.payload)
        if body["table"] == self._table and not body.get("historical"):
            self._boots[body["boot"]] = None
            require(len(self._boots) == 1, "two daemons have one table", list(self._boots), body)

    def on_tick(self, now: float) -> None:
        """See :class:`Checker`."""
        self._is_calm = self._calm.seconds(now) > CALM_SECONDS
        if not self._is_calm:
            self._boots.clear()
        self._is_settled = self._calm.seconds(now) > CALM_SECONDS + WATCHED_SECONDS

    def is_settled(self) -> bool:
        """See :class:`Checker`: the other daemon has had time for several rounds."""
        return self._is_settled
