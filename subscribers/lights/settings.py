"""Settings of the program of the lights. They contain no secret."""

from __future__ import annotations

from typing import Literal

import msgspec

from subscribers.feed.tables import BrokerLogin
from subscribers.lights.packets import Levels


class SceneSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What lights show for ``seconds``: on a hit of ``jackpot``, or on one of the ``numbers`` of
    ``table``. Channels that a scene does not name are 0. A relay has no channels.
    """

    seconds: float
    jackpot: str | None = None
    table: str | None = None
    numbers: tuple[int, ...] = ()
    channels: Levels = {}


class LightSettings(msgspec.Struct, frozen=True, kw_only=True):
    """One universe, or one relay. ``address``: of the receiver, None for the multicast of sACN; of
    a relay its serial port, or ``rfc2217://host:port``. ``interface``: the address of this machine
    to send from. ``rest``: what lights show without a scene.
    """

    id: str
    protocol: Literal["sacn", "artnet", "relay"]
    address: str | None = None
    interface: str | None = None
    universe: int = 1
    priority: int = 100
    line: Literal["rts", "dtr"] = "rts"
    rest: Levels = {}
    scene: tuple[SceneSettings, ...] = ()
    simulated: bool = False


class LightProgramSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All settings."""

    site: str
    broker: BrokerLogin
    lights: tuple[LightSettings, ...]
