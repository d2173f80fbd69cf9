"""Ports that a service writes to: serial ports of this machine, and those of device servers."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Literal

import serial

from common import clock
from common.line import LINE_ERRORS, is_pty, set_frame, settings_not_applied
from common.log import structlog

PORT_TIMEOUT_SECONDS = 5.0
"""Write timeout of a port, and delay before it is opened again."""

FrameFormat = Literal["7E1", "7E2", "8N1"]
"""Data bits, parity and stop bits."""
OpenPort = Callable[[], serial.Serial]
SERVER_SCHEMES: Mapping[str, str] = {"tcp://": "socket://", "rfc2217://": "rfc2217://"}
"""Beginnings of addresses of device servers, as a configuration and as pyserial write them."""


def open_local_port(path: str, baud: int, frame: FrameFormat) -> serial.Serial:
    """Open a serial port of this machine. Raises one of ``LINE_ERRORS``, also if it does not
    support the settings.
    """
    port = serial.Serial(path, baud, write_timeout=PORT_TIMEOUT_SECONDS, exclusive=True)
    try:
        fd = port.fileno()
        bits, parity, stop = int(frame[0]), frame[1], frame[2]
        unsupported = (
            *set_frame(fd, bits, "E" if parity == "E" else "N", stop, mark=False),
            *settings_not_applied(fd, baud=baud, rtscts=False, lines={}),
        )
        if unsupported and not is_pty(fd):
            raise ValueError(
                f"the port does not support {', '.join(unsupported)}; use another adapter"
            )
    except LINE_ERRORS:
        port.close()
        raise
    return port


def open_port(address: str, baud: int, frame: FrameFormat = "8N1") -> serial.Serial:
    """Open a serial port of this machine by its path, or ``tcp://host:port`` of a device server.
    Raises one of ``LINE_ERRORS``.
    """
    for scheme, written in SERVER_SCHEMES.items():
        if address.startswith(scheme):
            where = written + address.removeprefix(scheme)
            # pyserial has no write timeout with RFC 2217
            timeout = PORT_TIMEOUT_SECONDS if scheme == "tcp://" else None
            return serial.serial_for_url(where, baud, write_timeout=timeout)
    return open_local_port(address, baud, frame)


async def keep_port_open(
    name: str,
    open_one: OpenPort,
    use: Callable[[serial.Serial], Awaitable[None]],
    stop: asyncio.Event,
) -> None:
    """Open a port and ``use`` it, again after each failure, until ``stop`` is set. A reason that
    lasts is logged once.
    """
    logged_reason = ""
    while not stop.is_set():
        tried_at = clock.monotonic()
        try:
            port = await asyncio.to_thread(open_one)
            try:
                await use(port)
            except LINE_ERRORS:
                with contextlib.suppress(*LINE_ERRORS):
                    # otherwise closing waits until the port has sent its buffer
                    await asyncio.to_thread(port.reset_output_buffer)
                raise
            finally:
                await asyncio.to_thread(port.close)
        except LINE_ERRORS as error:
            if clock.monotonic() - tried_at > PORT_TIMEOUT_SECONDS:  # it worked meanwhile
                logged_reason = ""
            if logged_reason != (reason := str(error)):
                structlog.get_logger().warning(
                    "the port cannot be used; it is tried again", port=name, reason=reason
                )
            logged_reason = reason
            await wait(stop, PORT_TIMEOUT_SECONDS)


async def wait(stop: asyncio.Event, seconds: float) -> None:
    """Wait for ``seconds``, or until ``stop`` is set."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await stop.wait()
