"""Reports the lines of a simulated device, before any fault of the line."""

from __future__ import annotations

from collections.abc import Callable

from simulators.device import SimulatedDevice, Timed


class ReportedDevice:
    """Wraps a device and calls ``report`` with every line and its time."""

    def __init__(self, device: SimulatedDevice, report: Callable[[float, bytes], None]) -> None:
        self.baud = device.baud
        self._device = device
        self._report = report

    @property
    def rounds(self) -> int:
        """See :class:`simulators.device.SimulatedDevice`."""
        return self._device.rounds

    @property
    def deadline(self) -> float:
        """See :class:`simulators.device.SimulatedDevice`."""
        return self._device.deadline

    def advance(self, now: float) -> list[Timed]:
        """Advance the time and report the lines that the device sends."""
        lines = self._device.advance(now)
        for at, line in lines:
            self._report(at, line)
        return lines

    def receive(self, data: bytes, now: float) -> None:
        """See :class:`simulators.device.SimulatedDevice`."""
        self._device.receive(data, now)

    def fault(self, name: str, value: float, now: float) -> None:
        """See :class:`simulators.device.SimulatedDevice`."""
        self._device.fault(name, value, now)
