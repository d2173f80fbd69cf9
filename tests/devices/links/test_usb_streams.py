"""USB devices that are no HID: bytes of a bulk or interrupt endpoint, on a virtual bus in the place
of the real one.
"""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from usb.util import ENDPOINT_TYPE_INTR, ENDPOINT_TYPE_ISO

from devices.links import LinkFailedError, WriteTimedOutError, check_link, open_link, usb
from simulators.usb import RNDIS_GADGET, VENDOR_READER, Endpoint, Interface, UsbDevice, VirtualBus
from tests.support.for_each import for_each

URL = "usb://0c2e:0b61?timeout=0.2&read=82"
BOTH = f"{URL}&write=02"


@pytest.fixture
def bus(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> VirtualBus:
    made = VirtualBus()
    monkeypatch.setattr(usb, "SYSFS", tmp_path)
    monkeypatch.setattr(usb, "usb_backend", lambda: made)
    return made


def test_bytes_of_any_length_are_read_and_written(bus: VirtualBus) -> None:
    reader = bus.plug(VENDOR_READER)
    link = open_link(BOTH)
    reader.report(b"*X;2;", b"001;17;0;158;0\r\n", interface=1)
    assert [link.read(5), link.read(5), link.read(0)] == [b"*X;2;", b"001;17;0;158;0\r\n", b""]
    link.write(b"*X\r\n")
    assert reader.written == [b"*X\r\n"]
    assert reader.claimed.keys() == {1}
    assert reader.kernel == {0}  # the other interface of the device stays as it was
    assert not [done for done in reader.log if done.startswith(("protocol", "idle"))]
    link.close()
    assert reader.claimed == {}


def test_an_interrupt_endpoint_is_read_in_the_same_way(bus: VirtualBus) -> None:
    ends = Endpoint(0x82, 16, ENDPOINT_TYPE_INTR), Endpoint(0x02, 16, ENDPOINT_TYPE_INTR)
    reader = bus.plug(UsbDevice(interfaces=(Interface((0xFF, 1, 2), ends),)))
    link = open_link(BOTH)
    reader.report(b"17")
    assert link.read(5) == b"17"
    link.write(b"?")
    assert reader.written == [b"?"]


def test_without_an_endpoint_to_write_nothing_is_sent(bus: VirtualBus) -> None:
    reader = bus.plug(VENDOR_READER)
    link = open_link(URL)
    with pytest.raises(LinkFailedError, match="accepts no data; name an endpoint with write="):
        link.write(b"x")
    assert reader.written == []


def test_an_unread_write_times_out(bus: VirtualBus) -> None:
    reader = bus.plug(VENDOR_READER)
    link = open_link(BOTH)
    reader.deaf = True
    with pytest.raises(WriteTimedOutError, match="the device accepts no data"):
        link.write(b"x")
    reader.deaf = False
    link.write(b"y")
    assert reader.written == [b"y"]


def test_an_unplugged_device_fails_both_ways(bus: VirtualBus) -> None:
    reader = bus.plug(VENDOR_READER)
    link = open_link(BOTH)
    bus.unplug(reader)
    with pytest.raises(LinkFailedError, match="the device is gone"):
        link.read(5)
    with pytest.raises(LinkFailedError, match="the device is gone"):
        link.write(b"x")
    link.close()
    bus.plug(VENDOR_READER)
    open_link(BOTH).close()


def test_an_endpoint_that_is_not_there_is_reported_with_those_that_are(bus: VirtualBus) -> None:
    bus.plug(VENDOR_READER)
    with pytest.raises(
        LinkFailedError,
        match=(
            r"no interface has the endpoint 83; there are: 81 of interface 0, 82 of interface "
            r"1, 02 of"
        ),
    ):
        open_link("usb://0c2e:0b61?read=83")
    with pytest.raises(LinkFailedError, match=r"the endpoint 82; there are: 81 of interface 0$"):
        open_link(f"{URL}&interface=0")


def test_other_kinds_of_endpoints_are_refused(bus: VirtualBus) -> None:
    bus.plug(
        UsbDevice(interfaces=(Interface((0xFF, 0, 0), (Endpoint(0x82, 64, ENDPOINT_TYPE_ISO),)),))
    )
    with pytest.raises(LinkFailedError, match="only bulk and interrupt endpoints"):
        open_link(URL)


def test_a_failing_transfer_ends_the_link(bus: VirtualBus) -> None:
    reader = bus.plug(VENDOR_READER)
    link = open_link(URL)
    reader.fail(errno.EIO)
    with pytest.raises(LinkFailedError):
        link.read(5)


def test_a_network_card_is_refused_here_too_unless_the_site_allows_it(bus: VirtualBus) -> None:
    bus.plug(
        RNDIS_GADGET._replace(interfaces=(*RNDIS_GADGET.interfaces, *VENDOR_READER.interfaces[1:]))
    )
    with pytest.raises(
        LinkFailedError,
        match=r"refused: the device also contains a modem or a network card "
        r"\(RNDIS, class e0/01/03\)",
    ):
        open_link(URL)
    open_link(f"{URL}&network=allow").close()


@for_each(
    ("options", "told"),
    [
        ("write=02", "add read="),
        ("read=02", "read=02"),
        ("read=81&write=82", "write=82"),
        ("read=80", "read=80"),
        ("read=81&report=8", "a stream and has no reports"),
        ("network=maybe", "network=maybe"),
    ],
)
def test_options_that_cannot_be(options: str, told: str) -> None:
    assert told in str(check_link(f"usb://0c2e:0b61?{options}"))


def test_addresses_of_endpoints_as_lsusb_shows_them() -> None:
    assert check_link("usb://0c2e:0b61/17?interface=1&read=0x81&write=0x0F") is None
