"""Log lines for a file that is full, closed or not read: no thread waits, and lost lines are
counted.
"""

from __future__ import annotations

import fcntl
import os
import struct
import termios
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TextIO, cast

import pytest
import structlog

from controller.service.log_output import LogOutput
from tests.support.waiting import until

F_SETPIPE_SZ = 1031
PIPE_BYTES = 4096
"""Bytes of the smallest possible pipe."""


OUTPUTS: list[LogOutput] = []
"""Outputs of the running test."""


@pytest.fixture
def ending() -> Iterator[ExitStack]:
    """Resources closed at the end, when no thread of the test writes any more."""
    with ExitStack() as stack:
        yield stack
        for each in OUTPUTS:  # its last line would go to a descriptor of the next test
            each.drain(30)
        OUTPUTS.clear()
    structlog.reset_defaults()


@pytest.fixture
def fifo(tmp_path: Path, ending: ExitStack) -> tuple[int, int, Path]:
    """Both ends of a pipe of the smallest size, and its name, to open it again."""
    path = tmp_path / "log"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    writer = os.open(path, os.O_WRONLY)
    fcntl.fcntl(writer, F_SETPIPE_SZ, PIPE_BYTES)
    ending.callback(os.close, writer)
    return reader, writer, path


def output(descriptor: int, capacity: int = 1000) -> LogOutput:
    """An output that is also the log's, which reports lost lines there."""
    made = LogOutput(descriptor, capacity)
    OUTPUTS.append(made)
    render = structlog.processors.KeyValueRenderer(key_order=["event"])
    structlog.configure(
        processors=[render], logger_factory=structlog.WriteLoggerFactory(cast("TextIO", made))
    )
    return made


def held(reader: int) -> int:
    """Bytes that wait in the pipe."""
    return struct.unpack("i", fcntl.ioctl(reader, termios.FIONREAD, b"\0" * 4))[0]  # type: ignore[no-any-return]


def test_lines_arrive_complete_and_in_order(fifo: tuple[int, int, Path]) -> None:
    reader, writer, _ = fifo
    made = output(writer)
    for number in range(100):
        made.write(f"line {number}\n")
    made.drain(30)
    assert os.read(reader, PIPE_BYTES).decode().splitlines() == [
        f"line {number}" for number in range(100)
    ]
    assert (made.lost, made.trouble) == (0, None)
    os.close(reader)


def test_a_full_disk_is_counted(ending: ExitStack) -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    ending.callback(os.close, full)
    made = output(full)
    made.write("one\n")
    made.write("two\n")
    made.drain(30)
    assert (made.lost, made.trouble) == (2, "No space left on device")


def test_lines_for_a_closed_pipe_are_counted_and_reported_once_it_is_read_again(
    fifo: tuple[int, int, Path],
) -> None:
    reader, writer, path = fifo
    made = output(writer)
    os.close(reader)
    made.write("nobody hears this\n")
    made.write("nor this\n")
    made.drain(30)
    assert (made.lost, made.trouble) == (2, "Broken pipe")
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    made.write("somebody hears this\n")
    made.drain(30)
    made.drain(30)  # its own report comes after
    assert os.read(reader, PIPE_BYTES).decode().splitlines() == [
        "somebody hears this",
        "event='log lines were lost' count=2",
    ]
    assert (made.lost, made.trouble) == (2, None)
    os.close(reader)


def test_a_line_that_was_cut_off_does_not_spoil_the_next(fifo: tuple[int, int, Path]) -> None:
    reader, writer, path = fifo
    made = output(writer)
    made.write("x" * 2 * PIPE_BYTES + "\n")
    until("half of it is written", lambda: held(reader) == PIPE_BYTES)
    os.close(reader)
    until("the rest is lost", lambda: made.lost == 1)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    assert os.read(reader, 2 * PIPE_BYTES) == b"x" * PIPE_BYTES
    made.write("whole\n")
    made.drain(30)
    assert os.read(reader, PIPE_BYTES).decode().splitlines()[:2] == ["", "whole"]
    os.close(reader)


@pytest.mark.parametrize("blocking", [True, False])
def test_no_thread_waits_for_a_pipe_that_is_not_read(
    fifo: tuple[int, int, Path], blocking: bool
) -> None:
    reader, writer, _ = fifo
    os.set_blocking(writer, blocking)
    made = output(writer, capacity=5)
    line = "x" * (PIPE_BYTES // 2 - 1) + "\n"
    made.write(line * 2)
    made.write(line)
    until("the pipe is full and the next line taken up", lambda: made._waiting.empty())
    for _ in range(8):
        made.write(line)
    assert made.lost == 3
    assert made.trouble == "the log is not read: 5 lines are waiting"
    told = b""
    while b"log lines were lost" not in told:
        until("more is written", lambda: held(reader))
        told += os.read(reader, PIPE_BYTES)
    assert told.decode().splitlines() == [line.strip()] * 8 + [
        "event='log lines were lost' count=3"
    ]
    until("all is well", lambda: made.trouble is None)
    assert made.lost == 3
    os.close(reader)
