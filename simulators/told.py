"""A simulated device that tells what it says: the truth, before anything happens to it on
the line.
"""

from __future__ import annotations

from collections.abc import Callable

from simulators.device import Device, Timed


class ReportedDevice:
    """Another device, whose every line is handed to ``tell`` with the time at which it leaves."""

    def __init__(self, device: Device, tell: Callable[[float, bytes], None]) -> None:
        self.baud = device.baud
        self._device = device
        self._tell = tell

    @property
    def rounds(self) -> int:
        """As many as the device has."""
        return self._device.rounds

    @property
    def deadline(self) -> float:
        """The device's own."""
        return self._device.deadline

    def advance(self, now: float) -> list[Timed]:
        """Let the time pass, and tell what the device says meanwhile."""
        lines = self._device.advance(now)
        for at, line in lines:
            self._tell(at, line)
        return lines

    def receive(self, data: bytes, now: float) -> None:
        """For the device."""
        self._device.receive(data, now)

    def fault(self, name: str, value: float, now: float) -> None:
        """For the device."""
        self._device.fault(name, value, now)
