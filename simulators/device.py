"""The contract of a simulated device: a pure model that gets the time and returns the bytes that it
sends.

Times are seconds on the model's own clock, 0 at power-on. The model never reads a clock, so the
same seed, commands and faults always give the same bytes at the same times.
"""

from __future__ import annotations

from typing import Protocol

Timed = tuple[float, bytes]
"""Bytes and the time when they are sent."""


class SimulatedDevice(Protocol):
    """One simulated device."""

    baud: int
    """The line speed of the real device, 8N1."""

    @property
    def rounds(self) -> int:
        """Number of rounds completed since the model was created."""
        ...

    @property
    def deadline(self) -> float:
        """When the model next acts by itself."""
        ...

    def advance(self, now: float) -> list[Timed]:
        """Advance the time to ``now``. Return the lines sent meanwhile, oldest first."""
        ...

    def receive(self, data: bytes, now: float) -> None:
        """Handle bytes from the host. :meth:`advance` returns the answers."""
        ...

    def fault(self, name: str, value: float, now: float) -> None:
        """Trigger a fault of the device, now or at the next opportunity."""
        ...
