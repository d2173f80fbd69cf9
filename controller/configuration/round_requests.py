"""The requests about a round that the daemon sends to a device by itself."""

from __future__ import annotations

import msgspec

from controller.configuration.codec_options import codec_options
from controller.configuration.settings import DeviceConfig
from devices.codec import RoundRequest
from devices.drivers import driver


def round_requests(device: DeviceConfig) -> tuple[RoundRequest, ...]:
    """Return the requests of a device's profile; none if the site allows no commands to it."""
    found = driver(device.driver)
    if not device.commands:
        return ()
    if found.described is not None:
        found = found.described(msgspec.convert(codec_options(device), found.options))
    return found.requests
