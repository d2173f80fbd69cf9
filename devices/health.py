"""The health of one device, as its supervisor reports it."""

from __future__ import annotations

import msgspec

from devices.codec import Counters
from devices.watch import State


class DeviceHealth(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a device is. ``age``: seconds since the last valid frame; ``reconnects``: how often the
    link was opened again; ``defects``: exceptions of the codec; ``link``: what is known of the
    wire; ``error``: the last one, over or not.
    """

    device: str
    state: State
    age: float | None
    counters: Counters
    reconnects: int = 0
    defects: int = 0
    recording: bool = False
    link: dict[str, str] = {}
    error: str | None = None
