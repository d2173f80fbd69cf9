"""The options with which a device's codec is made."""

from __future__ import annotations

from typing import Any

from controller.configuration.settings import DeviceConfig
from devices.drivers import driver

ASK_OPTION = "ask"
"""Name of the option of drivers that can ask a device about itself."""


def codec_options(device: DeviceConfig) -> dict[str, Any]:
    """Return the configured options. Where the site allows commands to the device, a driver that
    can ask does so, unless ``ask`` is configured.
    """
    if device.commands and ASK_OPTION in driver(device.driver).options.__struct_fields__:
        return {ASK_OPTION: True, **device.options}
    return device.options
