"""A relay at a modem line of a serial port: RTS or DTR."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import serial

from subscribers.lights.settings import LightSettings
from subscribers.line_port import SERVER_SCHEMES, keep_port_open, wait

CHECK_INTERVAL_SECONDS = 0.05
"""Interval for checking whether the relay is on."""


class Relay:
    """One relay. ``is_on``: whether it is to be on now."""

    def __init__(self, settings: LightSettings, is_on: Callable[[], bool]) -> None:
        self._address, self._line = settings.address or "", settings.line
        self._is_on = is_on

    async def show(self, stop: asyncio.Event) -> None:
        """Switch the relay until ``stop`` is set; then switch it off."""
        await keep_port_open(
            self._address, self._open, lambda port: self._switch_until(port, stop), stop
        )

    def _open(self) -> serial.Serial:
        """Open the port with both lines off. Linux raises them for a moment all the same."""
        written = self._address
        for scheme, url in SERVER_SCHEMES.items():
            if written.startswith(scheme):
                written = url + written.removeprefix(scheme)
        port = serial.serial_for_url(written, do_not_open=True)
        port.rts = port.dtr = False
        if written == self._address:
            port.exclusive = True
        port.open()
        return port

    async def _switch_until(self, port: serial.Serial, stop: asyncio.Event) -> None:
        switched = False
        while not stop.is_set():
            wanted = self._is_on()
            if wanted != switched:
                await asyncio.to_thread(self._switch, port, wanted)
                switched = wanted
            await wait(stop, CHECK_INTERVAL_SECONDS)
        await asyncio.to_thread(self._switch, port, False)

    def _switch(self, port: serial.Serial, on: bool) -> None:
        if self._line == "rts":
            port.rts = on
        else:
            port.dtr = on
