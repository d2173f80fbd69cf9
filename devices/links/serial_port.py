"""``serial://``: a serial port of this machine, built in or behind a USB adapter.

pyserial configures the port. Bytes are read and written directly on the descriptor, which
distinguishes an unplugged adapter from a silent port at once and needs no reconfiguration between
reads.
"""

from __future__ import annotations

import errno
import fcntl
import os
import termios
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Literal, TypeVar

import msgspec
import serial
from serial.tools.list_ports_linux import SysFS

from devices.links.descriptor import DescriptorLink
from devices.links.link import Address, Link, LinkFailedError, WriteTimedOutError, options
from devices.links.networks import behind_port
from devices.links.takers import suspects

BY_ID = Path("/dev/serial/by-id")
SYSTEM = Path("/sys")
PSEUDO_TERMINALS = range(136, 144)
"""Major numbers (Linux, Documentation/admin-guide/devices.txt)."""

GONE = "the port is gone: it was unplugged, or its adapter was reset"


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
    """Settings of a local port. ``network``: whether to refuse an adapter that contains a network
    card.
    """

    network: Literal["refuse", "allow"] = "refuse"


class _RtsAlone(serial.Serial):
    """A port whose RTS is left alone; pyserial would assert it on opening."""

    def _update_rts_state(self) -> None:
        pass


def check(address: Address) -> None:
    """Raises ``ValueError`` if the address is invalid."""
    if address.host or not address.path.strip("/"):
        raise ValueError(
            "give the path of the port, with three slashes: serial:///dev/serial/by-id/..."
        )
    settings_of(address, PortSettings)


SettingsOf = TypeVar("SettingsOf", bound=Settings)


def settings_of(address: Address, kind: type[SettingsOf]) -> SettingsOf:
    """The line settings of a serial address, local or at a device server. Raises ``ValueError``."""
    settings = options(address, kind)
    if settings.rtscts and settings.rts is not None:
        raise ValueError(f"rts={settings.rts}: remove it; with rtscts=1 the port itself drives RTS")
    return settings


def connect(address: Address) -> Link:
    """Open the port exclusively. Raises :class:`LinkFailedError`."""
    settings = settings_of(address, PortSettings)
    if settings.network == "refuse":
        refuse_networks(address.path)
    return SerialLink(address.path, settings)


def refuse_networks(path: str) -> None:
    """Raises :class:`LinkFailedError` for a port of a USB device that contains a network card."""
    if found := behind_port(path, SYSTEM):
        raise LinkFailedError(
            f"{path}: refused: the USB device also contains a network card ({found}); "
            "turn the card off in the device or use another device; network=allow "
            "accepts it"
        )


def prepare(port: serial.SerialBase, settings: Settings) -> None:
    """Apply the settings to a port that is still closed. With ``dsrdtr`` pyserial leaves DTR alone;
    it has no other effect.
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
    """Whether this is a pseudo-terminal. Unlike a real port, it keeps ``TIOCEXCL`` forever if the
    program that set it is killed.
    """
    return os.major(os.fstat(fd).st_rdev) in PSEUDO_TERMINALS


class SerialLink(DescriptorLink):
    """An open port, locked in two ways: ``flock``, which programs using pyserial respect, and
    ``TIOCEXCL``, which stops all others.
    """

    def __init__(self, path: str, settings: Settings) -> None:
        self._path = path
        self._port = serial.Serial() if settings.rts is not None else _RtsAlone()
        prepare(self._port, settings)
        self._port.port = path
        self._port.exclusive = True
        self._port.timeout = 0
        try:
            self._port.open()
        except (serial.SerialException, termios.error, OSError, ValueError) as error:
            raise LinkFailedError(_why_not_opened(path, error)) from error
        super().__init__(self._port.fileno())
        if not pseudo(self._fd):
            with suppress(OSError):
                fcntl.ioctl(self._fd, termios.TIOCEXCL)
        with suppress(OSError, ValueError, NotImplementedError):
            # works also with an adapter that lacks this setting
            self._port.set_low_latency_mode(True)
        self._facts = {"port": os.path.realpath(path), **adapter(path)}

    def close(self) -> None:
        """See :class:`devices.links.link.Link`."""
        with suppress(OSError, termios.error):
            fcntl.ioctl(self._fd, termios.TIOCNXCL)
        with suppress(OSError, termios.error):
            # data waiting to be sent must not delay closing a dead port
            termios.tcflush(self._fd, termios.TCOFLUSH)
        with suppress(serial.SerialException, OSError):
            self._port.close()

    def describe(self) -> dict[str, str]:
        """See :class:`devices.links.link.Link`."""
        return dict(self._facts)

    def timed_out(self) -> LinkFailedError:
        """See :class:`devices.links.descriptor.DescriptorLink`."""
        with suppress(OSError, termios.error):
            termios.tcflush(self._fd, termios.TCOFLUSH)
        return WriteTimedOutError(f"{self._path}: the device accepts no data; check flow control")

    def unreadable(self, error: OSError | None) -> LinkFailedError:
        """See :class:`devices.links.descriptor.DescriptorLink`."""
        return LinkFailedError(
            f"{self._path}: {GONE}" + (f" ({error.strerror})" if error is not None else "")
        )

    def unwritable(self, error: OSError) -> LinkFailedError:
        """See :class:`devices.links.descriptor.DescriptorLink`."""
        return self.unreadable(error)


def adapter(path: str) -> dict[str, str]:
    """What the system knows of the adapter behind a port, as in
    :meth:`devices.links.link.Link.describe`; empty if nothing.
    """
    try:
        port = SysFS(path)
    except (OSError, TypeError, ValueError):  # unplugged meanwhile
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
    """The reason for people, with what to do if we know."""
    number = error.errno if isinstance(error, OSError) else None
    if number == errno.ENOENT:
        there = sorted(str(entry) for entry in BY_ID.iterdir()) if BY_ID.is_dir() else []
        return (
            f"{path}: no such port; "
            + (
                f"ports found: {', '.join(there)}"
                if there
                else f"{BY_ID} is empty; is the adapter plugged in?"
            )
            + f"; {suspects()}"
        )
    if number in {errno.EBUSY, errno.EAGAIN, errno.EWOULDBLOCK}:
        return f"{path}: another program has the port open; `novamas devices` shows which"
    if number == errno.EACCES:
        return (
            f"{path}: no permission to open the port; add the service's user to the "
            "port's group (often dialout)"
        )
    if number in {errno.ENXIO, errno.ENODEV, errno.EIO}:
        return f"{path}: {GONE}"
    return f"{path}: {error}"
