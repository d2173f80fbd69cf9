"""``novamas record``, as a process on a real pseudo-terminal or socket."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import tty
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from common.readings import DeviceReport
from devices.recording import read_recording
from tests.daemon.test_boards import Simulated
from tests.devices.test_recordings import readings_of
from tests.devices.wheel.asked_slingshot import VALUES
from tests.support.programs import running
from tests.support.waiting import TIMEOUT_SECONDS, until

pytestmark = pytest.mark.usefixtures("programs")

NOVAMAS = Path(sys.executable).with_name("novamas")
STATUS = b"*X;2;002;32;0;174;1\r\n"

REPLIES = {
    request.encode(): reply.encode() + b"\r\n"
    for request, reply in (VALUES | {"*s t": "*s t 1"}).items()
}

Record = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def terminal() -> Iterator[tuple[int, str]]:
    """A pseudo-terminal: the descriptor of the device's side, and the path of the other."""
    device, ours = os.openpty()
    tty.setraw(ours)
    path = os.ttyname(ours)
    os.close(ours)
    yield device, path
    os.close(device)


@pytest.fixture
def record(ending: ExitStack) -> Record:
    """``record(*words)``: start the program; it ends with the test."""

    def start(*words: str | Path) -> subprocess.Popen[str]:
        program = [NOVAMAS, "record", *words]
        return ending.enter_context(running(program, stderr=subprocess.PIPE, text=True))

    return start


def written(process: subprocess.Popen[str], file: Path, device: int, data: bytes) -> None:
    """Send something until it is in the file. (The driver's requests are recorded too.)"""

    def stands() -> bool:
        if file.exists() and any(not chunk.sent for chunk in read_recording(file)):
            return True
        assert process.poll() is None, process.stderr and process.stderr.read()
        os.write(device, data)
        time.sleep(0.05)  # else it is full before anything is read
        return False

    until(f"{file.name} is written", stands)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_cleanly(
    tmp_path: Path, terminal: tuple[int, str], record: Record, number: signal.Signals
) -> None:
    device, path = terminal
    file = tmp_path / "wheel.rec"
    process = record(
        f"serial://{path}?baud=9600", file, "--driver", "cammegh-ss2", "--note", "two\nlines"
    )
    written(process, file, device, STATUS)
    process.send_signal(number)
    _, errors = process.communicate(timeout=TIMEOUT_SECONDS)
    assert process.returncode == 0, errors
    recording = read_recording(file)
    assert recording.problems == []
    assert b"".join(chunk.data for chunk in recording if not chunk.sent).startswith(STATUS)
    assert recording.header["driver"] == "cammegh-ss2"
    assert recording.header["framing"] == "raw"
    assert recording.header["note"] == "two lines"
    assert recording.header["link"] == f"serial://{path}?baud=9600"
    assert recording.header["link-port"] == path
    assert f"{file}: " in errors
    assert " frames, 0 damaged" in errors


def test_a_lost_device_is_reported_and_what_was_received_is_kept(
    tmp_path: Path, record: Record
) -> None:
    file = tmp_path / "wheel.rec"
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(TIMEOUT_SECONDS)
        process = record(f"tcp://127.0.0.1:{server.getsockname()[1]}", file)
        connection, _ = server.accept()
        with connection:
            connection.sendall(b"\x00\xffabc")
    _, errors = process.communicate(timeout=TIMEOUT_SECONDS)
    assert process.returncode == 1
    assert "; recorded until then: 5 bytes in 1 chunks" in errors
    assert [chunk.data for chunk in read_recording(file)] == [b"\x00\xffabc"]


def test_it_ends_after_the_given_seconds_and_reports_no_data(
    tmp_path: Path, terminal: tuple[int, str], record: Record
) -> None:
    process = record(f"serial://{terminal[1]}", tmp_path / "x.rec", "--seconds", "0.1")
    _, errors = process.communicate(timeout=TIMEOUT_SECONDS)
    assert process.returncode == 1
    assert "no bytes were received" in errors


def test_a_port_that_is_in_use_is_reported(
    tmp_path: Path, terminal: tuple[int, str], record: Record
) -> None:
    device, path = terminal
    first = record(f"serial://{path}", tmp_path / "first.rec")
    written(first, tmp_path / "first.rec", device, STATUS)
    second = record(f"serial://{path}", tmp_path / "second.rec")
    _, errors = second.communicate(timeout=TIMEOUT_SECONDS)
    assert second.returncode == 1
    assert path in errors
    assert "recorded" not in errors
    assert not (tmp_path / "second.rec").exists()
    first.send_signal(signal.SIGINT)
    first.communicate(timeout=TIMEOUT_SECONDS)
    assert first.returncode == 0


@pytest.mark.parametrize(
    ("url", "name", "message"),
    [
        ("ttyUSB0", "new.rec", "ttyUSB0: an address begins with its scheme"),
        ("serial:///dev/novamas-lost", "new.rec", "/dev/novamas-lost"),
        ("serial:///dev/null", "there.rec", "there.rec already exists"),
    ],
)
def test_a_wrong_call_is_reported(
    tmp_path: Path, record: Record, url: str, name: str, message: str
) -> None:
    (tmp_path / "there.rec").write_text("precious")
    process = record(url, tmp_path / name)
    _, error = process.communicate(timeout=TIMEOUT_SECONDS)
    assert process.returncode == 1
    assert error.startswith("novamas: ")
    assert message in error
    assert (tmp_path / "there.rec").read_text() == "precious"


def test_a_device_that_its_driver_polls_is_polled(
    tmp_path: Path, record: Record, ending: ExitStack
) -> None:
    file, bus = tmp_path / "slots.rec", tmp_path / "bus"
    acceptor = Simulated(bus, "slot", "cctalk-acceptor", "--boxes", "1", "--speed", "1")
    ending.callback(acceptor.close)
    acceptor.say("start")
    process = record(f"serial://{bus}?baud=9600", file, "--driver", "cctalk-acceptor")

    def is_set_up() -> bool:
        assert process.poll() is None, process.stderr and process.stderr.read()
        recording = read_recording(file) if file.exists() else None
        if not recording:  # the file is there before its header, and that before the first chunk
            return False
        return any(
            isinstance(reading, DeviceReport) and reading.report == "coins"
            for reading in readings_of(recording)
        )

    until("the acceptor is set up", is_set_up)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=TIMEOUT_SECONDS)
    assert process.returncode == 0, errors
    assert any(chunk.sent for chunk in read_recording(file))


def test_the_win_log_of_a_wheel_is_recorded_whatever_its_pages_are(
    tmp_path: Path, record: Record, terminal: tuple[int, str]
) -> None:
    """A page that no guide describes: the driver does not understand it, the recording has it."""
    device, port = terminal
    file, page = tmp_path / "log.rec", b"\x02page 1 of 1: " + bytes(range(128, 160))
    words = ("--driver", "cammegh-ss2", "--option", "ask=true", "--option", "period=0.4")
    process = record(f"serial://{port}?baud=9600", file, *words, "--option", "heard_twice=false")
    os.set_blocking(device, False)
    received = b""

    def is_recorded() -> bool:
        nonlocal received
        assert process.poll() is None, process.stderr and process.stderr.read()
        os.write(device, b"*X;6;001;  ;0;000;0\r\n")
        time.sleep(
            0.4
        )  # the pace of the wheel: 0.2 s more, of which `until` has 0.05, is a silence
        with suppress(OSError):  # nothing was sent, or the port is not open yet
            received += os.read(device, 4096)
        *requests, received = received.split(b"\r\n")
        for request in requests:
            os.write(device, REPLIES.get(request, b""))
            if request == b"*s r 0":
                os.write(device, page + b"\r\n")
        recording = read_recording(file) if file.exists() else ()
        return page in b"".join(chunk.data for chunk in recording if not chunk.sent)

    until("the page is recorded", is_recorded)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=TIMEOUT_SECONDS)
    assert process.returncode == 0, errors
    recording = read_recording(file)
    assert recording.header["options"] == "ask=true, period=0.4, heard_twice=false"
    assert any(chunk.sent and b"*s r 0" in chunk.data for chunk in recording)
    assert not any(b"*s e" in chunk.data for chunk in recording)
