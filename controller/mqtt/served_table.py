"""One table that this daemon serves."""

from __future__ import annotations

import msgspec

from common.contract.node import TableHealth
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

    def health(self, elsewhere: str | None) -> TableHealth:
        """Return the table's part of the retained ``health``. ``elsewhere``: the node that has the
        table, if it is not this one.
        """
        return TableHealth(
            elsewhere=elsewhere,
            readings_lost=self.runner.lost_readings,
            devices={name: device.health() for name, device in self.devices.items()},
        )
