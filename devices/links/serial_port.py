"""``serial://``: a serial port of this machine, real or behind a USB adapter.

pyserial sets the port up; bytes are read here, straight from the descriptor, because that tells an
unplugged adapter from a port without data at once and needs no setting of the port between two
reads.
"""

from __future__ import annotations

import errno
import fcntl
import os
import select
import termios
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Literal, TypeVar

import msgspec
import serial
from serial.tools.list_ports_linux import SysFS

from devices.links.link import (
    WRITE_TIMEOUT,
    Address,
    Link,
    LinkFailedError,
    WriteTimedOutError,
    options,
)
from devices.links.networks import behind_port

BY_ID = Path("/dev/serial/by-id")
SYSTEM = Path("/sys")
CHUNK = 4096
PSEUDO_TERMINALS = range(136, 144)
"""Major numbers (Linux, Documentation/admin-guide/devices.txt)."""

GONE = "the port is gone: unplugged, or its adapter was reset"


class Settings(msgspec.Struct, frozen=True):
    """The line settings of an address. ``dtr`` and ``rts``: None leaves the line as the system sets
    it.
    """

    baud: Annotated[int, msgspec.Meta(ge=1, le=100_000_000, description="1 to 100000000")] = 9600
    bytesize: Literal[5, 6, 7, 8] = 8
    parity: Literal["N", "E", "O", "M", "S"] = "N"
    stopbits: Literal["1", "1.5", "2"] = "1"
    rtscts: bool = False
    dtr: Literal["on", "off"] | None = None
    rts: Literal["on", "off"] | None = None


class PortSettings(Settings, frozen=True):
    """Those of a port of this machine. ``network``: whether an adapter with a network card in it is
    refused.
    """

    network: Literal["refuse", "allow"] = "refuse"


class _RtsAlone(serial.Serial):
    """A port whose RTS is not touched: pyserial would assert it on opening."""

    def _update_rts_state(self) -> None:
        pass


def check(address: Address) -> None:
    """Raises ``ValueError`` when the address cannot be right."""
    if address.host or not address.path.strip("/"):
        raise ValueError(
            "a port is named by its path, with three slashes: serial:///dev/serial/by-id/..."
        )
    settings_of(address, PortSettings)


SettingsOf = TypeVar("SettingsOf", bound=Settings)


def settings_of(address: Address, kind: type[SettingsOf]) -> SettingsOf:
    """The line settings of an address of a port, here or at a device server. Raises
    ``ValueError``.
    """
    settings = options(address, kind)
    if settings.rtscts and settings.rts is not None:
        raise ValueError(f"rts={settings.rts}: with rtscts=1 the port itself drives RTS")
    return settings


def connect(address: Address) -> Link:
    """Open the port, for us alone. Raises :class:`LinkFailedError`."""
    settings = settings_of(address, PortSettings)
    if settings.network == "refuse":
        refuse_networks(address.path)
    return SerialLink(address.path, settings)


def refuse_networks(path: str) -> None:
    """Raises :class:`LinkFailedError` for a port of a USB device that brings a network
    card along.
    """
    if found := behind_port(path, SYSTEM):
        raise LinkFailedError(
            f"{path}: refused: the device behind the port brings a network card along ({found}); "
            "turn that off in the device, or use another; network=allow takes it all the same"
        )


def prepare(port: serial.SerialBase, settings: Settings) -> None:
    """Put the settings on a port that is still closed. With ``dsrdtr`` pyserial leaves DTR alone,
    and does no more by it.
    """
    port.baudrate = settings.baud
    port.bytesize = settings.bytesize
    port.parity = settings.parity
    port.stopbits = float(settings.stopbits)
    port.rtscts = settings.rtscts
    port.dsrdtr = settings.dtr is None
    port.dtr = settings.dtr == "on"
    port.rts = settings.rts == "on"


def pseudo(fd: int) -> bool:
    """Whether this is a pseudo-terminal. Unlike a port, it keeps ``TIOCEXCL`` when a program that
    set it is killed, for ever.
    """
    return os.major(os.fstat(fd).st_rdev) in PSEUDO_TERMINALS


class SerialLink:
    """An open port. Locked two ways: by ``flock``, which pyserial's users see, and by ``TIOCEXCL``,
    which all others do.
    """

    def __init__(self, path: str, settings: Settings) -> None:
        self._path = path
        self._port = serial.Serial() if settings.rts is not None else _RtsAlone()
        prepare(self._port, settings)
        self._port.port = path
        self._port.exclusive = True
        self._port.timeout = 0
        self._port.write_timeout = WRITE_TIMEOUT
        try:
            self._port.open()
        except (serial.SerialException, termios.error, OSError, ValueError) as error:
            raise LinkFailedError(_why_not_opened(path, error)) from error
        self._fd: int = self._port.fileno()
        if not pseudo(self._fd):
            with suppress(OSError):
                fcntl.ioctl(self._fd, termios.TIOCEXCL)
        with suppress(
            OSError, ValueError, NotImplementedError
        ):  # an adapter without that setting is as good
            self._port.set_low_latency_mode(True)
        self._poll = select.poll()
        self._poll.register(self._fd, select.POLLIN)
        self._facts = {"port": os.path.realpath(path), **adapter(path)}

    def read(self, timeout: float) -> bytes:
        """See :class:`devices.links.link.Link`."""
        try:
            if not self._poll.poll(timeout * 1000):
                return b""
            data = os.read(self._fd, CHUNK)
        except BlockingIOError:
            return b""
        except OSError as error:
            raise LinkFailedError(f"{self._path}: {GONE} ({error.strerror})") from error
        if not data:  # ready to be read, and nothing there: the sign of a hang-up
            raise LinkFailedError(f"{self._path}: {GONE}")
        return data

    def write(self, data: bytes) -> None:
        """See :class:`devices.links.link.Link`."""
        try:
            self._port.write(data)
        except serial.SerialTimeoutException as error:
            with suppress(serial.SerialException, OSError, termios.error):
                # half a command must not go out before the next one
                self._port.reset_output_buffer()
            raise WriteTimedOutError(
                f"{self._path}: nothing takes what is written; is flow control on?"
            ) from error
        except (serial.SerialException, OSError, termios.error) as error:
            raise LinkFailedError(f"{self._path}: {GONE} ({error})") from error

    def close(self) -> None:
        """See :class:`devices.links.link.Link`."""
        with suppress(OSError, termios.error):
            fcntl.ioctl(self._fd, termios.TIOCNXCL)
        with suppress(
            OSError, termios.error
        ):  # what waits to be sent must not hold the closing of a dead port
            termios.tcflush(self._fd, termios.TCOFLUSH)
        with suppress(serial.SerialException, OSError):
            self._port.close()

    def describe(self) -> dict[str, str]:
        """See :class:`devices.links.link.Link`."""
        return dict(self._facts)


def adapter(path: str) -> dict[str, str]:
    """What the system knows of the adapter behind a port, as in
    :meth:`devices.links.link.Link.describe`; empty: nothing.
    """
    try:
        port = SysFS(path)
    except (OSError, TypeError, ValueError):  # it went away while it was looked at
        return {}
    facts = {
        "usb": f"{port.vid:04x}:{port.pid:04x}"
        if port.vid is not None and port.pid is not None
        else None,
        "serial_number": port.serial_number,
        "manufacturer": port.manufacturer,
        "product": port.product,
        "location": port.location,
    }
    driver = Path("/sys/class/tty", Path(path).resolve().name, "device", "driver")
    if driver.exists():
        facts["driver"] = driver.resolve().name
    return {key: value for key, value in facts.items() if value}


def _why_not_opened(path: str, error: Exception) -> str:
    """A reason for people, with what to do about it where we know."""
    number = error.errno if isinstance(error, OSError) else None
    if number == errno.ENOENT:
        there = sorted(str(entry) for entry in BY_ID.iterdir()) if BY_ID.is_dir() else []
        return f"{path}: no such port; " + (
            f"there are: {', '.join(there)}" if there else f"nothing is in {BY_ID}"
        )
    if number in {errno.EBUSY, errno.EAGAIN, errno.EWOULDBLOCK}:
        return f"{path}: another program holds the port"
    if number == errno.EACCES:
        return (
            f"{path}: no permission to open the port; its group (often dialout) must be one of ours"
        )
    if number in {errno.ENXIO, errno.ENODEV, errno.EIO}:
        return f"{path}: {GONE}"
    return f"{path}: {error}"
