"""Addresses: what is right is taken, what is wrong is named."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devices.links import SCHEME_MODULES, LinkFailedError, check_link, open_link
from tests.support.for_each import for_each


@for_each(
    "url",
    [
        "serial:///dev/serial/by-id/usb-FTDI_FT232R_A9-if00-port0",
        "serial:///dev/ttyUSB0?baud=4800&bytesize=7&parity=E&stopbits=2&rtscts=0&dtr=on&rts=off",
        "serial:///dev/ttyUSB0?baud=250000&stopbits=1.5&rtscts=1",
        "tcp://192.0.2.7:4001",
        "tcp://[2001:db8::7]:4001",
        "rfc2217://nport.example:4001?baud=115200&parity=O",
        "usb://0c2e:0b61",
        "usb://0C2E:9999/",
        "usb://0c2e:0b61/17%20A?interface=1&timeout=0.5&report=8",
        "usb://0c2e:0b61/1-1.4",
        "http://192.0.2.5:8900/camera?secret_file=/etc/novamas/token&time=$.arg.time",
        "https://0.0.0.0:8900/a/b?secret_file=/t&cert_file=/c&key_file=/k",
        "replay:///var/lib/novamas/wheel.rec",
        "replay:///var/lib/novamas/wheel.rec?speed=0",
    ],
)
def test_right_addresses(url: str) -> None:
    assert check_link(url) is None


@for_each(
    ("url", "named"),
    [
        ("/dev/ttyUSB0", "scheme"),
        ("serial:/dev/ttyUSB0", "scheme"),
        ("carrier-pigeon:///roof", "carrier-pigeon"),
        ("serial://", "three slashes"),
        ("serial://dev/ttyUSB0", "three slashes"),
        ("serial:///dev/ttyUSB0?speed=9600", "speed"),
        ("serial:///dev/ttyUSB0?baud=fast", "baud=fast"),
        ("serial:///dev/ttyUSB0?baud=0", "baud=0"),
        ("serial:///dev/ttyUSB0?baud=9600&baud=4800", "baud"),
        ("serial:///dev/ttyUSB0?baud", "baud="),
        ("serial:///dev/ttyUSB0?bytesize=9", "bytesize=9"),
        ("serial:///dev/ttyUSB0?parity=X", "parity=X"),
        ("serial:///dev/ttyUSB0?stopbits=3", "stopbits=3"),
        ("serial:///dev/ttyUSB0?dtr=1", "dtr=1"),
        ("serial:///dev/ttyUSB0?rtscts=1&rts=on", "rts=on"),
        ("serial:///dev/ttyUSB0#x", "#x"),
        ("tcp://host", "port"),
        ("tcp://:4001", "host"),
        ("tcp://host:99999", "65535"),
        ("tcp://host:4001/path", "/path"),
        ("tcp://host:4001?baud=9600", "baud"),
        ("tcp://user:word@host:4001", "password"),
        ("tcp://a..b:4001", "not a valid host name"),
        (f"mqtt://{'a' * 70}:1883/dice", "not a valid host name"),
        ("http://192.0.2.5/camera?secret_file=/t", "listens"),
        ("http://192.0.2.5:8900?secret_file=/t", "path"),
        ("http://192.0.2.5:8900/a%20b?secret_file=/t", "path"),
        ("http://192.0.2.5:8900/camera", "secret_file"),
        ("http://192.0.2.5:8900/camera?secret_file=token", "secret_file"),
        ("http://192.0.2.5:8900/camera?secret_file=/t&cert_file=/c", "https"),
        ("https://192.0.2.5:8900/camera?secret_file=/t&cert_file=/c", "key_file"),
        ("http://192.0.2.5:8900/camera?secret_file=/t&time=at", "time=at"),
        ("mqtt://host:1883/a%00b", "NUL"),
        (f"mqtt://host:1883/{'a' * 1001}", "at most 1000"),
        ("rfc2217://host:4001?logging=debug", "logging"),
        ("usb:///0c2e:0b61", "vendor and product"),
        ("usb://0c2e", "vendor and product"),
        ("usb://0c2e:b61", "vendor and product"),
        ("usb://wheel:4001", "vendor and product"),
        ("usb://0c2e:0b61?baud=9600", "baud"),
        ("usb://0c2e:0b61?timeout=5", "timeout=5"),
        ("usb://0c2e:0b61?interface=-1", "interface=-1"),
        ("usb://0c2e:0b61?report=0", "report=0"),
        ("replay://file.rec", "three slashes"),
        ("replay:///file.rec?speed=-1", "speed"),
        ("replay:///file.rec?speed=nan", "speed"),
    ],
)
def test_wrong_addresses_are_named_and_not_opened(url: str, named: str) -> None:
    wrong = check_link(url)
    assert wrong is not None
    assert named in wrong
    with pytest.raises(LinkFailedError) as failed:
        open_link(url)
    assert named in failed.value.reason


@given(
    st.one_of(
        st.text(),
        st.builds(
            lambda scheme, rest: f"{scheme}://{rest}",
            st.sampled_from(sorted(SCHEME_MODULES)),
            st.text(),
        ),
    )
)
def test_any_text_is_checked_without_an_exception(url: str) -> None:
    assert check_link(url) is None or check_link(url)
