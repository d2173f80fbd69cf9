"""``novamas devices``: ports, their names and holders, and the drivers."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from controller.cli import devices, main
from controller.cli.devices import _as_json, _as_text, _claimed_as_json, _claimed_as_text
from devices.drivers import DRIVERS, driver
from devices.links import check_link
from devices.links.ports import Holder, SerialPort, holders, stable_names
from devices.links.takers import KNOWN_PROGRAMS, AdapterTaker, AdapterWithoutPort
from devices.links.usb_devices import hid_devices
from tests.controller.cli.test_record_speeds import Device, frames_of

PORT = SerialPort(
    name="/dev/serial/by-id/usb-FTDI-if00",
    node="/dev/ttyUSB0",
    names=("/dev/serial/by-id/usb-FTDI-if00", "/dev/serial/by-path/pci-1"),
    usb="0403:6001",
    product="USB UART",
    holders=(Holder(7, "minicom"),),
)


def test_every_driver_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["devices", "--json"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["name"] for row in lines if row["type"] == "driver"] == sorted(DRIVERS)
    assert main(["devices"]) == 0
    shown = capsys.readouterr().out
    assert [name for name in DRIVERS if name not in shown] == []


def test_a_port_is_listed_with_the_address_to_write() -> None:
    known = [driver(name) for name in DRIVERS]
    [row, *_] = [json.loads(line) for line in _as_json([PORT], [], known)]
    assert row["usb"] == "0403:6001"
    assert row["holders"] == [{"pid": 7, "name": "minicom"}]
    assert set(row["links"]) == {found.name for found in known if found.scheme == "serial"}
    assert [link for link in row["links"].values() if check_link(link)] == []
    text = "\n".join(_as_text([PORT], [], known))
    assert "held by  minicom (pid 7)" in text
    assert "serial:///dev/serial/by-id/usb-FTDI-if00?baud=9600  for cammegh-ss2" in text


def plug(folder: Path, place: str, interfaces: str, **facts: str) -> None:
    """A USB device as the system shows it; each interface by its class and protocol."""
    for name, value in facts.items():
        (folder / place).mkdir(exist_ok=True)
        (folder / place / name).write_text(f"{value}\n")
    for number, (kind, protocol) in enumerate(pair.split("/") for pair in interfaces.split()):
        interface = folder / f"{place}:1.{number}"
        interface.mkdir()
        (interface / "bInterfaceNumber").write_text(f"{number:02x}\n")
        (interface / "bInterfaceClass").write_text(f"{kind}\n")
        (interface / "bInterfaceProtocol").write_text(f"{protocol}\n")


def test_usb_readers_are_listed_and_nothing_else(tmp_path: Path) -> None:
    plug(tmp_path, "1-1", "09/00", idVendor="1d6b", idProduct="0002")
    plug(
        tmp_path,
        "1-1.2",
        "03/01",
        idVendor="0c2e",
        idProduct="0b61",
        serial="17 A",
        product="Scanner",
        manufacturer="Acme",
    )
    plug(tmp_path, "1-1.3", "03/01 03/00 08/50", idVendor="0c2e", idProduct="0b61")
    plug(tmp_path, "2-1", "03/02", idVendor="046d", idProduct="c077", product="Mouse")
    plug(tmp_path, "2-2", "03/00", idVendor="05e0", idProduct="1300", serial="same")
    plug(tmp_path, "2-3", "03/00", idVendor="05e0", idProduct="1300", serial="same")
    readers = hid_devices(tmp_path)
    assert [(reader.location, reader.links) for reader in readers] == [
        ("1-1.2", ("usb://0c2e:0b61/17%20A",)),
        ("1-1.3", ("usb://0c2e:0b61/1-1.3?interface=0", "usb://0c2e:0b61/1-1.3?interface=1")),
        ("2-2", ("usb://05e0:1300/2-2",)),
        ("2-3", ("usb://05e0:1300/2-3",)),
    ]
    assert [link for reader in readers for link in reader.links if check_link(link)] == []
    known = [driver(name) for name in DRIVERS]
    row = json.loads(_as_json([], readers, known)[0])
    assert (row["type"], row["usb"], row["links"]) == (
        "usb",
        "0c2e:0b61",
        {"barcode-hid": ["usb://0c2e:0b61/17%20A"]},
    )
    text = "\n".join(_as_text([], readers, known))
    assert "0c2e:0b61 Acme, Scanner, 17 A" in text
    assert "usb://0c2e:0b61/1-1.3?interface=1  for barcode-hid" in text


def test_adapters_without_a_port_and_their_drivers_are_listed() -> None:
    node = "/dev/bus/usb/001/007"
    taken = AdapterWithoutPort(
        usb="1a86:7523", location="1-1.2", product="Serial", node=node, claimed=True
    )
    lost = AdapterWithoutPort(usb="10c4:ea60", location="1-1.3")
    takers = tuple(AdapterTaker(800 + at, name) for at, name in enumerate(KNOWN_PROGRAMS))
    rows = [json.loads(row) for row in _claimed_as_json([taken, lost], takers)]
    assert [(row["type"], row.get("usb"), row.get("name")) for row in rows] == [
        ("unported", "1a86:7523", None),
        ("unported", "10c4:ea60", None),
        *(("taker", None, name) for name in KNOWN_PROGRAMS),
    ]
    text = "\n".join(_claimed_as_text([taken, lost], takers))
    assert "1a86:7523 Serial\n    at       1-1.2\n    why      a program has claimed it" in text
    assert "10c4:ea60\n    at       1-1.3\n    why      the kernel has no driver for it" in text
    for taker in takers:
        assert f"{taker.name} (pid {taker.pid}): {KNOWN_PROGRAMS[taker.name]}" in text
    assert _claimed_as_text([], ()) == _claimed_as_json([], ()) == []


def test_a_machine_without_usb_has_no_readers(tmp_path: Path) -> None:
    assert hid_devices(tmp_path / "none") == []


def test_names_lead_to_the_node_best_first(tmp_path: Path) -> None:
    node = tmp_path / "ttyUSB0"
    node.touch()
    for name in ("serial/by-path/b", "serial/by-id/a", "novamas/wheel", "serial/by-id/other"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).symlink_to(tmp_path / ("elsewhere" if "other" in name else "ttyUSB0"))
    assert stable_names(str(node), str(tmp_path)) == tuple(
        str(tmp_path / name) for name in ("novamas/wheel", "serial/by-id/a", "serial/by-path/b")
    )


def test_a_holder_is_found() -> None:
    ours, theirs = os.openpty()
    try:
        assert os.getpid() in {holder.pid for holder in holders(os.ttyname(theirs))}
    finally:
        os.close(ours)
        os.close(theirs)


def test_a_device_at_a_free_port_is_identified(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    device = Device(9600, frames_of("cammegh-ss2"))
    holder = Holder(pid=1, name="ModemManager")
    here = SerialPort(name=device.path, node=device.path)
    held = SerialPort(name="/dev/ttyUSB1", node="/dev/ttyUSB1", holders=(holder,))
    monkeypatch.setattr(devices, "ports", lambda: [here, held])
    try:
        assert main(["devices", "--identify", "30", "--json"]) == 0
        assert device.heard == b""
    finally:
        device.close()
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    first, second = (row for row in rows if row["type"] == "port")
    assert first["sends"].startswith("9600 baud, cammegh-ss2, ")
    assert "sends" not in second
