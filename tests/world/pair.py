"""What must hold of the two daemons of a pair: one of them reads the devices, and one of them
serves wherever one could.
"""

from __future__ import annotations

from contextvars import Context
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from common.standby.record import LeaseRecord
from tests.world.broker.faults import Partition
from tests.world.checkers import Checker, Immediate, require
from tests.world.device import PORTS
from tests.world.lease_store import USUAL_STORE_SECONDS, Bucket

if TYPE_CHECKING:
    from tests.world.daemon import Node
    from tests.world.world import World

LEASE_SECONDS = 4.0
KEY = "pit-1"
"""The key of the lease."""
TAKEOVER_SECONDS = 2 * LEASE_SECONDS
"""Within this time a machine that could serve has the tables."""
LOOK_SECONDS = 0.2
"""How often is looked which machine serves, and which could."""


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


class Fenced(Immediate):
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


class Takeover(NamedTuple):
    """When no machine could serve any longer that had the tables, and after how many seconds one
    that could had them. ``is_same``: the one that had them before.
    """

    at: float
    seconds: float
    is_same: bool


class Served(Checker):
    """Where a machine could serve, one that could has the tables within two leases: counted from
    when the one that had them no longer could, and some machine could without a break.
    """

    def __init__(self, world: World, nodes: list[Node]) -> None:
        self.takeovers: list[Takeover] = []
        self._world, self._nodes = world, nodes
        self._able: dict[str, float] = {}
        """By machine that could serve, since when."""
        self._unserved_since: float | None = None
        self._served_by = ""
        world.loop.call_later(LOOK_SECONDS, self._look_again, context=Context())

    def is_settled(self) -> bool:
        """See :class:`Checker`."""
        return self._unserved_since is None

    def _look_again(self) -> None:
        self._world.check(self._look)
        self._world.loop.call_later(LOOK_SECONDS, self._look_again, context=Context())

    def _look(self) -> None:
        now = self._world.loop.now
        self._able = {
            node.machine.name: self._able.get(node.machine.name, now)
            for node in self._nodes
            if is_able(self._world, node, now)
        }
        holder = serving(self._world)
        if holder is not None and not is_unable(self._world, holder, now):
            self._note_takeover(holder.machine.name, now)
            self._unserved_since = None
            return
        if self._unserved_since is None:
            self._unserved_since = now
        require(
            self._waited(now) <= TAKEOVER_SECONDS,
            "a machine could serve and does not",
            self._able,
            round(now - self._unserved_since, 1),
        )

    def _note_takeover(self, name: str, now: float) -> None:
        if self._unserved_since is not None and self._served_by:
            is_same = name == self._served_by
            waited = self._waited(now)
            self.takeovers.append(Takeover(self._unserved_since, waited, is_same))
        self._served_by = name

    def _waited(self, now: float) -> float:
        """Return for how long a machine could have served, and none did."""
        assert self._unserved_since is not None
        if not self._able:
            return 0.0
        return now - max(self._unserved_since, min(self._able.values()))


def is_unable(world: World, node: Node, now: float) -> bool:
    """Return whether a machine certainly cannot serve: its daemon does not run or will not for
    long, something that it has to store cannot be stored, or it does not reach the store, the
    broker, or any device.
    """
    process, machine, bucket = node.program.process, node.machine, world.bucket
    assert bucket is not None
    return (
        process is None
        or not process.alive
        or machine.is_doomed
        or max(process.frozen_until, machine.asleep_until) > now
        or machine in bucket.unheard | bucket.deaf
        or node.disk.is_stuck
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
