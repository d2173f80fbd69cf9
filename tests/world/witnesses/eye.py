"""A second witness of the world: what it sees of the wheel, and what it reports of it."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable
from contextvars import Context
from math import inf
from random import Random
from typing import NamedTuple

from simulators.device import Timed
from tests.world.client import Client
from tests.world.device import Device
from tests.world.loop import WorldLoop
from tests.world.wheels.displays import frame
from tests.world.wheels.wheel import Shown, Wheel

POCKETS = 37


class Report(NamedTuple):
    """What a witness reports at a time: of which spin of its wheel, counted from 0, and which
    number. ``is_old``: it repeats a report of a spin before the last.
    """

    at: float
    spin: int
    number: int
    is_old: bool = False


class Eye:
    """Looks at a wheel, and passes each report on to ``send`` after some of ``seconds``. A fault
    sets one of its attributes.
    """

    def __init__(
        self,
        loop: WorldLoop,
        wheel: Wheel,
        seconds: tuple[float, float],
        seed: int,
        send: Callable[[Report], None],
    ) -> None:
        self.reports: list[Report] = []
        self.blind = False
        self.late_seconds = 0.0
        """Reports come so much later."""
        self.wrong_reports = self.repeated_reports = self.old_reports = 0
        """How many of the next reports are wrong, come twice, or are followed by the one before."""
        self._loop, self._wheel, self._seconds, self._send = loop, wheel, seconds, send
        self._random = Random(seed)
        wheel.on_shown.append(self._see)

    def _see(self, shown: Shown) -> None:
        number = shown.spin.number
        wait = self._random.uniform(*self._seconds) + self.late_seconds
        if isinstance(number, int) and not self.blind:
            spin = len(self._wheel.played) - 1
            self._loop.call_later(wait, self._report, spin, number, context=Context())

    def _report(self, spin: int, number: int) -> None:
        if self.wrong_reports:
            self.wrong_reports -= 1
            number = (number + 1) % POCKETS
        self.say(spin, number)
        if self.repeated_reports:
            self.repeated_reports -= 1
            self.say(spin, number)
        before = [report for report in self.reports if report.spin < spin]
        if self.old_reports and before:
            self.old_reports -= 1
            self.say(before[-1].spin, before[-1].number, is_old=True)

    def say(self, spin: int, number: int, *, is_old: bool = False) -> None:
        """Report a number of a spin."""
        report = Report(self._loop.now, spin, number, is_old)
        self.reports.append(report)
        self._send(report)


class SensorModel:
    """A sensor that sends the number where a ball lies, once, as the profile ``number-display``
    has it.
    """

    baud = 9600

    def __init__(self) -> None:
        self.rounds = 0
        self._due: deque[Timed] = deque()

    @property
    def deadline(self) -> float:
        """See :class:`simulators.device.SimulatedDevice`."""
        return self._due[0][0] if self._due else inf

    def show(self, number: int, now: float) -> None:
        """Send a number."""
        self._due.append((now, frame(f"N{number:02}")))

    def advance(self, now: float) -> list[Timed]:
        """See :class:`simulators.device.SimulatedDevice`."""
        del now
        due, self._due = list(self._due), deque()
        return due

    def receive(self, data: bytes, now: float) -> None:
        """Ignore the data: it takes no commands."""

    def fault(self, name: str, value: float, now: float) -> None:
        """It has no faults of its own."""


class Sensor:
    """A witness on a line, at a port of its own."""

    def __init__(self, loop: WorldLoop, name: str, seed: int) -> None:
        self._loop, self._model = loop, SensorModel()
        self.device = Device(loop, name, "witness-sensor", self._model, seed)

    def send(self, report: Report) -> None:
        """Send a report."""
        self._model.show(report.number, self._loop.now)
        self.device.wake()


class Camera:
    """A reader of pictures that publishes below ``base`` what it sees, with its own count of the
    spins.
    """

    def __init__(self, client: Client, base: str) -> None:
        self.retains = False
        """Whether the broker retains its reports, and gives them to who subscribes later."""
        self._client, self._topic = client, f"{base}/response"

    def send(self, report: Report) -> None:
        """Publish a report."""
        argument = {"round_id": report.spin + 1, "res": report.number, "err": 0}
        body = json.dumps({"response": "result", "arg": argument}).encode()
        self._client.publish(self._topic, body, retain=self.retains)
