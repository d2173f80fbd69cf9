"""Programs that take adapters away are named, and the adapters that they took."""

from __future__ import annotations

from pathlib import Path

import pytest

from devices.links import LinkFailedError, open_link, serial_port, takers
from devices.links.takers import (
    KNOWN_PROGRAMS,
    AdapterTaker,
    AdapterWithoutPort,
    adapters_without_port,
    describe_suspects,
    running_takers,
)


def run(folder: Path, *programs: tuple[int, str]) -> Path:
    """Processes as the system shows them."""
    for pid, name in programs:
        (folder / str(pid)).mkdir(parents=True)
        (folder / str(pid) / "comm").write_text(f"{name}\n")
    (folder / "self").mkdir(parents=True)
    return folder


def plug(folder: Path, place: str, usb: str, driver: str = "", port: str = "") -> None:
    """A USB device as the system shows it, with one interface."""
    (folder / place).mkdir(parents=True)
    vendor, product = usb.split(":")
    for name, value in {
        "idVendor": vendor,
        "idProduct": product,
        "product": "USB Serial",
        "busnum": "1",
        "devnum": "7",
    }.items():
        (folder / place / name).write_text(f"{value}\n")
    interface = folder / f"{place}:1.0"
    interface.mkdir()
    if port:
        (interface / port).mkdir()
    if driver:
        (folder / "drivers" / driver).mkdir(parents=True, exist_ok=True)
        (interface / "driver").symlink_to(folder / "drivers" / driver)


def test_the_known_programs_are_found_if_they_run(tmp_path: Path) -> None:
    there = run(tmp_path, (1, "systemd"), (812, "brltty"), (90, "gpsd"), (91, "gpsd-like"))
    assert running_takers(there) == (AdapterTaker(812, "brltty"), AdapterTaker(90, "gpsd"))
    assert running_takers(tmp_path / "none") == ()


def test_an_adapter_whose_port_was_claimed_is_found(tmp_path: Path) -> None:
    plug(tmp_path, "1-1.1", "0403:6001", "ftdi_sio", "ttyUSB0")
    plug(tmp_path, "1-1.2", "1a86:7523", "usbfs")
    plug(tmp_path, "1-1.3", "10c4:ea60")
    plug(tmp_path, "1-1.4", "046d:c077", "usbhid")
    taken, lost = adapters_without_port(tmp_path)
    assert taken == AdapterWithoutPort(
        usb="1a86:7523",
        location="1-1.2",
        product="USB Serial",
        node="/dev/bus/usb/001/007",
        claimed=True,
    )
    assert (lost.usb, lost.claimed) == ("10c4:ea60", False)
    assert adapters_without_port(tmp_path / "none") == []


@pytest.mark.parametrize("name", KNOWN_PROGRAMS)
def test_a_missing_port_names_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(serial_port, "BY_ID", tmp_path)
    monkeypatch.setattr(takers, "running_takers", lambda: (AdapterTaker(812, name),))
    with pytest.raises(LinkFailedError, match=rf"no such port; .*: {name} \(pid 812\); see docs"):
        open_link(f"serial://{tmp_path}/wheel")
    monkeypatch.setattr(takers, "running_takers", tuple)
    with pytest.raises(LinkFailedError, match=f"no such port; .*{name}.* can take an adapter away"):
        open_link(f"serial://{tmp_path}/wheel")
    assert name in describe_suspects()
