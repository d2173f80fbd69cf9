"""The compact form of what a device sent, in the journal and in recordings: it gives exactly what
was written, judges lateness alike, refuses what was edited, and takes little room.
"""

from __future__ import annotations

import gzip
import tempfile
import zlib
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from common.readings import AnyReading, DamagedBytes
from controller.tables.byte_trace import FLUSH_INTERVAL_SECONDS, ByteTrace
from devices.calls import (
    CLOCK_DIGITS,
    AnyCall,
    BytesReceived,
    CallsMissed,
    LinkClosed,
    LinkOpened,
    read_calls,
    write_calls,
)
from devices.drivers import DRIVERS
from devices.recorder import DeviceRecorder
from devices.recording import Recording, RecordingError, read_recording
from devices.recording_lines import MAX_RUN_PAUSE_SECONDS
from devices.recording_writer import ClockedWriter, RecordingWriter
from simulators.line import SimulatedLine
from simulators.wheel.cammegh_ss2 import SlingshotSS2
from tests.conftest import cases
from tests.devices.test_kept import chunks, live, said, watch_of
from tests.devices.test_splits import recordings

START = 1_758_612_328.384
GOAL = 25_000_000
"""Bytes a day of one table, in journal and recordings."""
DAY = 86_400

times = st.floats(0, 1e9) | st.integers(0, 10**15).map(lambda micros: micros / 1e6)
data_read = st.binary(max_size=30) | st.builds(DamagedBytes, st.just(b"S4\r\n"), st.just((1,)))
arrivals = st.builds(BytesReceived, times, data_read)
calls = st.lists(
    arrivals
    | st.builds(BytesReceived, times, data_read, times)
    | st.builds(BytesReceived, times, data_read, st.none(), st.just(True))
    | st.builds(LinkOpened, times, st.booleans())
    | st.builds(LinkClosed, times, st.text(max_size=9))
    | st.builds(CallsMissed, times, st.integers(0, 10**6))
    | st.lists(arrivals, max_size=30),
    max_size=20,
).map(
    lambda found: [call for each in found for call in (each if isinstance(each, list) else [each])]
)


def form(call: AnyCall) -> object:
    """A call with what two equal values may differ in."""
    data = call.data if isinstance(call, BytesReceived) else b""
    return call, type(data), getattr(data, "damaged", ())


@settings(max_examples=cases(200, 2000), deadline=None)
@given(written=calls)
def test_what_is_read_of_a_compact_entry_is_what_was_written(written: list[AnyCall]) -> None:
    device, found = read_calls(write_calls("wheel", written, compact=True))
    assert (device, [form(call) for call in found]) == ("wheel", [form(call) for call in written])


def moved(recording: Recording, random: Random) -> list[BytesReceived]:
    """Recorded bytes, split differently, arriving piece by piece; sometimes after a time without
    polls.
    """
    made: list[BytesReceived] = []
    now = 1000.0
    before = recording.chunks[0].at
    for chunk in chunks(recording):
        now, before = max(now, now + chunk.at - before), chunk.at
        cuts = sorted(
            random.randrange(len(chunk.data) + 1) for _ in range(random.choice((0, 1, 9)))
        )
        for begin, end in zip([0, *cuts], [*cuts, len(chunk.data)], strict=True):
            now = round(now + random.choice((0.0, 0.000001, 0.00104, 0.012, 0.2)), 6)
            since = round(now - random.uniform(0, 3), 6) if random.random() < 0.02 else None
            kept = since is None and random.random() < 0.005
            made.append(BytesReceived(now, chunk.data[begin:end], since, kept))
    return made


@pytest.mark.parametrize("name", DRIVERS)
@settings(max_examples=cases(5, 60), deadline=None)
@given(data=st.data(), seed=st.integers(0, 2**32))
def test_both_forms_of_the_journal_give_the_same_readings(
    name: str, data: st.DataObject, seed: int
) -> None:
    recording = data.draw(st.sampled_from(recordings(name)))
    written: list[AnyCall] = [LinkOpened(1000.0, kept=True), *moved(recording, Random(seed))]
    readings: list[list[AnyReading]] = []
    for compact in (False, True):
        _, found = read_calls(write_calls("device", written, compact=compact))
        _, watch = watch_of(recording)
        readings.append(said(watch, found))
    assert readings[0] == readings[1]
    assert live(readings[0]) == live(readings[1])


def replayed(path: Path, like: Recording) -> list[AnyReading]:
    """The readings of a recording, as `novamas replay` derives them."""
    _, watch = watch_of(like)
    found = read_recording(path)
    readings = watch.opened(found.chunks[0].at)
    return readings + [
        reading for chunk in chunks(found) for reading in watch.feed(chunk.data, chunk.at)
    ]


@pytest.mark.parametrize("name", DRIVERS)
@settings(max_examples=cases(3, 40), deadline=None)
@given(data=st.data(), seed=st.integers(0, 2**32))
def test_both_forms_of_a_recording_give_the_same_readings(
    name: str, data: st.DataObject, seed: int
) -> None:
    recording = data.draw(st.sampled_from(recordings(name)))
    pieces = [each for each in moved(recording, Random(seed)) if each.data][:800]
    with tempfile.TemporaryDirectory() as folder:
        one_by_one, runs = Path(folder, "single.rec"), Path(folder, "runs.rec")
        clocked = ClockedWriter(writer := RecordingWriter(one_by_one, {}))
        recorder = DeviceRecorder(RecordingWriter(runs, {}))
        for piece in pieces:
            clocked.write(piece.at, START + piece.at, piece.data)
            recorder.enqueue(START + piece.at, piece.data, read=piece.at)
        writer.close()
        recorder.close()
        assert read_recording(runs).chunks == read_recording(one_by_one).chunks
        assert replayed(runs, recording) == replayed(one_by_one, recording)


def line_of_a_closed_table(seconds: float) -> Iterator[tuple[float, bytes]]:
    """What arrives of a wheel that turns while its table is closed: each byte by itself, at a time
    that jitters by as much as an event loop does.
    """
    random = Random(31)
    line, now = SimulatedLine(SlingshotSS2(seed=5)), 0.0
    while now < seconds:
        now = line.deadline
        for at, data in line.advance(now):
            yield round(1000 + at + abs(random.gauss(0, 0.00015)), CLOCK_DIGITS), data


def test_a_closed_table_uses_little_room(tmp_path: Path) -> None:
    """Twenty minutes of it, in entries of a minute; recordings as they are kept: compressed."""
    seconds = 1200.0
    trace = ByteTrace("wheel", compact=True)
    recorder = RecordingWriter(tmp_path / "wheel.rec", {})
    entries: list[bytes] = []
    taken, run = 0.0, list[tuple[float, bytes]]()
    latest = 0.0
    for at, data in line_of_a_closed_table(seconds):
        at = latest = max(latest, at)
        if at - taken >= FLUSH_INTERVAL_SECONDS and (body := trace.pop_entry()) is not None:
            entries.append(body)
            taken = at
        trace.add(BytesReceived(at, data))
        if run and at - run[-1][0] > MAX_RUN_PAUSE_SECONDS:
            recorder.write_run(run)
            run = []
        run.append((at, data))
    recorder.close()
    calls = [call for entry in entries for call in read_calls(entry)[1]]
    assert len(calls) > 40 * seconds
    journal = sum(map(len, entries))
    recording = len(gzip.compress((tmp_path / "wheel.rec").read_bytes()))
    assert (journal + recording) * DAY / seconds < 0.75 * GOAL


def packed(listed: bytes) -> bytes:
    return msgspec.json.encode({"device": "wheel", "packed": zlib.compress(listed)})


def test_what_is_no_compact_entry_is_refused() -> None:
    whole = zlib.compress(b'[["run",1.0,"ab",[1,1],[1000]]]')
    assert read_calls(msgspec.json.encode({"device": "wheel", "packed": whole}))[1] == [
        BytesReceived(1.0, b"a"),
        BytesReceived(1.001, b"b"),
    ]
    refused = [
        msgspec.json.encode({"device": "wheel", "packed": part})
        for part in (whole[:-1], whole + b"\0", whole + whole, whole[1:], b"")
    ]
    refused += [
        b'{"device":"wheel"}',
        b'{"device":"wheel","packed":"?"}',
        msgspec.json.encode({"device": "wheel", "calls": [], "packed": whole}),
        packed(b'[["run",1.0,"ab",[1],[1000]]]'),
        packed(b'[["run",1.0,"ab",[1,2],[1000]]]'),
        packed(b'[["run",1.0,"ab",[3,-1],[1000]]]'),
        packed(b'[["run",1.0,"ab",[1,1],[]]]'),
        packed(b'[["run",1.0,"",[],[]]]'),
        packed(b'[["run",1e308,"ab",[1,1],[1000]]]'),
        packed(b'[["run",1.0,"\\\\q",[1,1],[1000]]]'),
        packed(b"[" + b" " * (1 << 26) + b"]"),
    ]
    for body in refused:
        with pytest.raises(ValueError, match=r"."):
            read_calls(body)


def run_of(folder: Path) -> Path:
    """A recording of some runs."""
    path = folder / "wheel.rec"
    writer = RecordingWriter(path, {"device": "wheel"})
    for number in range(4):
        data = b"*X;2;%03d; 7\r\n" % number
        pauses = accumulate((0.001042 + number / 1e6 for _ in data[1:]), initial=START + number)
        pieces = [(at, bytes([byte])) for at, byte in zip(pauses, data, strict=True)]
        writer.write_run([*pieces, (pieces[-1][0] + 0.02, b"ab"), (pieces[-1][0] + 0.02, b"")])
    writer.close()
    return path


@settings(max_examples=cases(150, 2000), deadline=None)
@given(data=st.data())
def test_an_edited_run_gives_the_runs_before_it_or_is_refused(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = run_of(Path(folder))
        before = read_recording(path).chunks
        lines = path.read_bytes().splitlines(keepends=True)
        begin = sum(len(line) for line in lines if line.startswith(b"#"))
        whole = bytearray(path.read_bytes())
        at = data.draw(st.integers(begin, len(whole) - 2))
        change = data.draw(st.sampled_from(["other", "gone", "twice"]))
        if change == "other":
            old = whole[at]
            whole[at] = data.draw(st.sampled_from(b"0123456789,x<> ~*\\n").filter(old.__ne__))
        else:
            whole[at : at + 1] = b"" if change == "gone" else bytes([whole[at]]) * 2
        path.write_bytes(whole)
        try:
            found = read_recording(path).chunks
        except RecordingError:
            return
        assert found == before[: len(found)]


def test_a_run_that_was_cut_by_a_power_failure_is_not_completed(tmp_path: Path) -> None:
    path = run_of(tmp_path)
    whole = path.read_bytes()
    last = whole[:-1].rindex(b"\n") + 1
    complete = [chunk for chunk in read_recording(path).chunks if chunk.at < 3]
    for end in (last + 30, len(whole) - 12, len(whole) - 2):
        path.write_bytes(whole[:end])
        found = read_recording(path)
        assert found.chunks == complete
        assert len(found.problems) == 1
        writer = RecordingWriter(path, {})
        writer.write(START + 60, b"after")
        writer.close()
        assert [chunk.data for chunk in read_recording(path)][len(complete) :] == [b"after"]


def test_a_clock_that_was_set_back_after_a_run_is_noted(tmp_path: Path) -> None:
    path = run_of(tmp_path)
    writer = RecordingWriter(path, {})
    writer.write(START + 3.01, b"later than the last line began, and earlier than it ended")
    writer.close()
    assert "the clock was set by -0.0" in path.read_text()
    assert read_recording(path).chunks[-1].gap
