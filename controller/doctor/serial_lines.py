"""Checks the serial ports of a configuration: whether they exist, may be opened, are read by only
one program, have a stable name, and deliver bytes without delay.
"""

from __future__ import annotations

import grp
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from controller.configuration.settings import Configuration
from controller.doctor.finding import Finding
from devices.links.holders import other_holders
from devices.links.link import parse_address

TTY_FOLDER = Path("/sys/class/tty")
MAX_LATENCY_MS = 1
"""Maximum milliseconds for which an FTDI adapter may hold bytes; its default is 16."""


def check(configuration: Configuration, system: Path = TTY_FOLDER) -> Iterator[Finding]:
    """Check each serial device of each table."""
    for table in configuration.table:
        for device in table.device:
            address = parse_address(device.link)
            if address.scheme != "serial":
                continue
            about = f"serial {table.id}/{device.id}"
            yield from _port(about, Path(address.path), system)


def _port(about: str, port: Path, system: Path) -> Iterator[Finding]:
    try:
        mode = port.stat()
    except OSError as error:
        yield Finding(
            "fault", about, f"{port}: {error.strerror}",
            "plug it in; `novamas devices` lists what is there and how to name it",
        )  # fmt: skip
        return
    if not stat.S_ISCHR(mode.st_mode):
        yield Finding("fault", about, f"{port} is not a serial port", "name the port in `link`")
        return
    if os.access(port, os.R_OK | os.W_OK):
        yield Finding("ok", about, f"{port} exists and may be opened")
    else:
        group = _group(mode.st_gid)
        yield Finding(
            "fault", about, f"{port} may not be opened by this user; it belongs to group {group}",
            f"run this as the daemon's user; if it fails there too, add that user to {group}",
        )  # fmt: skip
    yield from _readers(about, port)
    real = port.resolve()
    if port == real and real.name.startswith(("ttyUSB", "ttyACM")):
        yield Finding(
            "warning", about, f"{port}: the name changes with the order of plugging in",
            "use the name below /dev/serial/by-id that `novamas devices` prints",
        )  # fmt: skip
    yield from _latency(about, system / real.name / "device" / "latency_timer")


def _readers(about: str, port: Path) -> Iterator[Finding]:
    """Check which programs have a port open, as far as this user can see them."""
    readers = other_holders(str(port))[str(port)]
    shown = ", ".join(map(str, readers))
    if len(readers) == 1:
        yield Finding("ok", about, f"{port} is open in {shown} and, as far as visible, in no other")
    elif readers:
        yield Finding(
            "fault", about, f"{port} is open in several programs: {shown}",
            "end all but the daemon: each gets a part of what the device sends",
        )  # fmt: skip


def _latency(about: str, timer: Path) -> Iterator[Finding]:
    try:
        delay = int(timer.read_text())
    except (OSError, ValueError):  # an adapter without a latency timer
        return
    if delay <= MAX_LATENCY_MS:
        yield Finding("ok", about, f"the adapter holds bytes back for {delay} ms")
        return
    yield Finding(
        "warning", about, f"the adapter holds bytes back for {delay} ms",
        "let udev set it: ACTION==\"add\", SUBSYSTEM==\"usb-serial\", DRIVER==\"ftdi_sio\", "
        f'ATTR{{latency_timer}}="{MAX_LATENCY_MS}"',
    )  # fmt: skip


def _group(number: int) -> str:
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)
