"""Health of a device, as its supervisor reports it."""

from __future__ import annotations

from typing import Literal

import msgspec

from common.readings import Whole

State = Literal["connecting", "up", "stale", "unintelligible", "lost"]
"""``connecting``: open, nothing received yet; ``up``: valid frames arrive; ``stale``: none for too
long; ``unintelligible``: bytes arrive, but no valid frame; ``lost``: closed.
"""


class Counters(msgspec.Struct, kw_only=True):
    """Counters of a codec since it was created."""

    bytes: Whole = 0
    """Bytes received. Always 0 where cards lie face down: the code of one card may be longer than
    that of another.
    """
    frames: Whole = 0
    """Valid frames."""
    damaged: Whole = 0
    """Incomplete or corrupt frames or lines."""
    unknown: Whole = 0
    """Complete frames of an unknown kind."""
    late: Whole = 0
    """Valid frames that may have waited before they were delivered."""


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
