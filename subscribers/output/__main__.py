"""``python -m subscribers.output --settings JSON``: outputs for displays that were made for a
Cammegh Slingshot 2, each at a serial port or a device server. ``novamas output`` starts it with the
settings from a configuration.

What a display sends is dropped: the status comes by itself, as from a wheel in that mode.
"""

from __future__ import annotations

import argparse
import asyncio

import msgspec
import serial

from common import clock
from common.cammegh_ss2_frames import LINE_END, write_status
from common.command_line import end_process
from common.log import structlog
from subscribers.essential import end_at_signal, ending_process, run_together
from subscribers.feed.floor import Floor
from subscribers.feed.live import LiveResults, current_state
from subscribers.feed.motion import FRESH_SECONDS, ReceivedMotion, read_motion
from subscribers.feed.wheel_result import WheelResult
from subscribers.feed.worlds import now, receivers
from subscribers.line_port import keep_port_open, open_port, wait
from subscribers.output.settings import OutputProgramSettings, OutputSettings
from subscribers.output.status import SWITCHED_ON, next_status, on_result, shows_on_roulette
from subscribers.service_log import log_lines

STATUS_INTERVAL_SECONDS = 0.5
"""Time between two status lines, as on a wheel."""
LAST_LINES = 2
"""Lines that end an output: a reader may want two that agree."""


class WheelOutput:
    """One output: what it shows of its table, and the port that it writes to."""

    def __init__(self, settings: OutputSettings, floor: Floor) -> None:
        self._settings, self._floor = settings, floor
        self._memory = SWITCHED_ON
        self._motion: tuple[float, ReceivedMotion] | None = None
        """The last motion, and when it came, on the monotonic clock."""

    def on_result(self, result: WheelResult) -> None:
        """Handle a live result of its table."""
        if shows_on_roulette(result):
            self._memory = on_result(self._memory, result)

    def on_motion(self, motion: ReceivedMotion) -> None:
        """Handle the motion of its table's wheel."""
        self._motion = clock.monotonic(), motion

    async def show(self, stop: asyncio.Event) -> None:
        """Send the status until ``stop`` is set; then that of a wheel without a number."""
        settings = self._settings
        await keep_port_open(
            settings.port,
            lambda: open_port(settings.port, settings.baud),
            lambda port: self._show(port, stop),
            stop,
        )

    async def _show(self, port: serial.Serial, stop: asyncio.Event) -> None:
        due = clock.monotonic()
        while not stop.is_set():
            await asyncio.to_thread(_write, port, self._next_line())
            due = max(due + STATUS_INTERVAL_SECONDS, clock.monotonic())
            await wait(stop, due - clock.monotonic())
        _, last = next_status(self._memory, None, None)
        await asyncio.to_thread(_write, port, LAST_LINES * (write_status(last) + LINE_END))

    def _next_line(self) -> bytes:
        state = current_state(self._floor, self._settings.table)
        came, motion = self._motion or (0.0, None)
        fresh = clock.monotonic() - came <= FRESH_SECONDS
        self._memory, status = next_status(self._memory, state, motion if fresh else None)
        return write_status(status) + LINE_END


def _write(port: serial.Serial, line: bytes) -> None:
    port.reset_input_buffer()
    port.write(line)


class OutputProgram:
    """The outputs of one configuration."""

    def __init__(self, settings: OutputProgramSettings) -> None:
        self.settings = settings
        worlds = {output.table: output.simulated for output in settings.outputs}
        self.floor = Floor(worlds, now)
        self.outputs = [WheelOutput(output, self.floor) for output in settings.outputs]
        self._live = LiveResults(self.floor)
        self.floor.listeners.append(self._on_message)

    def _of(self, table: str) -> list[WheelOutput]:
        pairs = zip(self.settings.outputs, self.outputs, strict=True)
        return [output for settings, output in pairs if settings.table == table]

    def _on_message(self, table: str, leaf: str, body: bytes) -> None:
        result = self._live.on_event(table, body) if leaf == "event" else None
        if result is None:
            return
        if not shows_on_roulette(result):
            structlog.get_logger().warning(
                "not a roulette's number: not sent", table=table, family=result.family
            )
        for output in self._of(table):
            output.on_result(result)

    def _on_motion(self, table: str, simulated: bool, body: bytes) -> None:
        motion = read_motion(table, body)
        if motion is not None and self.floor.known[table].simulated == simulated:
            for output in self._of(table):
                output.on_motion(motion)

    async def run(self, stop: asyncio.Event) -> None:
        """Run until ``stop`` is set."""
        settings = self.settings
        await run_together(
            receivers(self.floor, settings.site, settings.broker, self._on_motion),
            (
                (f"output at {one.port}", output.show(stop))
                for one, output in zip(settings.outputs, self.outputs, strict=True)
            ),
            stop,
        )


async def _run(settings: OutputProgramSettings) -> None:
    stop = asyncio.Event()
    end_at_signal(stop.set)
    with ending_process():
        await OutputProgram(settings).run(stop)


def main(argv: list[str] | None = None) -> int:
    """Run until a signal. Return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m subscribers.output", description=__doc__)
    parser.add_argument("--settings", required=True, metavar="JSON", help="by novamas output")
    settings = msgspec.json.decode(parser.parse_args(argv).settings, type=OutputProgramSettings)
    log_lines("json")
    asyncio.run(_run(settings))
    return 0


if __name__ == "__main__":
    end_process(main())
