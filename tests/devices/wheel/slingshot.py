"""Writes the lines of a Slingshot 2, with a clock that advances by half a second with each status
line.
"""

from __future__ import annotations

from common.readings import AnyReading, WheelFault, WheelNumber, WheelPhase
from devices.wheel.cammegh_ss2 import CammeghSS2, Options

PERIOD = 0.5


def status(
    state: int,
    spin: int = 1,
    number: str = "  ",
    warnings: int = 0,
    speed: int = 166,
    direction: int = 0,
) -> bytes:
    return f"*X;{state};{spin:03d};{number};{warnings:X};{speed:03d};{direction}".encode()


class WheelFeed:
    """A codec and the time. Every ``send`` gives the readings of that chunk; ``readings`` stores
    them all.

    Without ``options`` each line is believed by itself, so that a test says what matters once;
    ``test_cammegh_ss2_heard_twice`` shows that saying it twice comes to the same where two lines
    have to agree.
    """

    def __init__(self, options: Options | None = None) -> None:
        self.codec = CammeghSS2("wheel", options or Options(heard_twice=False))
        self.now = 100.0
        self.readings: list[AnyReading] = []

    def raw(self, data: bytes, after: float = 0.0) -> list[AnyReading]:
        self.now += after
        readings = self.codec.feed(data, self.now)
        self.readings += readings
        return readings

    def line(self, line: bytes, after: float = 0.0) -> list[AnyReading]:
        return self.raw(line + b"\r\n", after)

    def send(
        self,
        state: int,
        spin: int = 1,
        number: str = "  ",
        warnings: int = 0,
        speed: int = 166,
        direction: int = 0,
        after: float = PERIOD,
    ) -> list[AnyReading]:
        return self.line(status(state, spin, number, warnings, speed, direction), after)

    def play(self, spin: int, before: str, number: str, bare: bool = True) -> list[AnyReading]:
        """One spin, from open bets to the number."""
        begin = len(self.readings)
        for state in (2, 3, 4):
            self.send(state, spin, before)
        if bare:
            self.line(number.encode(), after=0.1)
        self.send(5, spin, number, after=PERIOD - 0.1 * bare)
        return self.readings[begin:]


def phases(readings: list[AnyReading]) -> list[str]:
    return [reading.phase for reading in readings if isinstance(reading, WheelPhase)]


def numbers(readings: list[AnyReading]) -> list[WheelNumber]:
    return [reading for reading in readings if isinstance(reading, WheelNumber)]


def faults(readings: list[AnyReading]) -> list[tuple[str, bool]]:
    return [
        (reading.fault, reading.active) for reading in readings if isinstance(reading, WheelFault)
    ]
