"""Recordings: what is written is what is read; nothing that is wrong with a file stops the rest of
it.
"""

from __future__ import annotations

import gzip
import os
import tempfile
import time
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devices.readings import escape, unescape
from devices.recording import (
    Chunk,
    Framing,
    RecordingError,
    RecordingReader,
    RecordingWriter,
    read_recording,
)

START = 1_758_612_328.384

chunks = st.lists(
    st.tuples(st.integers(0, 10**9), st.binary(max_size=40), st.booleans()), max_size=30
)


@given(chunks, st.sampled_from(["raw", "line"]))
def test_what_is_written_is_read(
    given_chunks: list[tuple[int, bytes, bool]], framing: Framing
) -> None:
    end = b"\r\n" if framing == "line" else b""
    times = sorted(at for at, _, _ in given_chunks)
    expected = [
        Chunk(at / 1e6, data + end, sent)
        for at, (_, data, sent) in zip(times, given_chunks, strict=True)
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "wheel.rec")
        writer = RecordingWriter(path, {"device": "wheel"}, framing)
        for chunk in expected:
            writer.write(START + chunk.at, chunk.data, chunk.sent)
        writer.close()
        if not expected:
            return
        recording = read_recording(path)
    assert not recording.problems
    assert recording.framing == framing
    assert recording.header["device"] == "wheel"
    assert [(chunk.data, chunk.sent) for chunk in recording] == [
        (chunk.data, chunk.sent) for chunk in expected
    ]
    written = [START + chunk.at for chunk in expected]
    assert [recording.start + chunk.at for chunk in recording] == pytest.approx(
        written, rel=0, abs=2e-6
    )  # kept to the microsecond


@given(st.binary())
def test_escapes_are_printable_and_undone(data: bytes) -> None:
    assert escape(data).isascii()
    assert escape(data).isprintable()
    assert unescape(escape(data)) == data


@pytest.mark.parametrize("text", ["\\", "\\q", "\\x1", "\\u0041", "\\N{BULLET}", "\u20ac", "\\cut"])
def test_a_bad_escape_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match="backslash"):
        unescape(text)


@given(st.binary(max_size=300))
def test_any_bytes_are_a_recording_with_problems(junk: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "junk.rec")
        path.write_bytes(b"1.5 < first\n" + junk + b"\n2.5 > last\n")
        recording = read_recording(path)
    assert recording.chunks[0] == Chunk(1.5, b"first\r\n")
    assert recording.chunks[-1].data == b"last\r\n"


def read(tmp_path: Path, text: str) -> tuple[dict[str, str], list[Chunk], list[int]]:
    path = tmp_path / "test.rec"
    path.write_bytes(text.encode())
    recording = read_recording(path)
    return recording.header, recording.chunks, [problem.line for problem in recording.problems]


def test_a_payload_keeps_its_spaces(tmp_path: Path) -> None:
    _, found, problems = read(tmp_path, "0.5 <  7\n1 < \n2 <\n3 <   \n")
    assert [chunk.data for chunk in found] == [b" 7\r\n", b"\r\n", b"\r\n", b"  \r\n"]
    assert not problems


def test_bad_lines_are_noted_and_skipped(tmp_path: Path) -> None:
    _, found, problems = read(tmp_path, "noon < a\n1 = b\n2 < \\q\n\nnothing\n3 < c\n")
    assert found == [Chunk(3.0, b"c\r\n")]
    assert problems == [1, 2, 3, 5]


def test_a_cut_last_line_is_not_completed(tmp_path: Path) -> None:
    _, found, problems = read(tmp_path, "# framing: raw\n1 < a\n2 < *X;2;00")
    assert found == [Chunk(1.0, b"a")]
    assert problems == [3]


def test_unknown_header_keys_and_free_notes_are_kept(tmp_path: Path) -> None:
    header, found, problems = read(
        tmp_path, "# colour: green\n# no key here\n# nor here\n1 < a\n# colour: red\n"
    )
    assert header == {"colour": "green", "note": "no key here nor here"}
    assert len(found) == 1
    assert not problems


def test_absolute_times_count_from_the_first(tmp_path: Path) -> None:
    path = tmp_path / "test.rec"
    path.write_text("2025-09-23T07:25:28.384 < a\n2025-09-23T09:25:30.798+02:00 < b\n")
    recording = read_recording(path)
    assert recording.start == START
    assert [chunk.at for chunk in recording] == [0.0, 2.414]


def test_time_never_goes_back(tmp_path: Path) -> None:
    _, found, problems = read(tmp_path, "1 < a\n3 < b\n2 < c\n4 < d\n")
    assert [chunk.at for chunk in found] == [1.0, 3.0, 3.0, 4.0]
    assert problems == [3]


def test_an_unknown_framing_is_an_error_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"test\.rec:2: unknown framing 'morse'"):
        read(tmp_path, "# device: x\n# framing: morse\n")


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="No such file"):
        read_recording(tmp_path / "nothing.rec")


def test_files_are_rotated_and_the_oldest_dropped(tmp_path: Path) -> None:
    path = tmp_path / "wheel.rec"
    writer = RecordingWriter(path, {}, "raw", max_bytes=300, max_files=3)
    for number in range(60):
        writer.write(START + number, b"%03d" % number)
    writer.close()
    files = [path.with_name("wheel.rec.2.gz"), path.with_name("wheel.rec.1.gz"), path]
    assert sorted(tmp_path.iterdir()) == sorted(files)
    assert all(file.stat().st_size <= 300 for file in files)
    kept = [int(chunk.data) for file in files for chunk in read_recording(file)]
    assert kept == list(range(kept[0], 60))


def test_each_day_has_a_file_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "wheel.rec"
    writer = RecordingWriter(path, {}, "raw", max_days=30)
    for number in range(4):
        for seconds in (0, 60):
            writer.write(START + number * 86400 + seconds, b"%d" % number)
    writer.close()
    files = [
        path.with_name("wheel.rec.3.gz"),
        path.with_name("wheel.rec.2.gz"),
        path.with_name("wheel.rec.1.gz"),
        path,
    ]
    assert sorted(tmp_path.iterdir()) == sorted(files)
    assert [[chunk.data for chunk in read_recording(file)] for file in files] == [
        [b"%d" % n] * 2 for n in range(4)
    ]


def test_a_file_of_another_day_is_not_added_to_and_old_ones_are_dropped(tmp_path: Path) -> None:
    path = tmp_path / "wheel.rec"
    now = time.time()
    for days in (9, 5, 1, 0):
        writer = RecordingWriter(path, {}, "raw", max_days=3)
        writer.write(now - days * 86400, b"%d" % days)
        writer.close()
        os.utime(path, (now - days * 86400,) * 2)
    files = [path.with_name("wheel.rec.1.gz"), path]
    assert sorted(tmp_path.iterdir()) == sorted(files)
    assert [[chunk.data for chunk in read_recording(file)] for file in files] == [[b"1"], [b"0"]]


def test_a_cut_archive_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "wheel.rec.1.gz"
    path.write_bytes(gzip.compress(b"1 < a\n")[:-9])
    with pytest.raises(RecordingError, match=r"wheel\.rec\.1\.gz"):
        read_recording(path)


def test_a_restart_adds_to_the_file_and_marks_a_cut_line(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "wheel.rec"
    writer = RecordingWriter(path, {}, "raw")
    writer.write(START, b"before")
    writer.close()
    with path.open("ab") as file:
        file.write(b"2025-09-23T07:25:29Z < *X;2;00")  # the power went off here
    writer = RecordingWriter(path, {}, "raw")
    writer.write(START + 2, b"after")
    writer.close()
    recording = read_recording(path)
    assert [chunk.data for chunk in recording] == [b"before", b"after"]
    assert len(recording.problems) == 1


def test_half_a_line_is_refused_where_lines_are_written(tmp_path: Path) -> None:
    writer = RecordingWriter(tmp_path / "wheel.rec", {}, "line")
    with pytest.raises(ValueError, match="incomplete line"):
        writer.write(START, b"half")


def test_a_full_disk_is_an_os_error_each_time() -> None:
    writer = RecordingWriter("/dev/full", {}, "raw")
    for _ in range(3):
        with pytest.raises(OSError, match="No space left"):
            writer.write(START, b"lost")
    writer.close()


def test_real_recordings_are_read_whole(shared: Path) -> None:
    for path in sorted((shared / "captures").glob("*.txt")):
        recording = read_recording(path)
        assert not recording.problems
        assert len(recording) > 5000
        assert recording.header["device"]


@pytest.mark.parametrize("name", ["long.rec", "long.rec.gz"])
def test_a_long_recording_is_read_in_little_memory(tmp_path: Path, name: str) -> None:
    text = b"# device: wheel\n" + b"".join(
        b"%d.5 < *X;2;002;32;0;174;1\n" % n for n in range(50_000)
    )
    path = tmp_path / name
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    reader = RecordingReader(path)
    tracemalloc.start()
    try:
        count = sum(1 for _ in reader)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert count == 50_000
    assert most < len(text) / 2
    assert reader.header == {"device": "wheel"}
    assert reader.read == path.stat().st_size
