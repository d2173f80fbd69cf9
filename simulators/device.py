"""The contract of a simulated device: a pure model that is told the time and says what it sends.

Times are seconds of the model's own clock, from 0 at power-on; the model never looks at a clock
itself, so the same seed, commands and faults always give the same bytes at the same times.
"""

from __future__ import annotations

from typing import Protocol

Timed = tuple[float, bytes]
"""Bytes and the time at which they are sent."""


class Device(Protocol):
    """One simulated device."""

    baud: int
    """The line speed of the real one, 8N1."""

    @property
    def rounds(self) -> int:
        """How many rounds were played to their end since the model was made."""
        ...

    @property
    def deadline(self) -> float:
        """The time of the next thing that happens by itself."""
        ...

    def advance(self, now: float) -> list[Timed]:
        """Let the time pass up to ``now``: the lines that were sent meanwhile, oldest first."""
        ...

    def receive(self, data: bytes, now: float) -> None:
        """Take bytes from the host. What is answered comes out of :meth:`advance`."""
        ...

    def fault(self, name: str, value: float, now: float) -> None:
        """Switch on one fault of the device: at once, or at the next occasion for it."""
        ...
