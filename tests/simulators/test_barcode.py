"""The simulated scanner before the driver of the real one: what was drawn is what is read; a
virtual bus is a bus.
"""

from __future__ import annotations

import errno
from typing import Any

import pytest
import usb.core
import usb.util
from hypothesis import given, settings
from hypothesis import strategies as st

from common.readings import AnyReading, CardDrawn, LinkGap
from devices.drivers import driver
from devices.watch import Watch
from simulators.faults import FAULTS, protocol_faults
from simulators.line import SimulatedLine
from simulators.shoe.barcode import BarcodeShoe, card_code, key_reports, pos_reports
from simulators.usb import UsbDevice, VirtualBus

COUP = ("9h", "2c", "Kd", "3s")
STEP = 0.02


def heard(shoe: BarcodeShoe, until: float, *faults: tuple[float, str, float]) -> list[AnyReading]:
    """The readings up to a time. The driver looks every 20 ms, as a daemon does."""
    found = driver("barcode-serial")
    watch, line, due = (
        Watch(found.make("shoe", found.options()), "shoe", 5.0),
        SimulatedLine(shoe),
        sorted(faults),
    )
    watch.opened(0.0)
    readings: list[AnyReading] = []
    for step in range(int(until / STEP)):
        now = step * STEP
        while due and due[0][0] <= now:
            at, name, value = due.pop(0)
            (line if FAULTS[name].where == "line" else shoe).fault(name, value, at)
        for at, data in line.advance(now):
            readings += watch.feed(data, at)
        readings += watch.tick(now)
    return readings


def drawn(readings: list[AnyReading]) -> list[CardDrawn]:
    return [reading for reading in readings if isinstance(reading, CardDrawn)]


def shoe(**options: Any) -> BarcodeShoe:
    """A known first coup from 11 seconds on."""
    known: dict[str, Any] = {"seed": 3, "games_per_hour": 240, "burn": False, "cards": COUP}
    return BarcodeShoe(**known | options)


@settings(max_examples=15)
@given(st.integers(0, 2**32))
def test_what_was_drawn_is_what_is_read(seed: int) -> None:
    model = shoe(seed=seed, burn=True, cards=())
    cards = drawn(heard(model, 200.0))
    assert len(cards) > 20
    assert [reading.card for reading in cards] == model.drawn[: len(cards)]


@pytest.mark.parametrize(
    ("fault", "value", "cards"),
    [
        ("unread", 5.0, [None, "2c", "Kd", "3s"]),
        ("lost_report", 0.0, ["2c", "Kd", "3s"]),
        ("read_twice", 0.3, ["9h", ("9h", "unsure"), "2c", "Kd", "3s"]),
        ("foreign_code", 0.0, [None, "9h", "2c", "Kd", "3s"]),
        ("split", 0.0, ["9h", "2c", "Kd", "3s"]),
    ],
)
def test_a_fault_of_the_scanner(fault: str, value: float, cards: list[object]) -> None:
    told = drawn(heard(shoe(), 20.0, (9.0, fault, value)))[: len(cards)]
    assert [
        (reading.card, "unsure") if reading.unsure else reading.card for reading in told
    ] == cards


@settings(max_examples=25)
@given(
    st.integers(0, 2**32),
    st.lists(
        st.tuples(st.floats(0, 100), st.sampled_from(["split", "silence", "burst"])), max_size=4
    ),
)
def test_what_is_lost_or_late_makes_no_other_card(
    seed: int, faults: list[tuple[float, str]]
) -> None:
    model = shoe(seed=seed, cards=())
    readings = heard(model, 110.0, *((at, name, 3.0) for at, name in faults))
    left = iter(model.drawn)
    assert all(
        reading.card in left
        for reading in drawn(readings)
        if reading.card is not None and not reading.unsure
    )


def test_lines_that_run_into_each_other_are_reported() -> None:
    readings = heard(shoe(), 30.0, (9.0, "spliced", 0.0))
    cards = [reading.card for reading in drawn(readings)]
    assert None in cards or LinkGap in map(type, readings)


def test_the_faults_of_a_scanner_are_its_own() -> None:
    assert {"read_twice", "foreign_code", "unread", "split"} <= set(
        protocol_faults("barcode-serial")
    )
    assert "read_twice" not in protocol_faults("bee-tek")


def test_the_pens() -> None:
    assert [card_code(card) for card in ("Qd", "As", "Th", "2c")] == ["DQ", "SA", "HT", "C2"]
    assert key_reports("S1")[::2] == [
        bytes((2, 0, 0x16, 0, 0, 0, 0, 0)),
        bytes((0, 0, 0x1E, 0, 0, 0, 0, 0)),
        bytes((0, 0, 0x28, 0, 0, 0, 0, 0)),
    ]
    assert [(len(report), report[1], report[63]) for report in pos_reports("x" * 60)] == [
        (64, 56, 1),
        (64, 4, 0),
    ]


class TestVirtualBus:
    """Through the real pyusb."""

    def test_a_device_is_found_read_and_given_back(self) -> None:
        bus = VirtualBus()
        plugged = bus.plug(UsbDevice(strings=("Acme", "Scanner", "17"), port=(2, 3)))
        device: Any = usb.core.find(backend=bus, idVendor=0x0C2E)
        assert (device.manufacturer, device.serial_number, device.port_numbers) == (
            "Acme",
            "17",
            (2, 3),
        )
        device.detach_kernel_driver(0)
        plugged.report(b"12345678", b"1234567")
        assert [bytes(device.read(0x81, 8, 100)) for _ in range(2)] == [b"12345678", b"1234567"]
        with pytest.raises(usb.core.USBTimeoutError):
            device.read(0x81, 8, 1)
        usb.util.dispose_resources(device)
        assert plugged.claimed == {}

    def test_errors_are_those_of_libusb(self) -> None:
        bus = VirtualBus()
        plugged = bus.plug(UsbDevice())
        device: Any = usb.core.find(backend=bus)

        def fails(number: int) -> None:
            with pytest.raises(usb.core.USBError) as failed:
                device.read(0x81, 8, 1)
            assert failed.value.errno == number

        fails(errno.EBUSY)  # the kernel has it
        device.detach_kernel_driver(0)
        plugged.fail(errno.EIO)
        fails(errno.EIO)
        plugged.stalled = True
        fails(errno.EPIPE)
        device.clear_halt(0x81)
        plugged.report(bytes(9))
        fails(errno.EOVERFLOW)
        with pytest.raises(usb.core.USBError, match="EPIPE"):
            device.ctrl_transfer(0xC0, 1, 0, 0, 1)
        with pytest.raises(usb.core.USBError, match="EBUSY"):
            device.attach_kernel_driver(0)
        bus.unplug(plugged)
        fails(errno.ENODEV)
        with pytest.raises(usb.core.USBError, match="ENODEV"):
            device.clear_halt(0x81)
        usb.util.dispose_resources(device)
        assert usb.core.find(backend=bus) is None
