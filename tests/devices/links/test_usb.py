"""The link usb:// through the real pyusb, on a virtual bus."""

from __future__ import annotations

import errno
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import usb.core

from devices.links import LinkFailedError, open_link
from devices.links import usb as usb_link
from simulators.usb import (
    POS_SCANNER,
    RNDIS_GADGET,
    Endpoint,
    Interface,
    UsbDevice,
    VirtualBus,
    usb_error,
)
from tests.support.devices.parts import read_some

URL = "usb://0c2e:0b61?timeout=0.2"
KEYS = [bytes((0, 0, key, 0, 0, 0, 0, 0)) for key in range(4, 8)]
TWO = {
    "17": UsbDevice(strings=("", "", "17"), port=(1, 2)),
    "18": UsbDevice(strings=("", "", "18"), port=(1, 3)),
}


@pytest.fixture
def bus(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[VirtualBus]:
    virtual = VirtualBus()
    monkeypatch.setattr(usb_link, "usb_backend", lambda: virtual)
    monkeypatch.setattr(
        usb_link, "SYSFS", tmp_path
    )  # else a device of this machine would be taken for one of the bus
    yield virtual
    assert all(
        plugged.log.count("open") == plugged.log.count("close")
        for plugged in virtual.enumerate_devices()
    )


def test_a_report_comes_to_us_alone(bus: VirtualBus) -> None:
    scanner = bus.plug(UsbDevice(strings=("Acme", "Scanner", "17"), port=(1, 4)))
    scanner.report(KEYS[0])
    assert scanner.typed == [KEYS[0]]
    link = open_link(URL)
    assert link.read(0.05) == b""
    scanner.report(*KEYS[1:])
    assert read_some(link, 24) == b"".join(KEYS[1:])
    assert scanner.typed == [KEYS[0]]
    assert link.describe() == {
        "usb": "0c2e:0b61",
        "serial_number": "17",
        "manufacturer": "Acme",
        "product": "Scanner",
        "location": "1-1.4",
        "interface": "0",
    }
    link.close()
    scanner.report(KEYS[0])
    assert len(scanner.typed) == 2
    taken = ["detach 0", "claim 0", "protocol 0 of 0", "idle 0 of 0", "clear_halt 81"]
    assert scanner.log == ["open", *taken, "protocol 1 of 0", "release 0", "attach 0", "close"]


def test_a_device_that_the_kernel_does_not_drive_is_not_given_to_it(bus: VirtualBus) -> None:
    scanner = bus.plug(POS_SCANNER)
    scanner.kernel.clear()
    link = open_link(URL)
    scanner.report(bytes(64))
    assert link.read(5) == bytes(64)
    link.close()
    assert scanner.log == ["open", "claim 0", "clear_halt 81", "release 0", "close"]


def test_the_configuration_is_set_only_if_unset(bus: VirtualBus) -> None:
    scanner = bus.plug(UsbDevice())
    open_link(URL).close()
    assert "configure 1" not in scanner.log
    scanner.configured = False
    open_link(URL).close()
    assert scanner.log.count("configure 1") == 1


def test_an_unplugged_device_fails_and_is_found_again(bus: VirtualBus) -> None:
    scanner = bus.plug(UsbDevice())
    link = open_link(URL)
    pulling = threading.Timer(0.05, bus.unplug, [scanner])
    pulling.start()
    with pytest.raises(
        LinkFailedError, match="usb 0c2e:0b61: the device is gone: it was unplugged"
    ):
        read_some(link, 1)
    pulling.join()
    link.close()
    with pytest.raises(LinkFailedError, match="0c2e:0b61: not plugged in"):
        open_link(URL)
    scanner = bus.plug(UsbDevice())
    link = open_link(URL)
    scanner.report(KEYS[0])
    assert link.read(5) == KEYS[0]
    link.close()


@pytest.mark.parametrize("number", [errno.ENODEV, errno.EIO, errno.EPIPE, errno.EOVERFLOW])
def test_any_error_but_a_timeout_ends_the_link(bus: VirtualBus, number: int) -> None:
    scanner = bus.plug(UsbDevice())
    link = open_link(URL)
    scanner.fail(errno.ETIMEDOUT)
    assert link.read(0.05) == b""
    scanner.fail(number)
    with pytest.raises(LinkFailedError, match="0c2e:0b61"):
        link.read(0.05)
    link.close()


def test_a_timeout_by_its_number_alone_is_idle(
    bus: VirtualBus, monkeypatch: pytest.MonkeyPatch
) -> None:
    bus.plug(UsbDevice())
    link = open_link(URL)

    def late(*_: Any) -> int:
        raise usb.core.USBError("timed out", None, errno.ETIMEDOUT)

    monkeypatch.setattr(bus, "intr_read", late)
    assert link.read(0.05) == b""
    link.close()


def test_a_stall_is_over_when_the_link_is_opened_again(bus: VirtualBus) -> None:
    scanner = bus.plug(UsbDevice())
    link = open_link(URL)
    scanner.stalled = True
    with pytest.raises(LinkFailedError):
        link.read(0.05)
    link.close()
    link = open_link(URL)
    scanner.report(KEYS[0])
    assert link.read(5) == KEYS[0]
    link.close()


@pytest.mark.parametrize("name", ["17", "1-1.2", "17%20", "%2017%20%20"])
def test_one_of_several_equal_devices_is_named_by_number_or_port(
    bus: VirtualBus, name: str
) -> None:
    wanted, other = bus.plug(TWO["17"]), bus.plug(TWO["18"])
    link = open_link(f"usb://0C2E:0B61/{name}")
    assert link.describe()["serial_number"] == "17"
    link.close()
    assert "claim 0" in wanted.log
    assert "claim 0" not in other.log


def test_several_equal_devices_are_refused_where_none_is_named(bus: VirtualBus) -> None:
    plugged = [bus.plug(device) for device in TWO.values()]
    with pytest.raises(
        LinkFailedError, match=r"several are plugged in; .*: 1-1.2 \(17\), 1-1.3 \(18\)"
    ):
        open_link(URL)
    with pytest.raises(
        LinkFailedError,
        match=r"0c2e:0b61 19: not plugged in; same model at: 1-1.2 \(17\), 1-1.3 \(18\)",
    ):
        open_link("usb://0c2e:0b61/19")
    assert [scanner for scanner in plugged if "detach 0" in scanner.log] == []


def test_equal_serial_numbers_do_not_distinguish_devices(bus: VirtualBus) -> None:
    for port in ((1, 2), (1, 3)):
        bus.plug(UsbDevice(strings=("", "", "same"), port=port))
    with pytest.raises(LinkFailedError, match="several"):
        open_link("usb://0c2e:0b61/same")
    open_link("usb://0c2e:0b61/1-1.3").close()


@pytest.mark.parametrize(
    "device",
    [
        RNDIS_GADGET,
        UsbDevice(kind=(2, 0, 0)),
        UsbDevice(kind=(0xE0, 1, 1)),
        UsbDevice(interfaces=(Interface(), Interface((2, 6, 0), ()))),
        UsbDevice(interfaces=(Interface(), Interface((0x0A, 0, 0), ()))),
        UsbDevice(interfaces=(Interface(), Interface((0xEF, 4, 1), ()))),
    ],
)
def test_a_device_with_a_network_card_in_it_is_refused(bus: VirtualBus, device: UsbDevice) -> None:
    gadget = bus.plug(device)
    with pytest.raises(
        LinkFailedError, match="refused: the device also contains a modem or a network card"
    ):
        open_link(URL)
    assert gadget.log in ([], ["open", "close"])


def test_a_device_that_the_kernel_made_a_network_card_of_is_refused(
    bus: VirtualBus, tmp_path: Path
) -> None:
    bus.plug(UsbDevice(interfaces=(Interface(), Interface((0xFF, 0xFF, 0), ()))))
    card = tmp_path / "bus" / "usb" / "devices" / "1-1" / "1-1:1.1" / "net" / "eth1"
    card.mkdir(parents=True)
    with pytest.raises(
        LinkFailedError,
        match=r"refused: the device also contains a modem or a network card "
        r"\(network interface eth1\)",
    ):
        open_link(URL)
    card.rmdir()
    open_link(URL).close()


def test_the_interface_is_chosen_or_must_be_configured(bus: VirtualBus) -> None:
    two = (
        Interface((8, 6, 80), (Endpoint(attributes=2),)),
        Interface(),
        Interface((3, 0, 0), (Endpoint(0x82, 64), Endpoint(0x02, 64))),
    )
    scanner = bus.plug(UsbDevice(interfaces=two))
    with pytest.raises(LinkFailedError, match=r"several interfaces .*interface=: 1, 2"):
        open_link(URL)
    with pytest.raises(
        LinkFailedError, match="interface 0 sends no HID reports; those that do: 1, 2"
    ):
        open_link(f"{URL}&interface=0")
    link = open_link(f"{URL}&interface=2")
    assert scanner.claimed.keys() == {2}
    assert scanner.kernel == {1}
    scanner.report(bytes(64), interface=2)
    assert link.read(5) == bytes(64)
    link.close()


def test_a_device_without_reports_is_refused(bus: VirtualBus) -> None:
    bus.plug(
        UsbDevice(
            interfaces=(
                Interface((3, 0, 0), (Endpoint(0x02),)),
                Interface((3, 0, 0), (Endpoint(attributes=2),)),
            )
        )
    )
    with pytest.raises(LinkFailedError, match="no interface sends HID reports"):
        open_link(URL)


def test_a_report_of_another_length_ends_the_link(bus: VirtualBus) -> None:
    scanner = bus.plug(UsbDevice(interfaces=(Interface(endpoints=(Endpoint(packet=64),)),)))
    link = open_link(URL)
    scanner.report(KEYS[0], bytes(9))
    assert link.read(5) == KEYS[0]
    with pytest.raises(LinkFailedError, match="a report of 9 bytes, expected 8"):
        link.read(5)
    link.close()
    link = open_link(f"{URL}&report=9")
    scanner.report(bytes(9))
    assert link.read(5) == bytes(9)
    link.close()


def test_reasons_are_for_people(bus: VirtualBus) -> None:
    scanner = bus.plug(UsbDevice())
    scanner.denied = True
    with pytest.raises(LinkFailedError, match="no permission; add a udev rule"):
        open_link(URL)
    scanner.denied, scanner.held = False, True
    with pytest.raises(LinkFailedError, match="another program has the device open"):
        open_link(URL)
    assert scanner.kernel == {0}, "the kernel has it back"
    scanner.held = False
    link = open_link(URL)
    with pytest.raises(LinkFailedError, match="another program has the device open"):
        open_link(URL)
    with pytest.raises(LinkFailedError, match="accepts no data"):
        link.write(b"?")
    link.close()
    link.close()


def test_a_keyboard_that_accepts_no_requests_is_read_all_the_same(
    bus: VirtualBus, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stall(*_: Any) -> int:
        raise usb_error(errno.EPIPE)

    monkeypatch.setattr(bus, "ctrl_transfer", stall)
    scanner = bus.plug(UsbDevice())
    link = open_link(URL)
    scanner.report(KEYS[0])
    assert link.read(5) == KEYS[0]
    link.close()
    assert scanner.kernel == {0}


def test_no_library_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usb_link, "usb_backend", lambda: None)
    with pytest.raises(LinkFailedError, match=r"libusb is missing .*; install libusb-1\.0-0"):
        open_link(URL)


def test_the_library_of_this_machine_is_there() -> None:
    assert usb_link.usb_backend() is not None
    with pytest.raises(LinkFailedError, match="usb 0000:0000: not plugged in"):
        open_link("usb://0000:0000")
