"""Profiles that come with Novamás, and one on a USB device that is no HID."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

from common.readings import AnyReading, DeviceReport, WheelPhase
from devices.drivers import driver
from devices.links import open_link, usb
from devices.profiles.codec import ProfileCodec
from devices.profiles.profile import parse_profile
from simulators.usb import VENDOR_READER, VirtualBus
from tests.support.devices.described import FOLDER

KING = files("devices.profiles").joinpath("zvonimir-king.toml").read_text()


def blown(readings: list[AnyReading]) -> list[str]:
    return [reading.value for reading in readings if isinstance(reading, DeviceReport)]


def test_the_wheel_with_one_known_sentence() -> None:
    found = driver("zvonimir-king")
    codec = found.make("wheel", found.options())
    assert blown(codec.feed(b"BR|KGO|1500|A1F0|ST\r\n", 1.0)) == ["1500"]
    with pytest.raises(ValueError, match="zvonimir-king has no command 'blow'; there are: none"):
        codec.encode("blow", "1500")


def test_it_with_the_check_and_the_command_of_its_comment() -> None:
    comment = [
        line.removeprefix("#     ")
        for line in KING.splitlines()
        if line.startswith("#     ") and "<" not in line
    ]
    codec = ProfileCodec("wheel", parse_profile(KING + "\n".join(comment)))
    sent = codec.encode("blow", "1500")
    assert sent.startswith(b"BR|KGO|1500|")
    assert blown(codec.feed(sent, 1.0)) == ["1500"]
    assert blown(codec.feed(sent.replace(b"1500", b"1501"), 2.0)) == []
    with pytest.raises(ValueError, match="blow takes a whole number from 100 to 5000, got '50'"):
        codec.encode("blow", "50")


def test_a_described_device_on_bulk_endpoints(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bus = VirtualBus()
    monkeypatch.setattr(usb, "SYSFS", tmp_path)
    monkeypatch.setattr(usb, "usb_backend", lambda: bus)
    text = (
        (FOLDER / "acme-rota.toml")
        .read_text()
        .replace('line = "baud=19200&parity=E"', 'scheme = "usb"\nline = "read=82&write=02"')
    )
    profile = parse_profile(text)
    codec = ProfileCodec("wheel", profile)
    plugged = bus.plug(VENDOR_READER)
    link = open_link(f"usb://0c2e:0b61?timeout=0.2&{profile.line}")
    for _, request in codec.polls():
        link.write(request)
    assert plugged.written == [b"\x02?\x033C"]
    plugged.report(b"\x0211S12", b"50\x0356", interface=1)
    readings = [*codec.feed(link.read(5), 1.0), *codec.feed(link.read(5), 1.0)]
    assert [reading.phase for reading in readings if isinstance(reading, WheelPhase)] == [
        "bets_open"
    ]
    link.close()
