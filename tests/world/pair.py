"""What must hold of the two daemons of a pair: one of them reads the devices, and one of them
serves wherever one could.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context
from random import Random
from typing import TYPE_CHECKING

import msgspec

from controller.standby.record import LeaseRecord
from tests.world.broker.faults import Partition
from tests.world.checkers import Checker, require
from tests.world.device import PORTS
from tests.world.lease_store import USUAL_STORE_SECONDS, Bucket

if TYPE_CHECKING:
    from tests.world.daemon import Node
    from tests.world.world import World

End = Callable[[], object]
LEASE_SECONDS = 4.0
KEY = "pit-1"
"""The key of the lease."""
TAKEOVER_SECONDS = 2 * LEASE_SECONDS
"""Within this time a machine that could serve takes the tables from one that cannot."""
START_SECONDS = 2.0
"""Until a daemon that has just been started waits for the lease."""
STEADY_SECONDS = 10 * LEASE_SECONDS
"""A machine that could serve for so long is known to do so: a daemon whose last run failed leaves
the tables to the other one for six leases.
"""


def record(bucket: Bucket) -> LeaseRecord | None:
    """Return the record of the lease."""
    value = bucket.values.get(KEY)
    return None if value is None else msgspec.json.decode(value.value, type=LeaseRecord)


def serving(world: World) -> Node | None:
    """Return the node that has the lease; None if none has."""
    assert world.bucket is not None
    held = record(world.bucket)
    if held is None or held.released:
        return None
    return next(node for node in world.nodes if node.machine.name == held.instance)


class Fenced(Checker):
    """A daemon that has not the lease reads no device."""

    def __init__(self, world: World, names: tuple[str, ...]) -> None:
        self._world, self._names = world, names

    def on_tick(self, now: float) -> None:
        """See :class:`Checker`."""
        node = serving(self._world)
        for device in PORTS.values():
            holder = device.holder
            if holder is None or not holder.alive or holder.frozen_until > now:
                continue
            name = holder.machine.name
            require(
                name not in self._names or (node is not None and node.machine is holder.machine),
                "a device is read without the lease",
                name,
                device.name,
            )


class Served(Checker):
    """Where one machine could serve for long, a machine that could has the lease within two leases
    from when the one that has it could no longer.
    """

    def __init__(self, world: World, nodes: list[Node]) -> None:
        self._world, self._nodes = world, nodes
        self._able: dict[str, float | None] = {}
        """By machine, since when it could serve."""
        self._unserved_since: float | None = None
        self._terms: list[tuple[float, int]] = []
        """The last terms, and when they were first seen."""

    def on_tick(self, now: float) -> None:
        """See :class:`Checker`."""
        for node in self._nodes:
            name = node.machine.name
            since = self._able.get(name)
            able = is_able(self._world, node, now)
            self._able[name] = None if not able else now if since is None else since
        holder = serving(self._world)
        if holder is not None and not is_unable(self._world, holder, now):
            self._unserved_since = None
            return
        if self._unserved_since is None:
            self._unserved_since = now
        heirs = {
            name: since
            for name, since in self._able.items()
            if since is not None and now - since > STEADY_SECONDS
        }
        gone = now - self._unserved_since
        require(
            not heirs or gone <= TAKEOVER_SECONDS + START_SECONDS,
            "a machine could serve and does not",
            heirs,
            round(gone, 1),
        )


def is_unable(world: World, node: Node, now: float) -> bool:
    """Return whether a machine certainly cannot serve: its daemon does not run, or does not
    reach the store, the broker, or any device.
    """
    process, machine, bucket = node.program.process, node.machine, world.bucket
    assert bucket is not None
    return (
        process is None
        or not process.alive
        or max(process.frozen_until, machine.asleep_until) > now
        or machine in bucket.unheard | bucket.deaf
        or world.broker.faults.cut_off({machine.name})
        or all(machine in device.cut_off for device in PORTS.values())
    )


def is_able(world: World, node: Node, now: float) -> bool:
    """Return whether nothing at all keeps a machine from serving."""
    machine, bucket = node.machine, world.bucket
    assert bucket is not None
    return (
        not is_unable(world, node, now)
        and bucket.delay <= USUAL_STORE_SECONDS
        and now > node.disk.trouble_until
        and all(isinstance(each, Partition) for each in world.broker.faults.active)
        and any(device.is_reachable(machine) for device in PORTS.values())
    )


def no_broker(world: World, _random: Random) -> End:
    """The daemon that serves reaches the store, and not the broker."""
    node = serving(world)
    if node is None:
        return _nothing
    fault = Partition(frozenset({node.machine.name}))
    world.note(f"HITS {node.machine.name}")
    world.sockets.begin(fault)
    return lambda: world.sockets.end(fault)


def no_device(world: World, _random: Random) -> End:
    """The daemon that serves reaches store and broker, and no device."""
    node = serving(world)
    if node is None:
        return _nothing
    world.note(f"HITS {node.machine.name}")
    for device in PORTS.values():
        device.cut(node.machine)

    def end() -> None:
        for device in PORTS.values():
            device.cut_off.discard(node.machine)

    return end


def dies_again(world: World, _random: Random) -> End:
    """The daemon that serves is killed, and half a second after each time that it has the lease
    again.
    """
    node = serving(world)
    if node is None:
        return _nothing
    world.note(f"HITS {node.machine.name}")
    active = [True]
    node.program.kill(RESTART_SECONDS)

    def look() -> None:
        if active and serving(world) is node:
            node.program.kill(RESTART_SECONDS)
        if active:
            world.loop.call_later(0.5, look, context=Context())

    look()
    return active.clear


RESTART_SECONDS = 0.3
"""Until a daemon that dies again and again is started."""


def _nothing() -> None:
    """Do nothing: no daemon served."""
