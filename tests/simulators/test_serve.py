"""The simulator as a program: a real pseudo-terminal read by pyserial, a real TCP socket, signals
and standard input.
"""

from __future__ import annotations

import json
import re
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import serial

from tests.support.programs import running
from tests.support.waiting import TIMEOUT_SECONDS

STATUS = re.compile(rb"\*X;[1-6];\d{3};..;[0-9A-F];\d{3};[01]\r\n")
ROUNDED = 0.001
"""Seconds by which the simulator may err in what it says of the time."""
Start = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def start(programs: None, ending: ExitStack) -> Start:
    def run(*words: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "simulators", "wheel", *words]
        return ending.enter_context(piped(command))

    return run


def piped(command: list[str]) -> AbstractContextManager[subprocess.Popen[bytes]]:
    """Without a buffer of our own, in which ``select`` would not see a second line."""
    return running(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
    )


def told(program: subprocess.Popen[bytes]) -> dict[str, Any]:
    """The next line that the simulator says of itself."""
    assert program.stdout is not None
    assert select.select([program.stdout], [], [], TIMEOUT_SECONDS)[0], "the simulator says nothing"
    line: dict[str, Any] = json.loads(program.stdout.readline())
    return line


def tell(program: subprocess.Popen[bytes], line: str) -> None:
    assert program.stdin is not None
    program.stdin.write(line.encode() + b"\n")
    program.stdin.flush()


def read_until(read: Callable[[], bytes], wanted: bytes) -> bytes:
    """Read until something was received."""
    received, end = b"", time.monotonic() + TIMEOUT_SECONDS
    while wanted not in received:
        assert time.monotonic() < end, f"{wanted!r} did not come, but {received[-200:]!r}"
        received += read()
    return received


def port_of(program: subprocess.Popen[bytes]) -> serial.Serial:
    return serial.Serial(told(program)["port"], 9600, timeout=0.2, exclusive=True)


def test_a_pseudo_terminal_speaks_and_listens(start: Start, tmp_path: Path) -> None:
    link = tmp_path / "wheel"
    program = start("--link", str(link), "--speed", "20", "--mode", "1159")
    with port_of(program) as port:
        assert link.is_symlink()
        received = read_until(lambda: port.read(100), b"*X;6;001;  ;0;000;0\r\n")
        port.write(b"*P 1\r")
        received += read_until(lambda: port.read(100), b"*P OK\r\n")
        received += read_until(lambda: port.read(100), b"*X;2;")
        port.write(b"*u 1\r\n")
        received += read_until(lambda: port.read(100), b"*X;5;")
        lines = received.splitlines(keepends=True)[1:-1]
        others = [line for line in lines if not STATUS.fullmatch(line)]
        assert [line for line in others if len(line) != 4] == [b"*P OK\r\n", b"*u OK\r\n"]
    program.send_signal(signal.SIGTERM)
    assert program.wait(TIMEOUT_SECONDS) == 0
    assert not link.is_symlink()


def test_a_late_reader_of_the_port_gets_no_old_bytes(start: Start) -> None:
    program = start("--speed", "20")
    address = told(program)["port"]
    for _ in range(2):
        with serial.Serial(address, 9600, timeout=0.2) as port:
            first = read_until(partial(port.read, 1), b"\n")
            assert len(first) <= 22  # at most one line, perhaps cut at its start


def test_unplugged_and_back_under_the_same_link(start: Start, tmp_path: Path) -> None:
    link = tmp_path / "wheel"
    program = start("--link", str(link), "--speed", "20")
    with port_of(program) as port:
        read_until(lambda: port.read(100), b"*X;")
        tell(program, "fault unplug 1")
        with pytest.raises((serial.SerialException, OSError)):
            read_until(lambda: port.read(100), b"never")
    assert told(program)["fault"] == "unplug"
    assert told(program)["port"] == str(link)
    with serial.Serial(str(link), 9600, timeout=0.2) as port:
        read_until(lambda: port.read(100), b"*X;")


def test_faults_from_standard_input_and_from_the_schedule(start: Start) -> None:
    program = start("--speed", "50", "--fault", "1:damaged=0x2", "--wait")
    with port_of(program) as port:
        tell(program, "thunder")
        tell(program, "start")
        assert told(program) == {"at": 1.0, "fault": "damaged", "value": 0.0, "times": 2}
        tell(program, "duplicate x2")
        assert told(program)["fault"] == "duplicate"
        read_until(lambda: port.read(100), b"*X;2;")
    program.terminate()
    _, errors = program.communicate(timeout=TIMEOUT_SECONDS)
    assert errors.startswith(b"simulator: no fault 'thunder'; there are: silence")
    assert errors.count(b"\n") == 1


def test_another_speed_and_a_fault_for_later_from_standard_input(start: Start) -> None:
    program = start("--wait")
    with port_of(program) as port:
        tell(program, "speed 0")
        tell(program, "speed 500")
        begun = time.monotonic()
        tell(program, "start")
        tell(program, "30:damaged x3")
        struck = told(program)
        assert (struck["fault"], struck["times"]) == ("damaged", 3)
        later = struck["at"] - 30.0
        assert 0.0 <= later <= 500 * (time.monotonic() - begun) + ROUNDED
        tell(program, "speed 1")
        begun = time.monotonic()
        tell(program, "duplicate")
        slow = told(program)["at"]
        tell(program, "duplicate")
        assert 0.0 <= told(program)["at"] - slow <= time.monotonic() - begun + ROUNDED
        read_until(lambda: port.read(100), b"*X;")
    program.terminate()
    _, errors = program.communicate(timeout=TIMEOUT_SECONDS)
    assert errors == b"simulator: 0 is not a speed; write a number above 0\n"


def test_ends_after_its_rounds(start: Start) -> None:
    program = start("--speed", "200", "--rounds", "2", "--numbers", "17,17", "--tell-lines")
    out, errors = program.communicate(timeout=TIMEOUT_SECONDS)
    assert (program.returncode, errors) == (0, b"")
    lines = [json.loads(line).get("line", "") for line in out.splitlines()]
    bare = [line for line in lines if not line.startswith("*")]
    assert [line for line in bare if line.strip()][:2] == ["17", "17"]
    assert any(
        line.startswith("*X;1;003;17;") for line in lines
    )  # it keeps running for a moment: a host needs time to read the number


def test_ends_with_standard_input_only_on_request(start: Start) -> None:
    ends, stays = start("--end-with-stdin"), start()
    for program in (ends, stays):
        told(program)
        assert program.stdin is not None
        program.stdin.close()
        program.stdin = None
    assert ends.wait(TIMEOUT_SECONDS) == 0
    assert stays.poll() is None
    stays.send_signal(signal.SIGINT)
    assert stays.wait(TIMEOUT_SECONDS) == 0


def test_tcp_serves_several_hosts_and_comes_back(start: Start) -> None:
    program = start("--tcp", "127.0.0.1:0", "--speed", "20")
    address = told(program)["port"]
    host, port = address.removeprefix("tcp://").split(":")
    with (
        socket.create_connection((host, int(port)), TIMEOUT_SECONDS) as one,
        socket.create_connection((host, int(port)), TIMEOUT_SECONDS) as two,
    ):
        one.sendall(b"*S\r\n")
        read_until(lambda: one.recv(100), b"*X;")
        read_until(lambda: two.recv(100), b"*X;")
        one.sendall(b"*S\r\n")
        read_until(lambda: two.recv(100), b"*S 2.52\r\n")
        tell(program, "unplug 1")
        while one.recv(100):
            pass
    assert told(program)["fault"] == "unplug"
    assert told(program)["port"] == address
    with socket.create_connection((host, int(port)), TIMEOUT_SECONDS) as again:
        read_until(lambda: again.recv(100), b"*X;")


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--pockets", "36"], b"invalid choice"),
        (["--fault", "5:thunder"], b"no fault 'thunder'"),
        (["--speed", "0"], b"not a number above 0"),
        (["--rounds", "0"], b"not a whole number of at least 1"),
        (["--tcp", "nowhere"], b"nowhere is not an address"),
        (["--link", "/nowhere/wheel"], b"/nowhere"),
        (
            ["--protocol", "angel-eye"],
            b"no wheel has the protocol angel-eye; there are: cammegh-ss2",
        ),
        (["--fault", "5:cut_card"], b"cammegh-ss2 has no fault cut_card"),
        (["--cards", "7h,1s"], b"1s is not a card"),
    ],
)
def test_usage_errors_are_explained(words: list[str], expected: bytes) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "simulators", "wheel", *words],
        capture_output=True,
        check=False,
        timeout=TIMEOUT_SECONDS,
    )
    assert done.returncode != 0
    assert expected in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.usefixtures("programs")
def test_a_file_in_the_place_of_the_link_is_left_alone(tmp_path: Path) -> None:
    taken = tmp_path / "wheel"
    taken.write_text("mine")
    command = [sys.executable, "-m", "simulators", "wheel", "--link", str(taken)]
    done = subprocess.run(command, capture_output=True, check=False, timeout=TIMEOUT_SECONDS)
    assert done.returncode == 1
    assert b"not a symbolic link" in done.stderr
    assert taken.read_text() == "mine"


def test_novamas_simulate_becomes_the_simulator(start: Start) -> None:
    command = [
        sys.executable,
        "-m",
        "controller.cli",
        "simulate",
        "wheel",
        "--speed",
        "500",
        "--rounds",
        "1",
        "--numbers",
        "5",
    ]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=TIMEOUT_SECONDS
    )
    assert done.returncode == 0
    assert json.loads(done.stdout)["protocol"] == "cammegh-ss2"


def test_the_devices_line_is_reported_as_it_was_before_the_damage(
    start: Start,
) -> None:
    program = start("--speed", "20", "--tell-lines", "--fault", "0:damaged x5000")
    with port_of(program) as port:
        received = read_until(lambda: port.read(100), b"\r\n")
    lines = [line for line in (told(program) for _ in range(4)) if "line" in line]
    assert {line["line"] for line in lines} == {"*X;6;001;  ;0;000;0"}
    assert b"*X;6;001;  ;0;000;0" not in received


@pytest.mark.usefixtures("programs")
def test_novamas_simulate_becomes_a_shoe(tmp_path: Path) -> None:
    link = tmp_path / "shoe"
    words = [
        "--protocol",
        "angel-eye",
        "--link",
        str(link),
        "--speed",
        "20",
        "--no-burn",
        "--cards",
        "9h,2c,Kd,3s",
        "--wait",
    ]
    command = [sys.executable, "-m", "controller.cli", "simulate", "shoe", *words]
    with piped(command) as program:
        assert told(program) == {
            "port": str(link),
            "protocol": "angel-eye",
            "seed": 1,
            "speed": 20.0,
        }
        with serial.Serial(str(link), 4800, timeout=0.2) as port:
            tell(program, "sensor")
            tell(program, "bad_bcc")
            tell(program, "start")
            received = read_until(lambda: port.read(port.in_waiting or 1), b"D\x92\xb3\x03")
            assert received.count(b"D\x81\xc9\x03") == 3
            port.write(b"\x02OPLK02\x031B")
            read_until(lambda: port.read(port.in_waiting or 1), b"\x06")
        program.terminate()
        _, errors = program.communicate(timeout=TIMEOUT_SECONDS)
    assert errors.startswith(b"simulator: no fault 'sensor'; there are: silence")
