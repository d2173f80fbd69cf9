"""An output that receives the messages of a table in play, and our own driver at its port."""

from __future__ import annotations

from common.cammegh_ss2_frames import LINE_END, Status, read_status
from common.readings import Number, WheelNumber
from devices.wheel.cammegh_ss2 import CammeghSS2, Options
from subscribers.feed.tables import BrokerLogin
from subscribers.output.__main__ import STATUS_INTERVAL_SECONDS, OutputProgram
from subscribers.output.settings import OutputProgramSettings, OutputSettings
from tests.support.subscribers.played import ID
from tests.support.subscribers.received import Receiver


class OldDisplay(Receiver):
    """``lines``: all that was sent; ``numbers``: what the driver made of it."""

    def __init__(self) -> None:
        super().__init__()
        self.program = OutputProgram(
            OutputProgramSettings(
                site="casino-mayor",
                broker=BrokerLogin(url="mqtt://127.0.0.1:1"),
                outputs=(OutputSettings(port="/dev/null", table=ID),),
            )
        )
        self.floor = self.program.floor
        self.driver = CammeghSS2("wheel", Options())
        self.lines: list[Status] = []
        self.numbers: list[Number] = []

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

    def last(self) -> tuple[int, int, Number | None]:
        """State, spin and number as last sent."""
        status = self.lines[-1]
        return status.state, status.spin, status.number
