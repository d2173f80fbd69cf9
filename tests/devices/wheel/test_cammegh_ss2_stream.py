"""Bytes as lines really bring them: split anywhere, cut, spliced, endless, arbitrary; and a day of
a real wheel.
"""

from __future__ import annotations

from datetime import datetime
from itertools import pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from common.readings import (
    AnyReading,
    LinkGarbage,
    LinkLate,
    WheelFault,
    WheelNumber,
    WheelPhase,
    unescape,
)
from devices.watch import Watch
from devices.wheel.cammegh_ss2 import MAX_LINE_BYTES, CammeghSS2, Options
from tests.devices.wheel.slingshot import WheelFeed, numbers, status
from tests.support.devices.splits import assert_any_split_gives_the_same

lines = st.one_of(
    st.builds(
        status,
        st.integers(1, 7),
        st.sampled_from([1, 2, 3, 255, 256]),
        st.sampled_from(["  ", " 0", "00", "17", "38", "39"]),
        st.integers(0, 15),
        st.sampled_from([0, 166]),
        st.integers(0, 1),
    ),
    st.sampled_from(
        [
            b"17",
            b" 0",
            b"00",
            b"*u OK",
            b"*o BUSY",
            b"*O 6 1 60 1158",
            b"*F 5",
            b"*F 0",
            b"*W 1",
            b"*X;2;0",
            b"T OK",
        ]
    ),
)
junk = st.binary(max_size=40)
ends = st.sampled_from([b"\r", b"\n", b"\r\n"])
streams = st.lists(st.tuples(lines | junk, ends), max_size=20).map(
    lambda parts: b"".join(line + end for line, end in parts)
)


def codec() -> CammeghSS2:
    return CammeghSS2("wheel", Options())


@given(streams | st.binary(max_size=1000), st.lists(st.integers(0, 1000), max_size=8))
def test_any_split_gives_the_same_readings(stream: bytes, cuts: list[int]) -> None:
    assert_any_split_gives_the_same(codec, stream, cuts)


@given(st.lists(st.tuples(st.binary(max_size=600), lines), max_size=10), ends)
def test_junk_between_frames_loses_none(parts: list[tuple[bytes, bytes]], end: bytes) -> None:
    frames = [line for _, line in parts if line.startswith(b"*X;") and len(line) == len(status(1))]
    one = codec()
    readings = one.feed(
        b"".join(noise.replace(b"*", b"") + line + end for noise, line in parts), 1.0
    )
    other = codec()
    expected = other.feed(b"".join(line + end for line in frames), 1.0)
    assert [r for r in readings if isinstance(r, WheelPhase)] == [
        r for r in expected if isinstance(r, WheelPhase)
    ]


@given(streams, st.integers(0, 400), st.integers(0, 400))
def test_a_piece_that_is_missing_never_raises(stream: bytes, begin: int, length: int) -> None:
    codec().feed(stream[:begin] + stream[begin + length :], 1.0)


@given(st.lists(st.tuples(st.binary(max_size=300), st.floats(0, 100), st.booleans()), max_size=20))
def test_arbitrary_bytes_at_any_time_never_raise_and_never_pile_up(
    chunks: list[tuple[bytes, float, bool]],
) -> None:
    one, now = codec(), 0.0
    for data, after, reopened in chunks:
        now += after
        if reopened:
            one.reconnected(now)
        one.feed(data, now)
        assert len(one._pending) <= MAX_LINE_BYTES


@given(st.binary(min_size=1, max_size=2000))
def test_every_byte_that_is_no_frame_is_accounted_for(data: bytes) -> None:
    data = data.translate(None, b"\r\n*") or b"-"
    one = codec()
    garbage = [r for r in one.feed(data + b"\r\n", 1.0) if isinstance(r, LinkGarbage)]
    assert sum(r.bytes for r in garbage) in {len(data), 0}  # none, where by chance it is a reply
    assert len(garbage) == one.counters.damaged


def test_an_endless_line_is_dropped_and_counted() -> None:
    one = codec()
    readings: list[AnyReading] = []
    for _ in range(10):
        readings += one.feed(b"U" * 1000, 1.0)
        assert len(one._pending) <= MAX_LINE_BYTES
    readings += one.feed(b"\r\n", 1.0)
    assert {type(r) for r in readings} == {LinkGarbage}
    assert sum(r.bytes for r in readings if isinstance(r, LinkGarbage)) == 10_000
    assert one.counters.damaged == len(readings)
    assert all(r.frame == "U" * 64 for r in readings[:-1])


def test_the_tail_of_an_endless_line_is_no_bare_number() -> None:
    wheel = WheelFeed()
    wheel.send(4, 4, "24")
    assert {type(r) for r in wheel.line(b"U" * (MAX_LINE_BYTES + 1) + b"35")} == {LinkGarbage}


def test_a_frame_at_the_end_of_an_endless_line() -> None:
    wheel = WheelFeed()
    readings = wheel.line(b"U" * 1000 + status(4))
    assert sum(r.bytes for r in readings if isinstance(r, LinkGarbage)) == 1000
    assert [type(r) for r in readings][-1] is WheelPhase


def test_a_splice_is_cut_at_the_last_star() -> None:
    wheel = WheelFeed()
    (garbage, phase) = wheel.line(b"*X;4;14*X;*X;4;146; 9;0;158;0")
    assert isinstance(garbage, LinkGarbage)
    assert (garbage.frame, garbage.bytes) == ("*X;4;14*X;", 10)
    assert isinstance(phase, WheelPhase)
    assert (phase.spin, phase.frame) == (146, "*X;4;146; 9;0;158;0")
    assert wheel.codec.counters.damaged == 1


def test_a_splice_before_a_bare_number_is_not_completed() -> None:
    wheel = WheelFeed()
    wheel.send(4, 4, "24")
    assert [type(r) for r in wheel.line(b"*X;4;0035")] == [LinkGarbage]
    assert wheel.codec.counters.damaged == 1


def captured(path: Path) -> list[tuple[float, bytes]]:
    """The device's bytes in a recording, with the recording's own times."""
    said = []
    for line in path.read_text("ascii").splitlines():
        if not line.startswith("#"):
            time, direction, payload = line.split(" ", 2)
            if direction == "<":
                said.append((datetime.fromisoformat(time).timestamp(), payload.encode() + b"\r\n"))
    return said


def test_a_day_of_a_real_wheel(shared: Path) -> None:
    one = codec()
    readings: list[AnyReading] = []
    shown: dict[
        int, str
    ] = {}  # spin -> the number field of state 5, or of the next spin, read by hand
    for at, line in captured(shared / "captures" / "cammegh-ss2-2025-09-23.txt"):
        readings += one.feed(line, at)
        fields = line.decode().strip("\r\n").split(";")
        if len(fields) == 7 and len(line) == 21:
            shown[int(fields[2]) - (fields[1] != "5")] = fields[3]
    told = numbers(readings)
    live = [n for n in told if not n.late]
    assert len(live) == 135
    assert [n.spin for n in live] == sorted({n.spin for n in live if n.spin is not None})
    assert len(told) - len(live) == 14
    assert [n.conflict for n in told if n.conflict is not None] == []
    assert [f"{n.number:>2}" for n in told] == [shown[n.spin] for n in told if n.spin is not None]
    assert [n.witness for n in live].count("both") == 133
    assert one.counters.damaged == sum(isinstance(r, LinkGarbage) for r in readings) == 3
    assert one.counters.unknown == 0
    assert one.counters.late == sum(r.frames for r in readings if isinstance(r, LinkLate))
    for before, after in pairwise(readings):
        if isinstance(after, WheelNumber) and not after.late:
            assert isinstance(before, WheelPhase)
            assert (before.phase, before.spin, before.late) == ("settled", after.spin, False)


def opened(lines: list[tuple[float, bytes]]) -> list[WheelNumber]:
    """The live results of a link that is opened as the first of these lines comes."""
    watch = Watch(codec(), "wheel", 5.0)
    readings = watch.opened(lines[0][0], kept=True)
    for at, line in lines:
        readings += watch.feed(line, at)
    return [number for number in numbers(readings) if not number.late]


def test_a_day_on_a_link_that_is_opened_as_it_begins(shared: Path) -> None:
    assert len(opened(captured(shared / "captures" / "cammegh-ss2-2025-09-23.txt"))) == 135


def test_a_link_that_is_opened_in_the_middle_of_a_spin(shared: Path) -> None:
    """The result is live if the ball had not come to rest when the first moments were over."""
    day = captured(shared / "captures" / "cammegh-ss2-2025-09-23.txt")
    fell = next(at for at, line in day if line.startswith(b"*X;5;004"))
    joined = 0
    for begin, (at, _) in enumerate(day):
        if 1.6 < fell - at < 36.0:
            joined += 1
            seen = [line for line in day[begin:] if line[0] < fell + 5.0]
            assert [(number.spin, number.number) for number in opened(seen)] == [(4, 35)], at
        elif -1.0 < fell - at < 0.5:
            assert opened([line for line in day[begin:] if line[0] < fell + 5.0]) == []
    assert joined > 60


def test_a_day_of_a_wheel_in_fault(shared: Path) -> None:
    one = codec()
    readings: list[AnyReading] = []
    for at, line in captured(shared / "captures" / "cammegh-ss2-2025-09-10-idle.txt"):
        readings += one.feed(line, at)
    assert numbers(readings) == []
    assert (one.counters.damaged, one.counters.unknown) == (1, 0)
    assert [unescape(r.frame or "") for r in readings if isinstance(r, LinkGarbage)] == [b"00;0"]


steps = st.tuples(
    st.builds(
        status,
        st.integers(1, 7),
        st.sampled_from([1, 2, 3, 256]),
        st.sampled_from(["  ", " 0", "17", "00"]),
        st.integers(0, 15),
        st.sampled_from([0, 166]),
        st.integers(0, 1),
    )
    | st.sampled_from([b"17", b" 0"]),
    st.sampled_from([0.001, 0.5, 0.5, 0.5, 60.0]),
)


@given(st.lists(steps, max_size=40))
def test_a_live_result_was_shown_live_at_rest_and_each_fault_begins_before_it_ends(
    play: list[tuple[bytes, float]],
) -> None:
    wheel = WheelFeed()
    last: WheelPhase | None = None
    active: set[str] = set()
    for line, after in play:
        for reading in wheel.line(line, after):
            if isinstance(reading, WheelPhase):
                last = reading
            elif isinstance(reading, WheelNumber) and not reading.late:
                assert last is not None
                assert (last.phase, last.spin, last.late) == ("settled", reading.spin, False)
                assert line.startswith(b"*X;5;")
            elif isinstance(reading, WheelFault):
                assert reading.active == (reading.fault not in active)
                active ^= {reading.fault}
