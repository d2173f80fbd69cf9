"""A roulette wheel of the world: an SS2, and what it has shown."""

from __future__ import annotations

from typing import NamedTuple

from simulators.wheel.cammegh_ss2 import SlingshotSS2
from tests.support.chaos.floor import Spin
from tests.world.device import Device
from tests.world.loop import WorldLoop

SHOWS_NUMBER = 5
"""The state of an SS2 in which its number is the result of the spin."""


class Shown(NamedTuple):
    """A number that the wheel has shown, and when."""

    at: float
    spin: Spin


class _Wins(list[int]):
    """Notes what the model of a wheel adds to its list of numbers."""

    def __init__(self, wheel: Wheel) -> None:
        super().__init__()
        self._wheel = wheel

    def append(self, pocket: int) -> None:
        super().append(pocket)
        self._wheel.played.append(Shown(self._wheel.now, Spin(self._wheel.model.spin, pocket)))


class Wheel(Device):
    """A wheel with its line, on an adapter that can be unplugged."""

    def __init__(self, loop: WorldLoop, name: str, seed: int, pace: float = 1.0) -> None:
        self.model = SlingshotSS2(seed=seed, status_pace=pace)
        self.played: list[Shown] = []
        """What it has shown, in order."""
        self.shown_at = 0.0
        """When it last said its last number in the state in which a number counts."""
        self.model.wins = _Wins(self)
        super().__init__(loop, name, "cammegh-ss2", self.model, seed)

    def sent(self) -> None:
        """Note when it last showed a number."""
        if self.model.state == SHOWS_NUMBER:
            self.shown_at = self.now
