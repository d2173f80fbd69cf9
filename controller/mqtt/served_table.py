"""One table that this daemon serves."""

from __future__ import annotations

import msgspec

from common.contract.topics import Topics
from controller.people.gate import CommandGate
from controller.tables.runner import TableRunner
from devices.device import DeviceSupervisor


class ServedTable(msgspec.Struct, frozen=True):
    """One table with its runner, topics and devices."""

    runner: TableRunner
    topics: Topics
    devices: dict[str, DeviceSupervisor]
    """The devices by id."""
    silence: float
    """Seconds on the table's clock after which a silent device counts as down."""
    gate: CommandGate | None = None
    """Checks signed commands; None if there are no people."""
    required: bool = True
    """With a gate: whether commands must be signed."""
