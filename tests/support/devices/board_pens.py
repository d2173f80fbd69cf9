"""A pen that writes the reports of sensor boards, with their number and clock, and their reader."""

from __future__ import annotations

from typing import Any, TypeVar

from common.readings import AnyReading, Reading
from devices.board.report import write_report
from devices.codec import Codec
from devices.drivers import driver

R = TypeVar("R", bound=Reading)


def of(kind: type[R], readings: list[AnyReading]) -> list[R]:
    return [reading for reading in readings if isinstance(reading, kind)]


def make(name: str, **options: Any) -> Codec:
    found = driver(name)
    return found.make("board", found.options(**options))


class Board:
    """A board and its codec, both clocks alike. ``say`` gives the readings of a report;
    ``readings`` stores them all.

    ``state``: the word and the fields that it says each second; set by ``show``.
    """

    def __init__(self, name: str, **options: Any) -> None:
        self.codec = make(name, **options)
        self.kind = name.removesuffix("-board")
        self.now = 1000.0
        self.number = 0
        self.started = 999.0
        self.readings: list[AnyReading] = []
        self.state: tuple[Any, ...] = ()

    def line(self, word: str, *fields: Any) -> bytes:
        """The next report, with the present clock, but not sent."""
        self.number += 1
        return write_report(
            self.number - 1, round((self.now - self.started) * 1000), self.kind, word, *fields
        )

    def raw(self, data: bytes) -> list[AnyReading]:
        readings = self.codec.feed(data, self.now)
        self.readings += readings
        return readings

    def say(self, word: str, *fields: Any, after: float = 0.0) -> list[AnyReading]:
        self.now += after
        return self.raw(self.line(word, *fields))

    def show(self, *state: Any, seconds: float = 0.0) -> list[AnyReading]:
        """Report a state at once, and then once a second for that number of seconds."""
        self.state = state
        readings = self.say(*state, after=0.05)
        return readings + self.wait(seconds)

    def wait(self, seconds: float) -> list[AnyReading]:
        """Continue to report the state."""
        readings: list[AnyReading] = []
        while seconds > 0:
            step = min(1.0, seconds)
            readings += self.say(*self.state, after=step)
            seconds -= step
        return readings

    def lose(self, reports: int = 1) -> None:
        """Reports that were made and never arrived."""
        self.number += reports

    def restart(self) -> None:
        """The power was cut: number and clock restart."""
        self.now += 1.0
        self.number, self.started = 0, self.now - 0.1


def told(readings: list[AnyReading], *names: str) -> list[tuple[Any, ...]]:
    """The fields of these names of all readings that have them all."""
    return [
        tuple(getattr(r, name) for name in names)
        for r in readings
        if all(hasattr(r, name) for name in names)
    ]
