"""``serial://``: a serial port of this machine, built in or on a USB adapter.

pyserial opens the port and sets its speed. Bytes are read and written directly on the descriptor,
which distinguishes an unplugged adapter from a silent port at once and needs no reconfiguration
between reads.
"""

from __future__ import annotations

import errno
import fcntl
import os
import termios
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Literal, NoReturn, TypeVar

import msgspec
import serial
from serial.tools.list_ports_linux import SysFS

from common.line import LINE_ERRORS, Parity, is_pty, set_frame, settings_not_applied
from devices.links.descriptor import DescriptorLink
from devices.links.holders import in_use_reason, other_holders
from devices.links.link import Address, Link, LinkFailedError, WriteTimedOutError, parse_options
from devices.links.marks import ParityMarkDecoder
from devices.links.networks import network_card_behind_port
from devices.links.takers import describe_suspects

BY_ID = Path("/dev/serial/by-id")
SYSFS = Path("/sys")
PORT_GONE = "the port is gone: it was unplugged, or its adapter was reset"


class LineSettings(msgspec.Struct, frozen=True):
    """Line settings in an address. ``dtr`` and ``rts``: None leaves them as the system sets
    them.
    """

    baud: Annotated[int, msgspec.Meta(ge=1, le=100_000_000, description="1 to 100000000")] = 9600
    bytesize: Literal[5, 6, 7, 8] = 8
    parity: Parity = "N"
    stopbits: Literal["1", "1.5", "2"] = "1"
    rtscts: bool = False
    dtr: Literal["on", "off"] | None = None
    rts: Literal["on", "off"] | None = None


class PortSettings(LineSettings, frozen=True):
    """Settings of a local port. ``network``: whether to refuse an adapter that contains a network
    card.
    """

    network: Literal["refuse", "allow"] = "refuse"


class _SerialWithoutRts(serial.Serial):
    """A port that leaves RTS alone; pyserial would assert it on opening."""

    def _update_rts_state(self) -> None:
        pass


def check(address: Address) -> None:
    """Raise ``ValueError`` if the address is invalid."""
    if address.host or not address.path.strip("/"):
        raise ValueError(
            "give the path of the port, with three slashes: serial:///dev/serial/by-id/..."
        )
    line_settings(address, PortSettings)


SettingsType = TypeVar("SettingsType", bound=LineSettings)


def line_settings(address: Address, kind: type[SettingsType]) -> SettingsType:
    """Parse the line settings of an address, local or at a device server. Raises ``ValueError``."""
    settings = parse_options(address, kind)
    if settings.rtscts and settings.rts is not None:
        raise ValueError(f"rts={settings.rts}: remove it; with rtscts=1 the port itself drives RTS")
    return settings


def connect(address: Address) -> Link:
    """Open the port exclusively. Raises :class:`LinkFailedError`."""
    settings = line_settings(address, PortSettings)
    if settings.network == "refuse":
        refuse_network_card(address.path)
    return SerialLink(address.path, settings)


def refuse_network_card(path: str) -> None:
    """Raise :class:`LinkFailedError` for a port of a USB device that contains a network card."""
    if found := network_card_behind_port(path, SYSFS):
        raise LinkFailedError(
            f"{path}: refused: the USB device also contains a network card ({found}); "
            "turn the card off in the device or use another device; network=allow "
            "accepts it"
        )


def apply_settings(port: serial.SerialBase, settings: LineSettings) -> None:
    """Apply the settings to a port that is not open yet. ``dsrdtr`` only makes pyserial leave DTR
    alone.
    """
    port.baudrate = settings.baud
    port.bytesize = settings.bytesize
    port.parity = settings.parity
    port.stopbits = float(settings.stopbits)
    port.rtscts = settings.rtscts
    port.dsrdtr = settings.dtr is None
    port.dtr = settings.dtr == "on"
    port.rts = settings.rts == "on"


class SerialLink(DescriptorLink):
    """An open port, locked in two ways: ``flock``, which programs respect that use pyserial's lock,
    and ``TIOCEXCL``, which keeps out every later program except root's. Neither affects a program
    that had the port open before; the caller looks for such programs.
    """

    def __init__(self, path: str, settings: LineSettings) -> None:
        self._path = path
        self._port = serial.Serial() if settings.rts is not None else _SerialWithoutRts()
        # settings that the port may not support are applied below, where a failure can be described
        plain = msgspec.structs.replace(settings, bytesize=8, parity="N", stopbits="1")
        apply_settings(self._port, plain)
        self._port.port = path
        self._port.exclusive = True
        self._port.timeout = 0
        try:
            self._port.open()
            self._apply_format(settings)
        except LINE_ERRORS as error:
            self._fail(_open_failure(path, error), error)
        super().__init__(self._port.fileno())
        with suppress(*LINE_ERRORS):
            if not is_pty(self._fd):
                fcntl.ioctl(self._fd, termios.TIOCEXCL)
        with suppress(*LINE_ERRORS):
            # optional: not every adapter supports it
            self._port.set_low_latency_mode(True)
        self._facts = {"port": os.path.realpath(path), **adapter_facts(path)}
        self._mark_decoder = None if settings.parity == "N" else ParityMarkDecoder()

    def read_ready(self) -> bytes:
        """See :class:`devices.links.descriptor.DescriptorLink`. With a parity, bytes may be
        :class:`common.readings.DamagedBytes`.
        """
        data = super().read_ready()
        return data if self._mark_decoder is None else self._mark_decoder.decode(data)

    def _apply_format(self, settings: LineSettings) -> None:
        """Set the character format; raise if the port does not support all settings."""
        fd = self._port.fileno()
        lines = {"dtr": settings.dtr, "rts": settings.rts}
        wrong = (
            *set_frame(fd, settings.bytesize, settings.parity, settings.stopbits),
            *settings_not_applied(fd, baud=settings.baud, rtscts=settings.rtscts, lines=lines),
        )
        if wrong:
            self._fail(
                f"{self._path}: the port cannot do {', '.join(wrong)}; use an adapter that can, or "
                "remove it from the address if the device works without it"
            )

    def _fail(self, reason: str, error: Exception | None = None) -> NoReturn:
        self._release()
        raise LinkFailedError(reason) from error

    def _release(self) -> None:
        with suppress(*LINE_ERRORS):
            fcntl.ioctl(self._port.fileno(), termios.TIOCNXCL)
        with suppress(*LINE_ERRORS):
            # unsent data must not delay closing a dead port
            termios.tcflush(self._port.fileno(), termios.TCOFLUSH)
        with suppress(*LINE_ERRORS):
            self._port.close()

    def close(self) -> None:
        """See :class:`devices.links.link.Link`."""
        self._release()

    def describe(self) -> dict[str, str]:
        """See :class:`devices.links.link.Link`."""
        return dict(self._facts)

    def timed_out(self) -> LinkFailedError:
        """See :class:`devices.links.descriptor.DescriptorLink`."""
        with suppress(*LINE_ERRORS):
            termios.tcflush(self._fd, termios.TCOFLUSH)
        return WriteTimedOutError(f"{self._path}: the device accepts no data; check flow control")

    def unreadable(self, error: OSError | None) -> LinkFailedError:
        """See :class:`devices.links.descriptor.DescriptorLink`. An empty read from a port that has
        not hung up means that another program has read the bytes.
        """
        if error is None and not self.hung_up():
            return LinkFailedError(
                f"{self._path}: received bytes were gone before they were read: another program "
                "may read the port too; `novamas devices` shows which"
            )
        return LinkFailedError(
            f"{self._path}: {PORT_GONE}" + (f" ({error.strerror})" if error is not None else "")
        )

    def unwritable(self, error: OSError) -> LinkFailedError:
        """See :class:`devices.links.descriptor.DescriptorLink`."""
        return self.unreadable(error)


def adapter_facts(path: str) -> dict[str, str]:
    """Return the system's facts about the adapter of a port, as in
    :meth:`devices.links.link.Link.describe`; empty if unknown.
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


def _open_failure(path: str, error: Exception) -> str:
    """Describe the failure for people, and what to do if known."""
    number = next((part for part in error.args if isinstance(part, int)), None)
    if number == errno.ENOENT:
        present = sorted(str(entry) for entry in BY_ID.iterdir()) if BY_ID.is_dir() else []
        return (
            f"{path}: no such port; "
            + (
                f"ports found: {', '.join(present)}"
                if present
                else f"{BY_ID} is empty; is the adapter plugged in?"
            )
            + f"; {describe_suspects()}"
        )
    if number in {errno.EBUSY, errno.EAGAIN, errno.EWOULDBLOCK}:
        return in_use_reason(path, other_holders(path)[path])
    if number == errno.EACCES:
        return (
            f"{path}: no permission to open the port; add the service's user to the "
            "port's group (often dialout)"
        )
    if number in {errno.ENXIO, errno.ENODEV, errno.EIO}:
        return f"{path}: {PORT_GONE}"
    return f"{path}: {error}"
