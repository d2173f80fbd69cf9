"""The settings of a serial port are in force or named, and whatever a line raises ends that line
only.
"""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import struct
import termios
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import serial
import usb.core
from serial.tools.list_ports_linux import SysFS

from common import line
from common.line import LINE_ERRORS
from devices.links import (
    SCHEME_MODULES,
    LinkFailedError,
    networks,
    open_link,
    ports,
    serial_port,
    usb_devices,
)
from devices.links.link import Address, Link
from tests.devices.test_device import running
from tests.support.devices.parts import Pty
from tests.support.waiting import until_async

UART = Path("/dev/ttyS0")


@pytest.fixture
def pty(tmp_path: Path) -> Iterator[Pty]:
    port = Pty(tmp_path)
    yield port
    port.unplug()


@pytest.fixture
def as_real(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pseudo-terminal counts as a port with a line."""
    monkeypatch.setattr(line, "is_pty", lambda _: False)
    monkeypatch.setattr(serial_port, "is_pty", lambda _: False)


def flags(pty: Pty) -> list[Any]:
    fd = os.open(pty.path, os.O_RDWR | os.O_NOCTTY)
    try:
        return termios.tcgetattr(fd)
    finally:
        os.close(fd)


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("parity=E", "parity=E"),
        ("parity=O", "parity=O"),
        ("parity=M", "parity=M"),
        ("parity=S", "parity=S"),
        ("bytesize=7", "bytesize=7"),
        ("bytesize=5", "bytesize=5"),
        ("bytesize=7&parity=E&stopbits=2", "bytesize=7, parity=E"),
    ],
)
def test_what_a_port_cannot_do_is_refused_each_time_by_name(
    pty: Pty, query: str, named: str
) -> None:
    """A pseudo-terminal has eight bits and no parity."""
    for _ in range(3):
        with pytest.raises(LinkFailedError, match=f"the port cannot do {named};"):
            open_link(f"{pty.url}?{query}")
    open_link(pty.url).close()


def test_the_second_opening_is_like_the_first(pty: Pty) -> None:
    for query in ("", "?baud=4800&stopbits=2", "?rtscts=1", "?baud=74880"):
        for _ in range(3):
            open_link(pty.url + query).close()


@pytest.mark.usefixtures("as_real")
@pytest.mark.parametrize("parity", ["E", "O", "M", "S"])
def test_with_a_parity_damaged_bytes_are_looked_for(
    pty: Pty, parity: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the flags: a pseudo-terminal has no parity, so it is made to report one."""
    wanted: list[int] = []
    real_set, real_get = termios.tcsetattr, termios.tcgetattr

    def tcsetattr(fd: int, when: int, attributes: list[Any]) -> None:
        wanted[:] = [attributes[2]]
        real_set(fd, when, [*attributes[:2], attributes[2] & ~line._PARITY_FLAGS, *attributes[3:]])

    def tcgetattr(fd: int) -> list[Any]:
        found: list[Any] = real_get(fd)
        return [*found[:2], wanted[0] if wanted else found[2], *found[3:]]

    monkeypatch.setattr(termios, "tcsetattr", tcsetattr)
    monkeypatch.setattr(termios, "tcgetattr", tcgetattr)
    link = open_link(f"{pty.url}?parity={parity}")
    iflag = real_get(link.fileno())[0]  # type: ignore[attr-defined]
    assert iflag & termios.INPCK
    assert iflag & termios.PARMRK
    assert not iflag & (termios.IGNPAR | termios.ISTRIP | termios.IGNBRK | termios.BRKINT)
    assert wanted[0] & line._PARITY_FLAGS == line._PARITY_BITS[parity]  # type: ignore[index]
    link.close()


def test_what_another_program_left_behind_is_set_right(pty: Pty) -> None:
    """A byte with an error would be dropped, or everything at a break."""
    fd = os.open(pty.path, os.O_RDWR | os.O_NOCTTY)
    iflag, *rest = termios.tcgetattr(fd)
    left = termios.IGNPAR | termios.PARMRK | termios.INPCK | termios.BRKINT | termios.ISTRIP
    termios.tcsetattr(fd, termios.TCSANOW, [iflag | left, *rest])
    link = open_link(pty.url)
    assert not termios.tcgetattr(fd)[0] & left
    os.close(fd)
    link.close()


DROPPED = {
    "parity=M": line._CMSPAR,
    "parity=E": termios.PARENB,
    "parity=O": termios.PARODD,
    "bytesize=7": termios.CSIZE,
    "stopbits=2": termios.CSTOPB,
    "rtscts=1": termios.CRTSCTS,
}


@pytest.mark.usefixtures("as_real")
@pytest.mark.parametrize("setting", DROPPED)
def test_a_setting_that_a_driver_drops_is_found_by_reading_back(
    pty: Pty, setting: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Drivers of adapters do not say that they drop one."""
    real, wanted = termios.tcgetattr, list[list[Any]]()

    def tcsetattr(_fd: int, _when: int, attributes: list[Any]) -> None:
        attributes = list(attributes)
        attributes[2] &= ~DROPPED[setting]
        wanted[:] = [attributes]

    def tcgetattr(fd: int) -> list[Any]:
        found: list[Any] = real(fd)
        return list(wanted[0]) if wanted else found

    monkeypatch.setattr(termios, "tcsetattr", tcsetattr)
    monkeypatch.setattr(termios, "tcgetattr", tcgetattr)
    monkeypatch.setattr(line, "receive_speed", lambda _: 9600)
    with pytest.raises(LinkFailedError, match=f"the port cannot do {setting};"):
        open_link(f"{pty.url}?{setting}")


@pytest.mark.usefixtures("as_real")
@pytest.mark.parametrize(
    ("baud", "real", "refused"),
    [
        (9600, 9600, False),
        (9600, 9615, False),
        (115200, 117647, False),
        (250000, 115200, True),
        (9600, 0, True),
        (74880, 76800, False),
        (4800, 9600, True),
    ],
)
def test_the_speed_of_a_port_is_read_back(
    pty: Pty, baud: int, real: int, refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A driver that does not know a speed keeps another one."""
    monkeypatch.setattr(line, "receive_speed", lambda _: real)
    if not refused:
        open_link(f"{pty.url}?baud={baud}").close()
        return
    with pytest.raises(LinkFailedError, match=rf"cannot do baud={baud} \(it runs at {real}\);"):
        open_link(f"{pty.url}?baud={baud}")


@pytest.mark.usefixtures("as_real")
@pytest.mark.parametrize("setting", ["dtr=on", "dtr=off", "rts=on", "rts=off"])
def test_lines_that_a_port_does_not_have_are_named(pty: Pty, setting: str) -> None:
    with pytest.raises(LinkFailedError, match=f"the port cannot do {setting};"):
        open_link(f"{pty.url}?{setting}")


@pytest.mark.usefixtures("as_real")
def test_one_and_a_half_stop_bits_go_with_five_bits_only(pty: Pty) -> None:
    with pytest.raises(LinkFailedError, match=r"the port cannot do stopbits=1\.5;"):
        open_link(f"{pty.url}?stopbits=1.5")


def test_the_speed_of_any_port_can_be_read(pty: Pty) -> None:
    for baud in (9600, 115200, 250000, 74880):
        link = open_link(f"{pty.url}?baud={baud}")
        assert line.receive_speed(link.fileno()) == baud  # type: ignore[attr-defined]
        link.close()
    with Path("/dev/null").open("rb") as file:
        assert line.receive_speed(file.fileno()) is None


def test_a_real_port_has_the_configured_settings() -> None:
    """Where this machine has one: no other can show it."""
    for parity, bits, expected in (
        ("E", 8, termios.PARENB),
        ("O", 7, termios.PARENB | termios.PARODD),
        ("N", 8, 0),
    ):
        with suppress(LinkFailedError):
            link = open_link(f"serial://{UART}?baud=9600&parity={parity}&bytesize={bits}")
            iflag, _, cflag, *_ = termios.tcgetattr(link.fileno())  # type: ignore[attr-defined]
            link.close()
            assert cflag & (termios.PARENB | termios.PARODD) == expected
            assert bool(iflag & termios.INPCK) == (parity != "N")
            assert cflag & termios.CSIZE == line._SIZES[bits]


ERRORS: dict[str, Callable[[], Exception]] = {
    "EIO": lambda: OSError(errno.EIO, "Input/output error"),
    "ENODEV": lambda: OSError(errno.ENODEV, "No such device"),
    "termios": lambda: termios.error(errno.EIO, "Input/output error"),
    "settings": lambda: termios.error(errno.EINVAL, "Invalid argument"),
    "pyserial": lambda: serial.SerialException("Could not configure port: (5, 'EIO')"),
    "speed": lambda: ValueError("Failed to set custom baud rate"),
    "system": lambda: NotImplementedError("non-standard baudrates"),
    "usb": lambda: usb.core.USBError("No such device", -4, errno.ENODEV),
    "usb timeout": lambda: usb.core.USBTimeoutError("Operation timed out", -7, errno.ETIMEDOUT),
}
"""What lines raise."""


def test_every_error_of_a_line_is_handled() -> None:
    assert all(isinstance(make(), LINE_ERRORS) for make in ERRORS.values())


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("scheme", SCHEME_MODULES)
def test_any_error_of_an_opening_is_a_failed_link(
    scheme: str, error: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = {
        "serial": "serial:///dev/ttyS9",
        "usb": "usb://0c2e:0b61",
        "mqtt": "mqtt://127.0.0.1:1/x",
        "replay": "replay:///x.rec",
    }.get(scheme, f"{scheme}://127.0.0.1:1")

    def connect(_address: Address) -> Link:
        raise ERRORS[error]()

    monkeypatch.setattr(import_module(SCHEME_MODULES[scheme]), "connect", connect)
    with pytest.raises(LinkFailedError):
        open_link(url)


def descriptors() -> set[str]:
    """What this process has open."""
    return {entry.name for entry in Path("/proc/self/fd").iterdir()}


CALLS: dict[str, tuple[object, str]] = {
    "tcgetattr": (termios, "tcgetattr"),
    "tcsetattr": (termios, "tcsetattr"),
    "tcflush": (termios, "tcflush"),
    "ioctl": (fcntl, "ioctl"),
    "flock": (fcntl, "flock"),
    "pipe": (os, "pipe"),
    "facts": (SysFS, "__init__"),
    "network": (networks, "network_interfaces"),
}
"""System calls while a port is opened or closed."""


@pytest.mark.parametrize("error", ["EIO", "ENODEV", "termios", "settings", "speed"])
@pytest.mark.parametrize("call", CALLS)
def test_an_adapter_that_is_pulled_out_during_the_opening_is_a_failed_link(
    pty: Pty, call: str, error: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At each call in turn; nothing stays open, and the port can be opened afterwards."""
    # a real scan takes long
    monkeypatch.setattr(serial_port, "other_holders", lambda path: {path: ()})
    place, name = CALLS[call]
    real: Any = getattr(place, name)
    for wanted in range(10):
        count = -1

        def failing(*arguments: Any, wanted: int = wanted) -> Any:
            nonlocal count
            count += 1
            if count >= wanted:
                raise ERRORS[error]()
            return real(*arguments)

        before = descriptors()
        with monkeypatch.context() as patched:
            patched.setattr(place, name, failing)
            with suppress(LinkFailedError):
                open_link(f"{pty.url}?dtr=on").close()
        assert descriptors() == before
        open_link(pty.url).close()


@pytest.mark.parametrize("error", ERRORS)
async def test_a_device_whose_line_fails_leaves_the_others_alone(
    pty: Pty, error: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = serial_port.connect

    def connect(address: Address) -> Link:
        if address.path == "/dev/failing":
            raise ERRORS[error]()
        return real(address)

    monkeypatch.setattr(serial_port, "connect", connect)
    async with running("serial:///dev/failing") as failing, running(pty.url) as floor:
        await floor.until_open()
        await until_async(lambda: failing.device._failures >= 2)
        pty.say(b"ok\n")
        await until_async(floor.lines)
        assert failing.links() == ["lost"]
        assert failing.logged() == ["device down"]
        assert floor.links() == ["up"]
        await asyncio.sleep(0)


def test_an_adapter_that_is_pulled_out_is_left_out_of_the_list(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """pyserial raises ``TypeError`` for one that goes while it is asked."""
    there, gone = SysFS("/dev/null"), SysFS("/dev/zero")
    attempts = 0

    def comports() -> list[SysFS]:
        nonlocal attempts
        attempts += 1
        if attempts < 3:
            raise TypeError("int() can't convert non-string with explicit base")
        return [gone, there]

    def behind_port(node: str, _system: Path) -> str | None:
        if node == "/dev/zero":
            raise FileNotFoundError(errno.ENOENT, "No such file or directory")
        return None

    monkeypatch.setattr(ports, "comports", comports)
    monkeypatch.setattr(ports, "network_card_behind_port", behind_port)
    assert [port.node for port in ports.ports()] == ["/dev/null"]
    attempts = -1000
    assert ports.ports() == []


def test_a_reader_that_is_pulled_out_is_left_out_of_the_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("1-1", "1-2"):
        (tmp_path / name).mkdir()
    real: Any = usb_devices._read_device

    def device(path: Path) -> Any:
        if path.name == "1-1":
            raise OSError(errno.ENODEV, "No such device")
        return usb_devices.HidDevice(links=("0",), usb="0c2e:0b61", location=path.name)

    monkeypatch.setattr(usb_devices, "_read_device", device)
    assert [found.location for found in usb_devices.hid_devices(tmp_path)] == ["1-2"]
    assert real is not device


def test_the_systems_form_of_a_speed() -> None:
    assert struct.calcsize(line._TERMIOS2) == 44
