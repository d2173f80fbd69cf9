"""``novamas record`` at a wrong speed: it reports so, and the speed at which the device is
understood. The device is a pseudo-terminal that knows the speed at which it is read.
"""

from __future__ import annotations

import os
import re
import termios
import threading
import tty
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from controller.cli import main, speeds
from devices.codec import RequestingCodec
from devices.drivers import DRIVERS, driver
from devices.recording import read_recording
from tests.devices.test_recordings import RECORDINGS
from tests.support.waiting import TIMEOUT_SECONDS

SPEEDS = {
    getattr(termios, name): int(name[1:]) for name in dir(termios) if re.fullmatch(r"B\d+", name)
}


class Device:
    """Repeats the same data; at another speed than its own it cannot be understood."""

    def __init__(self, baud: int, data: bytes, before: bytes = b"") -> None:
        """``before``: sent once, when it is first read at its own speed."""
        self.baud = baud
        self._before = before
        self.heard = b""
        self._data = data
        self._fd, port = os.openpty()
        tty.setraw(port)
        settings = termios.tcgetattr(port)
        # no device's speed: nothing right is sent too early
        settings[4] = settings[5] = termios.B50
        termios.tcsetattr(port, termios.TCSANOW, settings)
        self.path = os.ttyname(port)
        self._port = port  # so that it has a speed while no program reads
        os.set_blocking(self._fd, False)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._ended.wait(0.02):
            right = SPEEDS.get(termios.tcgetattr(self._fd)[4]) == self.baud
            said = self._data if right else bytes(byte & 0x55 | 0x80 for byte in self._data)
            if right:
                said, self._before = self._before + said, b""
            with suppress(BlockingIOError):
                self.heard += os.read(self._fd, 1000)
            with suppress(BlockingIOError):
                os.write(self._fd, said)

    def close(self) -> None:
        self._ended.set()
        self._thread.join(TIMEOUT_SECONDS)
        os.close(self._fd)
        os.close(self._port)


def frames_of(name: str) -> bytes:
    """The beginning of what such a device sent."""
    recorded = [read_recording(path) for path in RECORDINGS]
    chunks = next(each for each in recorded if each.header["driver"] == name)
    return b"".join(chunk.data for chunk in chunks if not chunk.sent)[:300]


def serial_drivers() -> Iterator[str]:
    for name in DRIVERS:
        found = driver(name)
        if found.described is None and found.scheme == "serial":
            yield name


def asks(name: str) -> bool:
    codec = driver(name).make("device", driver(name).options())
    return isinstance(codec, RequestingCodec) or any(every > 0 for every, _ in codec.polls())


@pytest.mark.parametrize("name", [*serial_drivers()])
def test_the_right_speed_is_reported_for_every_driver_that_sends_no_request(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    usual = int(driver(name).line.removeprefix("baud="))
    device = Device(usual, frames_of(name))
    wrong = 2400 if usual != 2400 else 9600
    url = f"serial://{device.path}?baud={wrong}&stopbits=1"
    try:
        status = main(
            ["record", url, str(tmp_path / "x.rec"), "--driver", name, "--seconds", "1.5"]
        )
        heard = device.heard
    finally:
        device.close()
    errors = capsys.readouterr().err
    assert status == 1
    assert re.search(r"novamas: \S+: \d+ bytes but no valid frame; check the baud rate", errors)
    if asks(name):
        assert "no other speed is tried: the device sends only when requested" in errors
        return
    found = re.search(rf"{usual} baud: (\d+) of (\d+) frames", errors)
    assert found
    assert int(found[1]) > 0
    assert f"record again with serial://{device.path}?baud={usual}&stopbits=1" in errors
    # data sent once at opening was sent while it was recorded
    assert heard.count(b"*") <= len(driver(name).make("d", driver(name).options()).polls())


def test_an_unusual_speed_is_found_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    device = Device(38400, frames_of("bee-tek"))
    url = f"serial://{device.path}?baud=9600"
    try:
        words = ["record", url, str(tmp_path / "x.rec"), "--driver", "bee-tek", "--seconds", "1.5"]
        assert main(words) == 1
    finally:
        device.close()
    errors = capsys.readouterr().err
    tried = re.findall(r"^  (\d+) baud: ", errors, re.MULTILINE)
    assert tried[-1] == "38400"
    assert "9600" not in tried
    assert re.search(r"38400 baud: \d+ of \d+ frames: record again with \S+\?baud=38400$", errors)


def test_data_sent_at_the_previous_speed_does_not_hide_the_right_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    device = Device(9600, frames_of("bee-tek"), before=b"\x95\x55\r" * 200)
    url = f"serial://{device.path}?baud=2400"
    try:
        words = ["record", url, str(tmp_path / "x.rec"), "--driver", "bee-tek", "--seconds", "1.5"]
        assert main(words) == 1
    finally:
        device.close()
    errors = capsys.readouterr().err
    assert f"record again with serial://{device.path}?baud=9600" in errors


def test_the_speed_is_not_blamed_for_a_wrong_driver(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(speeds, "LISTEN_SECONDS", 1.0)
    device = Device(9600, b"$GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M\r\n")
    url = f"serial://{device.path}?baud=9600"
    try:
        words = ["record", url, str(tmp_path / "x.rec"), "--driver", "zvonimir-king"]
        assert main([*words, "--seconds", "1.5"]) == 1
    finally:
        device.close()
    errors = capsys.readouterr().err
    assert "no frames at any usual speed: check the driver, parity and the wiring" in errors


def test_a_device_server_has_its_own_speed() -> None:
    codec = driver("bee-tek").make("device", driver("bee-tek").options())
    assert speeds.why_not("tcp://127.0.0.1:1", codec) == "the device server sets the speed"
    assert speeds.why_not("rfc2217://127.0.0.1:1?baud=9600", codec) is None
    assert speeds.why_not("replay:///x", codec) == "the link has no speed"


def test_at_the_right_speed_nothing_is_tried(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    device = Device(9600, frames_of("bee-tek"))
    url = f"serial://{device.path}?baud=9600"
    try:
        words = ["record", url, str(tmp_path / "x.rec"), "--driver", "bee-tek", "--seconds", "1.5"]
        assert main(words) == 0
    finally:
        device.close()
    errors = capsys.readouterr().err
    assert "speeds are tried" not in errors
    assert " baud: " not in errors


def test_a_recording_without_a_driver_names_the_one_that_understands_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    device = Device(9600, frames_of("cammegh-ss2"))
    words = ["record", f"serial://{device.path}?baud=9600", str(tmp_path / "x.rec")]
    try:
        assert main([*words, "--seconds", "1.5"]) == 0
    finally:
        device.close()
    assert "it is understood by cammegh-ss2, " in capsys.readouterr().err
