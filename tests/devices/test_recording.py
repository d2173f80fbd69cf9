"""Recordings: what is written is what is read; nothing that is wrong with a file stops the rest of
it.
"""

from __future__ import annotations

import gzip
import os
import tempfile
import time
import tracemalloc
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from common.readings import escape, unescape
from devices.recording import Chunk, RecordingError, RecordingReader, read_recording
from devices.recording_lines import LINK_OPENED, Framing
from devices.recording_writer import ClockedWriter, RecordingWriter
from tests.support.for_each import for_each

START = 1_758_612_328.384

chunks = st.lists(
    st.tuples(st.integers(0, 10**9), st.binary(max_size=40), st.booleans()), max_size=30
)


@given(chunks, st.sampled_from(["raw", "line"]))
@example([(0, b"a\\cut", False)], "raw")  # as the mark of a line that was not finished
@example([(0, b" ~0123ABCD", False), (1, b"# check: none", True)], "line")
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


@for_each("text", ["\\", "\\q", "\\x1", "\\u0041", "\\N{BULLET}", "\u20ac", "\\cut"])
def test_a_bad_escape_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match="backslash"):
        unescape(text)


@given(st.binary(max_size=300))
def test_any_bytes_between_two_lines_are_read_whole_or_refused_with_their_line(
    junk: bytes,
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "junk.rec")
        path.write_bytes(b"# framing: line\n1.5 < first\n" + junk + b"\n2.5 > last\n")
        found: list[Chunk] = []
        refused: RecordingError | None = None
        try:
            found += RecordingReader(path)
        except RecordingError as error:
            refused = error
    if refused is None:
        assert found[-1].data == b"last\r\n"
    else:
        assert refused.problems
        assert 3 <= refused.line <= 3 + junk.count(b"\n") + 1
    assert found[0] == Chunk(1.5, b"first\r\n")


def read(tmp_path: Path, text: str) -> tuple[dict[str, str], list[Chunk], list[int]]:
    path = tmp_path / "test.rec"
    path.write_bytes(b"# framing: line\n" + text.encode())
    recording = read_recording(path)
    return recording.header, recording.chunks, [problem.line for problem in recording.problems]


def test_a_payload_keeps_its_spaces(tmp_path: Path) -> None:
    _, found, problems = read(tmp_path, "0.5 <  7\n1 < \n2 <\n3 <   \n")
    assert [chunk.data for chunk in found] == [b" 7\r\n", b"\r\n", b"\r\n", b"  \r\n"]
    assert not problems


def test_bad_lines_are_refused_and_all_of_them_are_named(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"test\.rec:2: time 'noon'") as refused:
        read(tmp_path, "noon < a\n1 = b\n2 < \\q\n\nnothing\n3 < c\n")
    assert [problem.line for problem in refused.value.problems] == [2, 3, 4, 6]


def test_what_precedes_a_bad_line_is_read(tmp_path: Path) -> None:
    path = tmp_path / "test.rec"
    path.write_text("# framing: line\n1 < a\n2 < b\nnothing\n3 < c\n")
    found: list[Chunk] = []
    with pytest.raises(RecordingError, match=r":4: .*`head -n 3`"):
        found += RecordingReader(path)
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:3]))
    assert found == read_recording(path).chunks


def test_a_cut_last_line_is_not_completed(tmp_path: Path) -> None:
    _, found, problems = read(tmp_path, "# framing: raw\n1 < a\n2 < *X;2;00")
    assert found == [Chunk(1.0, b"a")]
    assert problems == [4]


def test_unknown_header_keys_and_free_notes_are_kept(tmp_path: Path) -> None:
    header, found, problems = read(
        tmp_path, "# colour: green\n# no key here\n# nor here\n1 < a\n# colour: red\n"
    )
    assert header == {"framing": "line", "colour": "green", "note": "no key here nor here"}
    assert len(found) == 1
    assert not problems


def test_absolute_times_count_from_the_first(tmp_path: Path) -> None:
    path = tmp_path / "test.rec"
    path.write_text(
        "# framing: raw\n2025-09-23T07:25:28.384 < a\n2025-09-23T09:25:30.798+02:00 < b\n"
    )
    recording = read_recording(path)
    assert recording.start == START
    assert [chunk.at for chunk in recording] == [0.0, 2.414]


def test_a_time_that_goes_back_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"test\.rec:4: its time is before"):
        read(tmp_path, "1 < a\n3 < b\n2 < c\n4 < d\n")


def test_an_unknown_framing_is_an_error_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"test\.rec:3: unknown framing 'morse'"):
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


def test_what_was_recorded_before_and_after_a_restart_is_not_joined(tmp_path: Path) -> None:
    path = tmp_path / "shoe.rec"
    for data in (b"H1", b"0\r\n"):
        writer = RecordingWriter(path, {})
        writer.write(START, data)
        writer.close()
    first, second = read_recording(path).chunks
    assert (first.gap, second.gap) == ("", "recording was started again here")


@pytest.mark.parametrize("remark", ["7 chunks are missing here", LINK_OPENED])
def test_a_remark_of_a_gap_is_read_and_cannot_be_removed(tmp_path: Path, remark: str) -> None:
    path = tmp_path / "shoe.rec"
    writer = RecordingWriter(path, {})
    writer.write(START, b"H1")
    writer.remark(remark)
    writer.write(START, b"0\r\n")
    writer.close()
    assert [chunk.gap for chunk in read_recording(path)] == ["", remark]
    path.write_text(path.read_text().replace(f"# {remark}\n", ""))
    with pytest.raises(RecordingError, match="does not match its check"):
        read_recording(path)


def test_a_note_of_a_person_is_no_change(tmp_path: Path) -> None:
    path = tmp_path / "wheel.rec"
    writer = RecordingWriter(path, {})
    for number in range(3):
        writer.write(START + number, b"%d" % number)
    writer.close()
    before = read_recording(path)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(["# the ball jumped\n", *lines[:-1], "# here\n", lines[-1], "# end\n"]))
    assert read_recording(path).chunks == before.chunks


@pytest.mark.parametrize("step", [86_400.0, -86_400.0, 0.25, -3.0])
def test_times_follow_a_clock_that_is_set(tmp_path: Path, step: float) -> None:
    path = tmp_path / "wheel.rec"
    clocked = ClockedWriter(writer := RecordingWriter(path, {}))
    for number in range(6):
        clocked.write(number, START + number + step * (number > 2), b"%d" % number)
    writer.close()
    reader = RecordingReader(path)
    found = [
        (chunk.at, chunk.gap, round(reader.start + chunk.at + reader.stepped - START, 6))
        for chunk in reader
    ]
    assert found == [(float(n), "", round(n + step * (n > 2), 6)) for n in range(6)]
    assert path.read_text().count("the clock was set by") == 1
    assert [line[:10] for line in path.read_text().splitlines() if " < " in line][-1] == (
        datetime.fromtimestamp(START + 5 + step, UTC).isoformat()[:10]
    )


def test_a_clock_that_jitters_was_not_set(tmp_path: Path) -> None:
    path = tmp_path / "wheel.rec"
    clocked = ClockedWriter(writer := RecordingWriter(path, {}))
    for number in range(6):
        clocked.write(number, START + number + 0.04 * (-1) ** number, b"%d" % number)
    writer.close()
    assert [chunk.at for chunk in read_recording(path)] == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert "clock" not in path.read_text()


def test_the_day_of_a_file_follows_a_clock_that_is_set(tmp_path: Path) -> None:
    path = tmp_path / "wheel.rec"
    clocked = ClockedWriter(writer := RecordingWriter(path, {}, max_days=30))
    for number in range(6):
        clocked.write(number, START + number - 86_400 * (number > 2), b"%d" % number)
    writer.close()
    older, newer = RecordingReader(tmp_path / "wheel.rec.1.gz"), RecordingReader(path)
    assert [[chunk.data for chunk in each] for each in (older, newer)] == [
        [b"0", b"1", b"2"],
        [b"3", b"4", b"5"],
    ]
    assert older.stepped == -86_400
    assert newer.follows == older.check == older.last_check() is not None


def test_a_gap_between_two_files_is_read(tmp_path: Path) -> None:
    path = tmp_path / "wheel.rec"
    clocked = ClockedWriter(writer := RecordingWriter(path, {}, max_days=30))
    clocked.write(0.0, START, b"before")
    clocked.write(1.0, START - 86_400, b"after", gap=LINK_OPENED)
    writer.close()
    older, newer = RecordingReader(tmp_path / "wheel.rec.1.gz"), RecordingReader(path)
    assert [[chunk.data for chunk in each] for each in (older, newer)] == [[b"before"], [b"after"]]
    assert (older.gap, newer.follows, older.stepped) == (LINK_OPENED, older.check, -86_401)
    assert older.check == older.last_check()


def test_a_clock_that_was_set_back_between_two_runs_is_noted(tmp_path: Path) -> None:
    path = tmp_path / "wheel.rec"
    for at in (START, START - 600):
        writer = RecordingWriter(path, {})
        writer.write(at, b"ok")
        writer.close()
    reader = RecordingReader(path)
    assert [(chunk.at, bool(chunk.gap)) for chunk in reader] == [(0.0, False), (0.0, True)]
    assert reader.stepped == -600


def test_a_file_that_was_written_by_a_fast_clock_is_as_old_as_the_next(tmp_path: Path) -> None:
    path = tmp_path / "wheel.rec"
    now = time.time()
    for days in (-4000, 5, 4, 3, 0):
        writer = RecordingWriter(path, {}, "raw", max_days=2)
        writer.write(now - days * 86400, b"%d" % days)
        writer.close()
        os.utime(path, (now - days * 86400,) * 2)
    assert sorted(tmp_path.iterdir()) == [path, path.with_name("wheel.rec.1.gz")]


def test_no_new_file_begins_within_a_frame(tmp_path: Path) -> None:
    path = tmp_path / "shoe.rec"
    writer = RecordingWriter(path, {}, "raw", max_bytes=1000, max_files=20)
    codes = [b"H1", b"0", b"\r\n"] * 40
    for number, data in enumerate(codes):
        writer.write(START + number // 3 + number % 3 * 0.01, data)
    writer.close()
    files = [*sorted(tmp_path.glob("shoe.rec.*"), key=lambda p: -int(p.suffixes[1][1:])), path]
    assert len(files) > 4
    assert all(file.stat().st_size <= 1000 for file in files)
    read = [read_recording(file) for file in files]
    assert [chunk.data for each in read for chunk in each] == codes
    assert {each.chunks[0].data for each in read} == {b"H1"}


def test_a_device_that_never_pauses_gets_new_files_too(tmp_path: Path) -> None:
    path = tmp_path / "shoe.rec"
    writer = RecordingWriter(path, {}, "raw", max_bytes=1000, max_files=20, max_days=30)
    for number in range(100):
        writer.write(START + number / 100, b"%d" % number)
    midnight = (START // 86400 + 1) * 86400
    for number in range(-100, 1000):
        writer.write(midnight + number * 0.09, b"x")
    writer.close()
    assert all(file.stat().st_size <= 1000 for file in tmp_path.iterdir())


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
    text = b"# device: wheel\n# framing: line\n" + b"".join(
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
    assert reader.header == {"device": "wheel", "framing": "line"}
    assert reader.read == path.stat().st_size
