"""A table in real play, an output that receives its messages, and our own driver at its port."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from common import clock
from common.cammegh_ss2_frames import LINE_END, Status, read_status
from common.readings import Number, WheelNumber
from devices.wheel.cammegh_ss2 import CammeghSS2, Options
from subscribers.feed.tables import BrokerLogin, ConnectionChange, FeedMessage
from subscribers.output.__main__ import STATUS_INTERVAL_SECONDS, OutputProgram
from subscribers.output.settings import OutputProgramSettings, OutputSettings
from tests.support.subscribers.played import ID, Play

NODE = "node/n1/status"
Change = Callable[[bytes], list[bytes]]
"""What the way does to an event: the messages that arrive in its place."""


def as_sent(body: bytes) -> list[bytes]:
    return [body]


class OldDisplay:
    """``time``: of all clocks. ``lines``: all that was sent; ``numbers``: what the driver made of
    it.
    """

    def __init__(self) -> None:
        self.time = 1_790_000_000.0
        source = clock.Source(wall=lambda: self.time, monotonic=lambda: self.time)
        self.clock = clock.use(source)
        self.clock.__enter__()
        self.program = OutputProgram(
            OutputProgramSettings(
                site="casino-mayor",
                broker=BrokerLogin(url="mqtt://127.0.0.1:1"),
                outputs=(OutputSettings(port="/dev/null", table=ID),),
            )
        )
        self.driver = CammeghSS2("wheel", Options())
        self.lines: list[Status] = []
        self.numbers: list[Number] = []
        self.change: Change = as_sent
        self._up = False
        self._boot = ""
        self._bodies: dict[str, bytes | None] = {}

    def close(self) -> None:
        self.clock.__exit__(None, None, None)

    # what Play tells

    def daemon(self, boot: str) -> None:
        self._boot = boot
        self.broker(up=True)

    def event(self, body: bytes) -> None:
        for arriving in self.change(body):
            self.message("event", arriving)

    def retained(self, bodies: dict[str, bytes | None]) -> None:
        for leaf, body in bodies.items():
            if self._bodies.get(leaf, b"") != body:
                self._bodies[leaf] = body
                self.message(leaf, body or b"")

    # the way

    def message(self, leaf: str, body: bytes) -> None:
        if self._up:
            self.program.floor.on_message(False, FeedMessage(leaf, body, ID))

    def broker(self, *, up: bool) -> None:
        """The connection is lost, or is there again with all that is retained."""
        self._up = up
        self.program.floor.on_message(False, ConnectionChange(up=up))
        for leaf, body in self._bodies.items():
            self.message(leaf, body or b"")
        if up:
            self.node("online")

    def node(self, status: str) -> None:
        """The daemon says this of itself."""
        body = msgspec.json.encode({"status": status, "boot": self._boot})
        self.program.floor.on_message(False, FeedMessage(NODE, body))

    # the port

    def ticks(self, count: int) -> None:
        for _ in range(count):
            self.time += STATUS_INTERVAL_SECONDS
            line = self.program.outputs[0]._next_line()
            status = read_status(line.removesuffix(LINE_END))
            assert status is not None, line
            self.lines.append(status)
            readings = self.driver.feed(line, self.time)
            self.numbers += [each.number for each in readings if isinstance(each, WheelNumber)]
            assert not any(isinstance(each, WheelNumber) and each.late for each in readings)

    def last(self) -> tuple[int, int, Any]:
        """State, spin and number as last sent."""
        status = self.lines[-1]
        return status.state, status.spin, status.number


class TimedPlay(Play):
    """A table whose inputs come at the time of the display's clock."""

    def __init__(self, display: OldDisplay, boot: str = "boot", **settings: Any) -> None:
        given = {"phases": "person", **settings}
        super().__init__("roulette-french", "ARA02", given, boot=boot, others=(display,))
        self.display = display

    def say(self, kind: str, **fields: Any) -> None:
        self._at = self.display.time - 1.0
        super().say(kind, **fields)
