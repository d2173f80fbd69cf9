"""A Slingshot 2 in state 6 that is asked: its status lines, and the answers that a test gives."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from common.readings import AnyReading, DeviceParameter, Reading
from devices.drivers import driver
from devices.watch import Watch
from devices.wheel.cammegh_ss2 import Options
from devices.wheel.cammegh_ss2_log import FIRST_CHARACTER, PAGE_CHARACTERS
from simulators.line import SimulatedLine
from simulators.wheel.cammegh_ss2 import SlingshotSS2

R = TypeVar("R", bound=Reading)
STEP_SECONDS = 0.02
WAITS_FOR_HOST = 1159
"""The mode in which the wheel stays in state 6 until it is started."""
VALUES = {
    "*S": "*S V2.50",
    "*O": "*O 6 1 161 1158",
    "*T Z": "*T z 37",
    "*T N": "*T n 2920",
    "*T S": "*T s 16.0 18.0",
    "*T M": "*T m 2.0",
    "*T H": "*T h 161",
    "*T G": "*T g 0",
    "*T I": "*T i 10",
    "*s t": "*s t 0",
}
"""The replies of the public dump, by request, and those of an empty win log."""


def page_line(entries: str, wrong_by: int = 0) -> bytes:
    """A page of the win log, with the sum of its entries, or a wrong one."""
    page = entries.ljust(PAGE_CHARACTERS, "~").encode()
    return page + b"%02X" % ((sum(page) + wrong_by) % 256)


def entries_text(values: Iterable[int]) -> str:
    """Values of the win log, as characters of a page."""
    return "".join(chr(FIRST_CHARACTER + value) for value in values)


class AskedWheel:
    """The watch over a wheel that is asked, and its line. ``answers``: called for each request; the
    seconds after which each line of its reply is complete, and the line. None: the model answers.
    """

    def __init__(
        self,
        wheel: SlingshotSS2 | None = None,
        options: Options | None = None,
        answers: Callable[[str], list[tuple[float, bytes]]] | None = None,
    ) -> None:
        self.wheel = wheel or SlingshotSS2(mode=WAITS_FOR_HOST)
        self.line = SimulatedLine(self.wheel)
        made = driver("cammegh-ss2").make("wheel", options or Options(ask=True))
        self.codec = made
        self.watch = Watch(made, "wheel", 5.0)
        self.readings: list[AnyReading] = list(self.watch.opened(0.0, kept=True))
        self.requests: list[tuple[float, str]] = []
        self.now = 0.0
        self._answers = answers
        self._due: list[tuple[float, bytes]] = []

    def run(self, until: float) -> None:
        """Advance the time of wheel, line and watch."""
        while self.now < until:
            self.now = round(self.now + STEP_SECONDS, 6)
            arrived = self.line.advance(self.now)
            due = sorted(each for each in self._due if each[0] <= self.now)
            self._due = [each for each in self._due if each[0] > self.now]
            for _, data in sorted([*arrived, *due], key=lambda each: each[0]):
                self.receive(data)
            if (deadline := self.watch.deadline) is not None and deadline <= self.now:
                self.readings += self.watch.tick(self.now)
            self._send()

    def receive(self, data: bytes) -> None:
        """Bytes arrive now."""
        self.readings += self.watch.tick(self.now)
        self.readings += self.watch.receive(data, self.now)
        self._send()

    def _send(self) -> None:
        if not (request := self.watch.take_request()):
            return
        text = request.decode().removesuffix("\r\n")
        self.requests.append((self.now, text))
        if self._answers is None:
            self.wheel.receive(request, self.now)
        else:
            self._due += [(self.now + after, line) for after, line in self._answers(text)]

    def of(self, kind: type[R]) -> list[R]:
        """The readings of a kind."""
        return [reading for reading in self.readings if isinstance(reading, kind)]

    @property
    def parameters(self) -> dict[str, str | None]:
        """The latest values."""
        return {each.parameter: each.value for each in self.of(DeviceParameter)}
