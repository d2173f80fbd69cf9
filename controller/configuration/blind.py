"""Finds devices that can never yield a result, or that lose one without a question."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from common.places import KeyPath
from controller.configuration.settings import Configuration
from devices.drivers import driver


def blind(configuration: Configuration) -> Iterator[tuple[KeyPath, str]]:
    """Yield each such device of a valid configuration, with each reason."""
    for t, table in enumerate(configuration.table):
        for d, device in enumerate(table.device):
            driver_of = driver(device.driver)
            options = msgspec.convert(device.options, driver_of.options)
            if driver_of.described is not None:
                driver_of = driver_of.described(options)
            for why in filter(None, (driver_of.blind(options), driver_of.unsafe(options))):
                yield ("table", t, "device", d), f"{table.id}/{device.id}: {why}"
