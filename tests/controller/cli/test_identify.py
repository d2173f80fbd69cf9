"""``novamas identify`` names a device by listening. The device is a pseudo-terminal that knows the
speed at which it is read.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from controller.cli import identify, main
from devices.recording import read_recording
from tests.controller.cli.test_record_speeds import Device, frames_of

TESTS = Path(__file__).parents[2]
PROFILE = TESTS / "profiles" / "acme-rota.toml"


@pytest.mark.parametrize(
    ("name", "baud"), [("cammegh-ss2", 9600), ("angel-eye", 4800), ("boule-board", 115200)]
)
def test_driver_and_speed_are_named_and_nothing_is_sent(
    name: str, baud: int, capsys: pytest.CaptureFixture[str]
) -> None:
    device = Device(baud, frames_of(name))
    try:
        assert main(["identify", f"serial://{device.path}", "--seconds", "50"]) == 0
        assert device.heard == b""
    finally:
        device.close()
    printed = capsys.readouterr().out
    assert printed.startswith(f"{baud} baud, {name}, ")
    assert f'driver = "{name}"\nlink = "serial://{device.path}?baud={baud}"\n' in printed


def test_a_speed_that_is_given_is_the_only_one(capsys: pytest.CaptureFixture[str]) -> None:
    device = Device(9600, frames_of("cammegh-ss2"))
    url = f"serial://{device.path}?baud=4800"
    try:
        assert main(["identify", url, "--seconds", "2", "--json"]) == 1
    finally:
        device.close()
    found = json.loads(capsys.readouterr().out)
    assert found["driver"] is None
    assert [*found["received"]] == [url]


def test_a_profile_of_the_site_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    recording = read_recording(TESTS / "recordings" / "acme-rota-spins.txt")
    device = Device(9600, b"".join(chunk.data for chunk in recording.chunks))
    words = ["identify", f"serial://{device.path}", "--profile", str(PROFILE), "--seconds", "50"]
    try:
        assert main(words) == 0
    finally:
        device.close()
    printed = capsys.readouterr().out
    assert printed.startswith("9600 baud, acme-rota, ")
    assert 'driver = "profile"' in printed


def test_an_unknown_device_is_not_guessed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(identify, "SILENCE_SECONDS", 0.2)
    device = Device(9600, b"$GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M\r\n")
    try:
        assert main(["identify", f"serial://{device.path}", "--seconds", "4"]) == 1
    finally:
        device.close()
    error = capsys.readouterr().err
    assert "no driver understands what the device sends" in error
    assert "9600 baud: " in error
    assert "novamas record" in error


def test_silence_names_the_devices_that_must_be_asked(capsys: pytest.CaptureFixture[str]) -> None:
    device = Device(9600, b"")
    try:
        assert main(["identify", f"serial://{device.path}", "--seconds", "0.5"]) == 1
    finally:
        device.close()
    error = capsys.readouterr().err
    assert "no bytes were received" in error
    assert "saturn" in error
    assert "cammegh-ss2" not in error.partition("asked")[2]
