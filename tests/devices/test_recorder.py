"""The recorder: what it keeps, what it says is missing, and that nothing waits for its disk."""

from __future__ import annotations

import os
import resource
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from devices.recorder import (
    MAX_QUEUED_CHUNKS,
    WRITE_DELAY_SECONDS,
    DeviceRecorder,
    RecordingThread,
)
from devices.recording import read_recording
from devices.recording_writer import RecordingWriter
from tests.support.waiting import TIMEOUT_SECONDS


def wait_until(condition: Callable[[], Any]) -> None:
    give_up = time.monotonic() + TIMEOUT_SECONDS
    while not condition() and time.monotonic() < give_up:
        time.sleep(0.005)
    assert condition()


def test_both_directions_are_kept_in_their_order(tmp_path: Path) -> None:
    recorder = DeviceRecorder(RecordingWriter(tmp_path / "wheel.rec", {"device": "wheel"}))
    recorder.enqueue(1.0, b"*X;2\r\n\xff")
    recorder.enqueue(2.0, b"*P 1\r\n", sent=True)
    recorder.enqueue(3.5, b"*P OK\r\n")
    recorder.close()
    recording = read_recording(tmp_path / "wheel.rec")
    assert not recording.problems
    assert [(chunk.at, chunk.data, chunk.sent) for chunk in recording] == [
        (0.0, b"*X;2\r\n\xff", False),
        (1.0, b"*P 1\r\n", True),
        (2.5, b"*P OK\r\n", False),
    ]


def test_stored_data_is_written_without_a_request(tmp_path: Path) -> None:
    path = tmp_path / "wheel.rec"
    recorder = DeviceRecorder(RecordingWriter(path, {}))
    for wanted in range(1, 4):
        recorder.enqueue(float(wanted), b"ok")
        wait_until(lambda: path.exists() and len(read_recording(path)) == wanted)  # noqa: B023
    recorder.close()


def test_one_thread_writes_all_recordings_and_ends_with_the_last(tmp_path: Path) -> None:
    def threads() -> int:
        return sum(thread.name == "recorder" for thread in threading.enumerate())

    wait_until(lambda: threads() == 0)
    recorders = [
        DeviceRecorder(RecordingWriter(tmp_path / f"{number}.rec", {})) for number in range(50)
    ]
    for recorder in recorders:
        for number in range(10):
            recorder.enqueue(float(number), b"%d" % number)
    assert threads() == 1
    for recorder in recorders:
        recorder.close()
    wait_until(lambda: threads() == 0)
    for number in range(50):
        chunks = read_recording(tmp_path / f"{number}.rec").chunks
        assert [chunk.data for chunk in chunks] == [b"%d" % number for number in range(10)]


def test_a_full_disk_is_reported_once_and_disturbs_nothing() -> None:
    told: list[str | None] = []
    recorder = DeviceRecorder(RecordingWriter("/dev/full", {}), told.append)
    for number in range(5):
        recorder.enqueue(float(number), b"ok\n")
        time.sleep(WRITE_DELAY_SECONDS / 4)
    recorder.close()
    assert len(told) == 1
    assert "No space left" in str(told[0])


def test_a_recording_continues_when_the_disk_has_room_again_and_notes_the_gap(
    tmp_path: Path,
) -> None:
    path = tmp_path / "wheel.rec"
    path.symlink_to("/dev/full")
    told: list[str | None] = []
    recorder = DeviceRecorder(RecordingWriter(path, {}), told.append)
    recorder.enqueue(0.0, b"lost", sent=True)
    wait_until(lambda: told)
    path.unlink()
    recorder.enqueue(1.0, b"kept", sent=True)
    recorder.close()
    assert told == [told[0], None]
    assert [chunk.data for chunk in read_recording(path)] == [b"kept"]
    assert "# 1 chunks are missing here" in path.read_text()


class WriteOnRequest(RecordingThread):
    """Writes in the caller's thread, and only what must be written at once: runs stay whole."""

    def __init__(self) -> None:
        self.recorders: list[DeviceRecorder] = []

    def add(self, recorder: DeviceRecorder) -> None:
        self.recorders.append(recorder)

    def wake(self, *, now: bool) -> None:
        if now:
            for recorder in self.recorders:
                recorder.write_queued()


def written_on_request(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[WriteOnRequest, DeviceRecorder, list[str | None]]:
    """A recorder whose thread writes when it is asked to, and what it reports."""
    thread = WriteOnRequest()
    monkeypatch.setattr("devices.recorder.THREAD", thread)
    told: list[str | None] = []
    return thread, DeviceRecorder(RecordingWriter(path, {}), told.append), told


def test_a_run_that_finds_half_its_room_is_missing_as_a_whole_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "wheel.rec"
    thread, recorder, told = written_on_request(path, monkeypatch)

    def run(at: float, data: bytes) -> None:
        for number, byte in enumerate(data):
            recorder.enqueue(at + number / 1000, bytes([byte]))
        thread.wake(now=True)

    run(1.0, b"*X;2;001; 7\r\n")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 30, hard))
    try:
        run(2.0, b"*X;2;002; 8\r\n")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert len(told) == 1
    run(3.0, b"*X;2;003; 9\r\n")
    recorder.close()
    found = read_recording(path)
    assert b"".join(chunk.data for chunk in found) == b"*X;2;001; 7\r\n*X;2;003; 9\r\n"
    assert "# 13 chunks are missing here" in path.read_text()
    assert found.problems
    assert told[1:] == [None]


def test_all_lines_that_wait_are_one_write_and_those_before_a_cut_are_not_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "wheel.rec"
    thread, recorder, told = written_on_request(path, monkeypatch)
    writes: list[int] = []
    write = os.write

    def counted(file: int, data: bytes) -> int:
        writes.append(len(data))
        return write(file, data)

    monkeypatch.setattr(os, "write", counted)

    def lines(first: int) -> None:
        for number in range(first, first + 4):
            recorder.enqueue(float(number), b"*X;%d\r\n" % number)
        thread.wake(now=True)

    lines(1)
    lines(5)
    size = path.stat().st_size
    assert writes == [size - writes[1], writes[1]]
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + writes[1] // 4 + 30, hard))
    try:
        lines(9)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert len(told) == 1
    lines(13)
    recorder.close()
    found = [(chunk.at, chunk.data) for chunk in read_recording(path)]
    kept = (*range(1, 10), *range(13, 17))
    assert found == [(number - 1.0, b"*X;%d\r\n" % number) for number in kept]
    assert "# 3 chunks are missing here" in path.read_text()
    assert told[1:] == [None]


class Stuck(RecordingWriter):
    """A disk that does not respond until it is let go."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, {})
        self.entered = threading.Event()
        self.go = threading.Event()

    def write(self, at: float, data: bytes, sent: bool = False) -> None:
        self.entered.set()
        self.go.wait(TIMEOUT_SECONDS)
        super().write(at, data, sent)


@pytest.mark.parametrize("more", [1, 7])
def test_what_a_slow_disk_had_no_room_for_is_reported_where_it_is_missing(
    tmp_path: Path, more: int
) -> None:
    told: list[str | None] = []
    writer = Stuck(tmp_path / "wheel.rec")
    recorder = DeviceRecorder(writer, told.append)
    recorder.enqueue(0.0, b"0")
    assert writer.entered.wait(TIMEOUT_SECONDS)
    for number in range(1, MAX_QUEUED_CHUNKS + more + 1):
        recorder.enqueue(float(number), b"%d" % number)
    assert told == ["not recorded: the disk is too slow"]
    writer.go.set()
    wait_until(lambda: not recorder._queue)
    recorder.enqueue(5000.0, b"last")
    wait_until(lambda: None in told)
    recorder.close()
    lines = (tmp_path / "wheel.rec").read_text().splitlines()
    assert lines[-2] == f"# {more} chunks are missing here"
    chunks = read_recording(tmp_path / "wheel.rec").chunks
    assert [chunk.data for chunk in chunks] == [
        *(b"%d" % number for number in range(MAX_QUEUED_CHUNKS + 1)),
        b"last",
    ]


def test_what_is_missing_at_the_end_is_reported(tmp_path: Path) -> None:
    writer = Stuck(tmp_path / "wheel.rec")
    recorder = DeviceRecorder(writer)
    recorder.enqueue(0.0, b"0")
    assert writer.entered.wait(TIMEOUT_SECONDS)
    for number in range(1, MAX_QUEUED_CHUNKS + 4):
        recorder.enqueue(float(number), b"%d" % number)
    writer.go.set()
    recorder.close()
    wait_until(recorder._closed.is_set)
    lines = (tmp_path / "wheel.rec").read_text().splitlines()
    assert lines[-1] == "# 3 chunks are missing here"


def test_a_disk_that_does_not_respond_blocks_no_other(tmp_path: Path) -> None:
    writer = Stuck(tmp_path / "wheel.rec")
    recorder = DeviceRecorder(writer)
    recorder.enqueue(0.0, b"kept")
    assert writer.entered.wait(TIMEOUT_SECONDS)
    recorder.close()  # returns, though nothing was written
    assert not recorder._closed.is_set()
    writer.go.set()
    assert recorder._closed.wait(TIMEOUT_SECONDS)
    assert [chunk.data for chunk in read_recording(writer.path)] == [b"kept"]
    assert not any(fd.resolve() == writer.path for fd in Path("/proc/self/fd").iterdir())
