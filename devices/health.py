"""The health of one device, as its supervisor reports it."""

from __future__ import annotations

import msgspec

from devices.codec import Counters
from devices.watch import State


class DeviceHealth(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The health of a device. ``age``: seconds since the last valid frame; ``reconnects``: how
    often the link was reopened; ``defects``: exceptions raised by the codec; ``link``: facts about
    the link; ``error``: the most recent one, even if it is over.
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
