"""More daemons at the same broker: one with a table of its own, and one that has a table of the
first by mistake.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.world.bodies import decoded
from tests.world.broker.packets import Publish
from tests.world.checkers import Checker, Truth, require
from tests.world.configuration import CONFIGURATION, TABLE
from tests.world.device import PORTS
from tests.world.lateness import Prompt
from tests.world.liveness import CALM_SECONDS, Calm
from tests.world.wheel import Wheel

if TYPE_CHECKING:
    from tests.world.world import World


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


def _install(world: World, machine: str, node: str, table: str, port: str) -> Wheel:
    wheel = Wheel(world.loop, port, world.random.getrandbits(32))
    PORTS[port] = wheel
    section = TABLE.format(name=table, period=0.5, stale_after=5.0).replace(
        f"tcp://{table}:", f"tcp://{port}:"
    )
    installed = world.install(
        machine, CONFIGURATION.replace("pit-1", node) + world.people + section
    )
    world.checkers += [
        Truth({table: wheel}, [installed.disk], (machine,)),
        Prompt({(table, "wheel"): wheel}, (machine,)),
    ]
    return wheel


class OneHolder(Checker):
    """In calm, one daemon publishes what happens at a table, of those that have it."""

    def __init__(self, table: str, calm: Calm) -> None:
        self._table, self._calm = table, calm
        self._boots: dict[str, None] = {}
        self._is_calm = False

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
