"""``python -m subscribers.carrousel.sign_line --settings JSON``: LED signs that show the meter of a
jackpot, each at a serial port. ``novamas sign`` starts it with the settings from a configuration.

A sign sends no replies and its own clock is not used. It is written at most once a second; the
value is written again every :data:`REFRESH_INTERVAL_UPDATES` seconds, in case a byte was lost.
While this program runs, an expired value is replaced by two dashes within a second.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
from collections.abc import Sequence

import msgspec
import serial

from common import clock
from common.command_line import end_process
from common.contract.topics import Topics
from subscribers.carrousel.sign import (
    BLANK_VALUE,
    SignContent,
    clear_packet,
    configure_packet,
    hit_packet,
    sign_content,
    update_packets,
    value_packet,
)
from subscribers.essential import end_at_signal, ending_process, run_together
from subscribers.feed.meter import Meter, on_state
from subscribers.feed.tables import BrokerLogin, ConnectionChange, table_feed
from subscribers.line_port import FrameFormat, keep_port_open, open_local_port, wait
from subscribers.service_log import log_lines

UPDATE_INTERVAL_SECONDS = 1.0
"""Minimum time between two updates of a sign."""
REFRESH_INTERVAL_UPDATES = 10
"""Number of updates after which the value is written again."""
RESET_DELAY_SECONDS = 2.0
"""Time for which a sign ignores data after its files were deleted."""
PACKET_INTERVAL_SECONDS = 0.1
"""Time between two packets."""


class SignSettings(msgspec.Struct, frozen=True, kw_only=True):
    """One sign."""

    port: str
    """Device file: ``/dev/serial/by-id/...``."""
    jackpot: str
    language: str = "es"
    baud: int = 9600
    format: FrameFormat = "7E1"
    """Data bits, parity and stop bits."""
    simulated: bool = False
    """Whether the jackpot is one of simulated tables."""


class SignProgramSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All settings. They contain no secret."""

    site: str
    broker: BrokerLogin
    signs: tuple[SignSettings, ...]


class LedSign:
    """One sign at its port, and the jackpot that it shows."""

    def __init__(self, settings: SignSettings) -> None:
        self._settings = settings
        self._meter = Meter(jackpot=settings.jackpot, simulated=settings.simulated)
        self._no_broker: str | None = _now()

    async def listen(self, site: str, broker: BrokerLogin) -> None:
        """Receive the jackpot's state for as long as the program runs."""
        topics = Topics(site, self._settings.simulated)
        feed = table_feed(broker, topics, (), (self._settings.jackpot,))
        async with contextlib.aclosing(feed) as messages:
            async for message in messages:
                if isinstance(message, ConnectionChange):
                    self._no_broker = None if message.up else self._no_broker or _now()
                elif message.path == f"jackpot/{self._settings.jackpot}/state":
                    self._meter = on_state(self._meter, message.body, _now())

    async def show(self, stop: asyncio.Event) -> None:
        """Update the sign until ``stop`` is set; then blank its value."""
        settings = self._settings

        def open_one() -> serial.Serial:
            return open_local_port(settings.port, settings.baud, settings.format)

        await keep_port_open(settings.port, open_one, lambda port: self._show(port, stop), stop)

    async def _show(self, port: serial.Serial, stop: asyncio.Event) -> None:
        await _write(port, (clear_packet(),))
        await clock.sleep(RESET_DELAY_SECONDS)
        await _write(port, (configure_packet(),))
        before: SignContent | None = None
        checks = 0
        while not stop.is_set():
            after = self._shown()
            packets = [*update_packets(before, after)]
            checks += 1
            if not packets and checks % REFRESH_INTERVAL_UPDATES == 0:
                packets.append(value_packet(after.value))
            await _write(port, packets)
            before = after
            await wait(stop, UPDATE_INTERVAL_SECONDS)
        await _write(port, (value_packet(BLANK_VALUE), hit_packet(None)))

    def _shown(self) -> SignContent:
        return sign_content(self._meter, self._no_broker, _now(), self._settings.language)


async def _write(port: serial.Serial, packets: Sequence[bytes]) -> None:
    for packet in packets:
        await asyncio.to_thread(port.write, packet)
        await clock.sleep(PACKET_INTERVAL_SECONDS)


def _now() -> str:
    return clock.now().isoformat().replace("+00:00", "Z")


async def _run(settings: SignProgramSettings) -> None:
    stop = asyncio.Event()
    end_at_signal(stop.set)
    lines = [(sign.port, LedSign(sign)) for sign in settings.signs]
    site, broker = settings.site, settings.broker
    with ending_process():
        await run_together(
            ((f"feed of {port}", line.listen(site, broker)) for port, line in lines),
            ((f"sign at {port}", line.show(stop)) for port, line in lines),
            stop,
        )


def main(argv: list[str] | None = None) -> int:
    """Run until a signal. Return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m subscribers.carrousel.sign_line", description=__doc__
    )
    parser.add_argument("--settings", required=True, metavar="JSON", help="written by novamas sign")
    settings = msgspec.json.decode(parser.parse_args(argv).settings, type=SignProgramSettings)
    log_lines("json")
    asyncio.run(_run(settings))
    return 0


if __name__ == "__main__":
    end_process(main())
