"""Devices that can be read, and of which no result can ever come."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from controller.configuration.settings import Configuration
from devices.drivers import driver
from devices.places import Path


def blind(configuration: Configuration) -> Iterator[tuple[Path, str]]:
    """Each such device of a sound configuration, and why."""
    for t, table in enumerate(configuration.table):
        for d, device in enumerate(table.device):
            known = driver(device.driver)
            options = msgspec.convert(device.options, known.options)
            if known.described is not None:
                known = known.described(options)
            if (why := known.blind(options)) is not None:
                yield ("table", t, "device", d), f"{table.id}/{device.id}: {why}"
