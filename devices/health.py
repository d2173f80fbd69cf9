"""Health of a device, as its supervisor reports it."""

from __future__ import annotations

import msgspec

from devices.codec import Counters
from devices.readings import Whole
from devices.watch import State


class DeviceHealth(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Health of one device: its link and its codec."""

    device: str
    """The device's id in the configuration."""
    state: State
    """The state of the link."""
    age: float | None
    """Seconds since the last valid frame; null before the first."""
    counters: Counters
    """The codec's counters."""
    reconnects: Whole = 0
    """How often the link was opened again."""
    defects: Whole = 0
    """Exceptions raised in the codec."""
    recording: bool = False
    """Whether the device's bytes are being recorded."""
    link: dict[str, str] = {}
    """Facts about the port or socket, by name."""
    error: str | None = None
    """The latest error of the link, even if it is over."""
