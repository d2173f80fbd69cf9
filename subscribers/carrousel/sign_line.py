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
from typing import Literal

import msgspec
import serial

from common import clock
from common.command_line import end_process
from common.contract.topics import Topics
from common.line import LINE_ERRORS, is_pty, set_frame, settings_not_applied
from common.log import structlog
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
from subscribers.essential import end_at_signal, ending_process, essential
from subscribers.feed.meter import Meter, on_state
from subscribers.feed.tables import BrokerLogin, ConnectionChange, table_feed
from subscribers.service_log import log_lines

UPDATE_INTERVAL_SECONDS = 1.0
"""Minimum time between two updates of a sign."""
REFRESH_INTERVAL_UPDATES = 10
"""Number of updates after which the value is written again."""
RESET_DELAY_SECONDS = 2.0
"""Time for which a sign ignores data after its files were deleted."""
PACKET_INTERVAL_SECONDS = 0.1
"""Time between two packets."""
PORT_TIMEOUT_SECONDS = 5.0
"""Write timeout of a port, and delay before it is opened again."""


class SignSettings(msgspec.Struct, frozen=True, kw_only=True):
    """One sign."""

    port: str
    """Device file: ``/dev/serial/by-id/...``."""
    jackpot: str
    language: str = "es"
    baud: int = 9600
    format: Literal["7E1", "7E2", "8N1"] = "7E1"
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
        self._logged_reason = ""  # why the port cannot be used

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
        log = structlog.get_logger().bind(sign=self._settings.port)
        while not stop.is_set():
            try:
                await self._show(stop)
            except LINE_ERRORS as error:
                if self._logged_reason != (reason := str(error)):
                    log.warning("the sign's port cannot be used; it is tried again", reason=reason)
                self._logged_reason = reason
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(PORT_TIMEOUT_SECONDS):
                        await stop.wait()

    async def _show(self, stop: asyncio.Event) -> None:
        port = await asyncio.to_thread(_open_port, self._settings)
        try:
            await _write(port, (clear_packet(),))
            await clock.sleep(RESET_DELAY_SECONDS)
            await _write(port, (configure_packet(),))
            self._logged_reason = ""
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
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(UPDATE_INTERVAL_SECONDS):
                        await stop.wait()
            await _write(port, (value_packet(BLANK_VALUE), hit_packet(None)))
        except LINE_ERRORS:
            with contextlib.suppress(*LINE_ERRORS):
                # otherwise closing waits until the port has sent its buffer
                await asyncio.to_thread(port.reset_output_buffer)
            raise
        finally:
            await asyncio.to_thread(port.close)

    def _shown(self) -> SignContent:
        return sign_content(self._meter, self._no_broker, _now(), self._settings.language)


def _open_port(settings: SignSettings) -> serial.Serial:
    """Open the port of a sign. Raises one of :data:`LINE_ERRORS`, also if it does not support the
    settings.
    """
    port = serial.Serial(
        settings.port, settings.baud, write_timeout=PORT_TIMEOUT_SECONDS, exclusive=True
    )
    try:
        fd = port.fileno()
        bits, parity, stop = int(settings.format[0]), settings.format[1], settings.format[2]
        unsupported = (
            *set_frame(fd, bits, "E" if parity == "E" else "N", stop, mark=False),
            *settings_not_applied(fd, baud=settings.baud, rtscts=False, lines={}),
        )
        if unsupported and not is_pty(fd):
            raise ValueError(
                f"the port does not support {', '.join(unsupported)}; use another adapter"
            )
    except LINE_ERRORS:
        port.close()
        raise
    return port


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
    listening = [
        asyncio.create_task(
            essential(f"feed of {port}", line.listen(settings.site, settings.broker))
        )
        for port, line in lines
    ]
    showing = [
        asyncio.create_task(essential(f"sign at {port}", line.show(stop), stop))
        for port, line in lines
    ]
    with ending_process():
        await asyncio.wait((*listening, *showing), return_when=asyncio.FIRST_COMPLETED)
        stop.set()  # if one ends, all end: a sign keeps showing what was written last
        await asyncio.wait(showing)
        for task in listening:
            task.cancel()
        for ended in await asyncio.gather(*listening, *showing, return_exceptions=True):
            if isinstance(ended, Exception):
                raise ended


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
