"""Enables the drivers of extensions that a configuration names, before its tables are checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from common.extensions import ExtensionError, ExtensionRecord, loaded_record
from common.sections import Notes
from controller.configuration.settings import Configuration
from devices.drivers import enable_driver


def enable_drivers(content: Mapping[str, Any], notes: Notes) -> None:
    """Load the drivers that ``[extensions]`` names; note those that cannot be loaded. Values of the
    wrong type are noted when the section is read.
    """
    section = content.get("extensions")
    named = section.get("drivers") if isinstance(section, dict) else None
    for index, name in enumerate(named if isinstance(named, list) else ()):
        if not isinstance(name, str):
            continue
        try:
            enable_driver(name)
        except ExtensionError as error:
            notes.append((("extensions", "drivers", index), str(error)))


def used_extensions(configuration: Configuration) -> tuple[ExtensionRecord, ...]:
    """Return the loaded extensions that decode the bytes of devices, by name."""
    names = {device.driver for table in configuration.table for device in table.device}
    records = (loaded_record("drivers", name) for name in sorted(names))
    return tuple(record for record in records if record is not None)
