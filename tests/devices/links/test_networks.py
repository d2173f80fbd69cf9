"""Network cards that come along with a device: found by what the system shows of it, in a tree like
``/sys``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from controller.cli.devices import _as_text
from devices.links import LinkFailedError, check_link, open_link, ports, serial_port
from devices.links.networks import NETWORK_CARDS, network_card_behind_port, network_card_in_device
from devices.links.ports import SerialPort
from devices.links.usb_devices import hid_devices

ACM = "02/02/01"


class Tree:
    """A tree like ``/sys`` with one USB device, its interfaces by class, subclass and protocol."""

    def __init__(
        self, folder: Path, *interfaces: str, kind: str = "00/00/00", place: str = "1-1.4"
    ) -> None:
        self.folder = folder
        self.device = folder / "devices" / "usb1" / place
        self.device.mkdir(parents=True)
        (self.device / "idVendor").write_text("0403\n")
        (self.device / "idProduct").write_text("6001\n")
        self._kind(self.device, "bDevice", kind)
        self.interfaces = []
        for number, interface in enumerate(interfaces):
            made = self.device / f"{place}:1.{number}"
            made.mkdir()
            (made / "bInterfaceNumber").write_text(f"{number:02x}\n")
            self._kind(made, "bInterface", interface)
            self.interfaces.append(made)

    def _kind(self, folder: Path, prefix: str, kind: str) -> None:
        for name, value in zip(("Class", "SubClass", "Protocol"), kind.split("/"), strict=True):
            (folder / f"{prefix}{name}").write_text(f"{value}\n")

    def port(self, node: str, below: str = "") -> None:
        """A port of the first interface; ``below``: the folder of the adapter's own port in it, as
        FTDI's have.
        """
        place = self.interfaces[0] / below
        place.mkdir(exist_ok=True)
        (self.folder / "class" / "tty" / node).mkdir(parents=True)
        (self.folder / "class" / "tty" / node / "device").symlink_to(place)


@pytest.mark.parametrize(
    "card", ["02/06/00", "02/0d/00", "02/0c/07", "02/0e/00", "02/02/ff", "e0/01/03", "ef/04/01"]
)
def test_a_port_with_a_network_card_beside_it(tmp_path: Path, card: str) -> None:
    Tree(tmp_path, ACM, "0a/00/00", card).port("ttyACM0")
    assert str(network_card_behind_port("/dev/ttyACM0", tmp_path)).endswith(f"class {card}")


def test_one_that_is_a_network_card_as_a_whole(tmp_path: Path) -> None:
    Tree(tmp_path, "ff/00/00", kind="e0/01/03").port("ttyUSB0", "ttyUSB0")
    assert network_card_behind_port("/dev/ttyUSB0", tmp_path) == "RNDIS, class e0/01/03"


def test_one_that_the_kernel_made_a_network_card_of_whatever_its_descriptor(tmp_path: Path) -> None:
    tree = Tree(tmp_path, ACM, "ff/ff/ff")
    tree.port("ttyACM0")
    (tree.interfaces[1] / "net" / "usb0").mkdir(parents=True)
    assert network_card_behind_port("/dev/ttyACM0", tmp_path) == "network interface usb0"


@pytest.mark.parametrize(
    "interfaces", [(ACM, "0a/00/00"), ("ff/00/00",), (ACM, "0a/00/00", "03/01/01"), ("e0/01/01",)]
)
def test_ports_that_are_no_more_than_that(tmp_path: Path, interfaces: tuple[str, ...]) -> None:
    Tree(tmp_path, *interfaces).port("ttyUSB0", "ttyUSB0")
    assert network_card_behind_port("/dev/ttyUSB0", tmp_path) is None


def test_a_port_that_is_no_usb_device(tmp_path: Path) -> None:
    (tmp_path / "devices" / "platform" / "serial8250").mkdir(parents=True)
    (tmp_path / "class" / "tty" / "ttyS0").mkdir(parents=True)
    (tmp_path / "class" / "tty" / "ttyS0" / "device").symlink_to(
        tmp_path / "devices" / "platform" / "serial8250"
    )
    assert network_card_behind_port("/dev/ttyS0", tmp_path) is None
    assert network_card_behind_port("/dev/ttyS1", tmp_path) is None


def test_one_that_goes_away_while_it_is_looked_at(tmp_path: Path) -> None:
    tree = Tree(tmp_path, ACM)
    (tree.interfaces[0] / "bInterfaceProtocol").unlink()
    assert network_card_in_device(tree.device, NETWORK_CARDS) is None


@pytest.fixture
def pty() -> Iterator[str]:
    ours, theirs = os.openpty()
    yield os.ttyname(theirs)
    os.close(ours)
    os.close(theirs)


def test_such_a_port_is_not_opened_unless_the_site_allows_it(
    tmp_path: Path, pty: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Tree(tmp_path / "sys", ACM, "02/06/00").port(Path(pty).name)
    monkeypatch.setattr(serial_port, "SYSFS", tmp_path / "sys")
    named = tmp_path / "by-id"
    named.symlink_to(pty)
    with pytest.raises(
        LinkFailedError,
        match=(
            r"refused: the USB device also contains a network card \(CDC ECM, class "
            r"02/06/00\)"
        ),
    ):
        open_link(f"serial://{named}")
    open_link(f"serial://{named}?network=allow").close()


def test_any_other_port_is_opened(
    tmp_path: Path, pty: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Tree(tmp_path / "sys", ACM, "0a/00/00").port(Path(pty).name)
    monkeypatch.setattr(serial_port, "SYSFS", tmp_path / "sys")
    open_link(f"serial://{pty}").close()


def test_a_port_of_a_device_server_has_no_such_option() -> None:
    assert "network" in str(check_link("rfc2217://192.0.2.7:4001?network=allow"))


def test_what_is_refused_is_listed_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Found:
        device, vid, pid, serial_number, product, manufacturer = (
            "/dev/ttyACM7",
            0x0403,
            0x6001,
            None,
            "Wheel",
            "Acme",
        )

    Tree(tmp_path, ACM, "e0/01/03").port("ttyACM7")
    monkeypatch.setattr(ports, "SYSFS", tmp_path)
    monkeypatch.setattr(ports, "comports", lambda: [Found])
    [port] = ports.ports()
    assert port.refused == "RNDIS, class e0/01/03"
    assert "    refused  it is also a network card: RNDIS, class e0/01/03" in _as_text(
        [port], [], []
    )
    assert not [
        line for line in _as_text([SerialPort(name="a", node="a")], [], []) if "refused" in line
    ]


def test_a_reader_with_a_network_card_in_it_is_listed_with_the_reason(tmp_path: Path) -> None:
    Tree(tmp_path, "03/01/01", "02/0d/00")
    [reader] = hid_devices(_flat(tmp_path))
    assert reader.refused == "CDC NCM, class 02/0d/00"
    assert [
        line
        for line in _as_text([], [reader], [])
        if "refused  it is also a modem or a network card: CDC NCM" in line
    ]


def _flat(folder: Path) -> Path:
    """As ``/sys/bus/usb/devices`` has them: devices and interfaces side by side, links to where
    they are.
    """
    flat = folder / "bus"
    flat.mkdir()
    for path in (folder / "devices" / "usb1").rglob("1-*"):
        (flat / path.name).symlink_to(path)
    return flat
