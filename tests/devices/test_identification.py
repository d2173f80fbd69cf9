"""Which device sends is known from its bytes, or said to be unknown; it is never guessed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from devices.codec import Driver
from devices.drivers import DRIVERS, driver
from devices.identification import Identification, Match
from devices.profiles.drivers import driver_of
from devices.profiles.profile import parse_profile
from devices.recording import Recording, read_recording
from tests.support.for_each import for_each

RECORDINGS = sorted((Path(__file__).parents[1] / "recordings").glob("*.txt"))
SECONDS = 10.0
"""The time by which each device is known."""
UNKNOWN = {
    "acme-rota-spins": "a wheel of which only a site's profile knows",
    "barcode-serial-table": "a scanner of cards with codes that only a site knows",
    "idp-dice": "a camera of which only a site's profile knows",
    "idp-roulette-http": "a camera of which only a site's profile knows",
    "idp-roulette": "a camera of which only a site's profile knows",
}
"""Recordings of devices that no driver knows without its site."""
DRIVERS_OF = {
    scheme: [found for name in DRIVERS if (found := driver(name)).scheme == scheme]
    for scheme in ("serial", "usb", "mqtt")
}


def scheme_of(recording: Recording) -> str:
    return driver(recording.header["driver"]).scheme


def heard(recording: Recording, seconds: float = SECONDS) -> list[tuple[float, bytes]]:
    """What comes from the device in its first seconds."""
    end = b"\r\n" if recording.framing == "line" else b""
    received = [chunk for chunk in recording.chunks if not chunk.sent]
    return [
        (chunk.at, chunk.data + end) for chunk in received if chunk.at - received[0].at <= seconds
    ]


def identified(drivers: Sequence[Driver], chunks: Sequence[tuple[float, bytes]]) -> Match | None:
    identification = Identification(drivers)
    for at, data in chunks:
        identification.feed(data, at)
    return identification.match


@for_each("path", RECORDINGS)
def test_each_recorded_device_is_known_within_ten_seconds(path: Path) -> None:
    recording = read_recording(path)
    match = identified(DRIVERS_OF[scheme_of(recording)], heard(recording))
    if path.stem in UNKNOWN:
        assert match is None
    else:
        assert match is not None
        assert match.driver == recording.header["driver"]


@for_each("path", [path for path in RECORDINGS if path.stem not in UNKNOWN])
def test_no_beginning_of_a_recording_names_another_device(path: Path) -> None:
    recording = read_recording(path)
    identification = Identification(DRIVERS_OF[scheme_of(recording)])
    for at, data in heard(recording, 60.0):
        identification.feed(data, at)
        match = identification.match
        assert match is None or match.driver == recording.header["driver"]


@for_each("path", RECORDINGS)
def test_a_device_of_another_kind_is_unknown(path: Path) -> None:
    """Its own driver is not among those that listen."""
    recording = read_recording(path)
    others = [
        each for each in DRIVERS_OF[scheme_of(recording)] if each.name != recording.header["driver"]
    ]
    assert identified(others, heard(recording, 60.0)) is None


def test_a_profile_of_the_site_is_a_driver() -> None:
    tests = Path(__file__).parents[1]
    profile = driver_of(parse_profile((tests / "profiles" / "acme-rota.toml").read_text()))
    recording = read_recording(tests / "recordings" / "acme-rota-spins.txt")
    match = identified([*DRIVERS_OF["serial"], profile], heard(recording))
    assert match is not None
    assert match.driver == "acme-rota"


@pytest.mark.parametrize("seed", range(20))
def test_noise_is_unknown(seed: int) -> None:
    noise = random.Random(seed)
    alphabets = (
        bytes(range(256)),
        b"0123456789 ;\r\n*X",
        bytes(range(32, 127)) + b"\r\n",
        b"\0\xff",
    )
    for alphabet in alphabets:
        chunks = [
            (0.1 * number, bytes(noise.choices(alphabet, k=noise.randrange(1, 60))))
            for number in range(100)
        ]
        assert identified(DRIVERS_OF["serial"], chunks) is None


def at_wrong_speed(data: bytes, baud: int, read_at: int) -> bytes:
    """What a port makes of bytes (8N1) that are sent at another speed."""
    line = [level for byte in data for level in (0, *(byte >> bit & 1 for bit in range(8)), 1)]
    read, at, step = bytearray(), 0.0, baud / read_at
    while int(at + 9.5 * step) < len(line):
        if line[int(at)]:
            at = int(at) + 1.0  # idle: wait for the next start bit
            continue
        read.append(sum(line[int(at + (bit + 1.5) * step)] << bit for bit in range(8)))
        at = float(int(at + 9.5 * step) + 1)
    return bytes(read)


@for_each("path", [path for path in RECORDINGS if "hid" not in path.stem])
def test_a_wrong_speed_names_no_device(path: Path) -> None:
    recording = read_recording(path)
    chunks = heard(recording, 60.0)
    for baud, read_at in ((9600, 4800), (9600, 19200), (9600, 38400), (115200, 9600), (4800, 9600)):
        wrong = [(at, at_wrong_speed(data, baud, read_at)) for at, data in chunks]
        match = identified(DRIVERS_OF["serial"], wrong)
        assert match is None, (baud, read_at, match)
