"""Simulated clocks of a machine for tests of the archivist."""

from __future__ import annotations

import pytest

from common import clock
from controller.proof import timekeeper
from controller.proof.clocks import ClockReading

DAY_SECONDS = 86_400.0
NOON = 1_793_534_400.0
"""2026-11-01, twelve o'clock."""


class World:
    """``truth``: seconds since that noon; ``off``: the error of the wall clock in seconds; ``ran``:
    seconds for which the machine was on.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.truth = 0.0
        self.off = 0.0
        self.ran = 0.0
        self.synchronised: bool | None = False
        monkeypatch.setattr(clock, "wall", lambda: self.wall)
        monkeypatch.setattr(clock, "uptime_ns", lambda: int(self.ran * 1e9))
        monkeypatch.setattr(timekeeper, "read_clocks", self.read)

    @property
    def wall(self) -> float:
        return NOON + self.truth + self.off

    def read(self) -> ClockReading:
        return ClockReading(self.wall, self.ran, self.ran, self.synchronised)

    def keeps_playing(self, seconds: float) -> None:
        self.truth += seconds
        self.ran += seconds

    def is_off(self, seconds: float) -> None:
        """The machine is switched off."""
        self.truth += seconds
        self.ran = 0.0

    def stops_in_1970(self) -> None:
        """A start without a battery."""
        self.off = -NOON - self.truth
