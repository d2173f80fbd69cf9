"""Profiles of devices that have a driver of their own: the same bytes give the same readings."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from common.contract.notation import write
from common.readings import (
    AnyReading,
    DeviceReport,
    LinkGarbage,
    LinkLate,
    Number,
    SlotCoin,
    WheelNumber,
    WheelPhase,
)
from devices.board.report import write_report
from devices.codec import Codec
from devices.drivers import driver
from devices.recording import read_recording
from devices.watch import Watch
from devices.wheel.cammegh_ss2 import CammeghSS2, Options
from tests.devices.shoe.test_streams import bee_tek
from tests.devices.test_recordings import RECORDINGS
from tests.support.devices.described import proof

BEE_TEK = [path for path in RECORDINGS if path.stem.startswith("bee-tek")]
CAMMEGH = [path for path in RECORDINGS if path.stem.startswith("cammegh-ss2")]
CLOSED = ("cammegh-ss2-asked", "cammegh-ss2-win-log")
"""Recordings of a wheel that is asked while its table is closed: no ball falls."""

times = st.lists(
    st.tuples(
        st.integers(0, 400), st.sampled_from([0.0, 0.01, 0.1, 0.199, 0.2, 0.5, 60.0]), st.booleans()
    ),
    max_size=12,
)
"""Where a stream is split, the seconds before each part, and whether the link is closed and opened
before it.
"""


def heard(codec: Codec, stream: bytes, parts: list[tuple[int, float, bool]]) -> list[AnyReading]:
    """The readings of a stream in parts, with what is due between them."""
    readings: list[AnyReading] = []
    now = 1.0
    edges = [0, *sorted(min(cut, len(stream)) for cut, _, _ in parts), len(stream)]
    for (begin, end), (_, after, reopened) in zip(
        pairwise(edges), [(0, 0.0, False), *parts], strict=True
    ):
        if codec.deadline is not None and codec.deadline <= now + after:
            readings += codec.feed(b"", codec.deadline)
        now += after
        if reopened:
            codec.reconnected(now)
        readings += codec.feed(stream[begin:end], now)
    return readings


@pytest.mark.parametrize("path", BEE_TEK, ids=lambda path: path.stem)
def test_bee_tek_recordings(path: Path) -> None:
    recording = read_recording(path)
    watch = Watch(proof("bee-tek"), "device", stale_after=5.0)
    watch.opened(recording.chunks[0].at)
    readings = [
        reading
        for chunk in recording
        if not chunk.sent
        for reading in watch.feed(chunk.data, chunk.at)
    ]
    assert [write(reading) for reading in readings] == path.with_suffix(
        ".readings.jsonl"
    ).read_bytes().splitlines()


@given(bee_tek | st.binary(max_size=1200), times)
@settings(max_examples=250)
def test_bee_tek_streams(stream: bytes, parts: list[tuple[int, float, bool]]) -> None:
    ours, theirs = proof("bee-tek"), driver("bee-tek")
    codec = theirs.make("device", theirs.options())
    assert heard(ours, stream, parts) == heard(codec, stream, parts)
    assert ours.counters == codec.counters
    assert ours.deadline == codec.deadline


statuses = st.builds(
    b"*X;%d;%03d;%b;%X;%03d;%d".__mod__,
    st.tuples(
        st.integers(1, 7),
        st.sampled_from([1, 2, 3, 255, 256]),
        st.sampled_from([b" 0", b"00", b" 7", b"17", b"38", b"  "]),
        st.integers(0, 15),
        st.sampled_from([0, 5, 158]),
        st.integers(0, 1),
    ),
)
damaged = st.one_of(
    statuses,
    st.sampled_from(
        [
            b"*X;4;14*X;*X;4;146; 9;0;158;0",
            b"4;146; 9;0;159;0",
            b"00;0",
            b"*X;2;094;33;0;163",
            b"*X;8;001;17;0;000;0",
            b"*X;4;000;17;0;000;0",
            b"*X;4;257;17;0;000;0",
            b"*X;4;001; x;0;000;0",
            b"*P OK",
            b" 7",
            b"*",
            b"",
            b"*X;5;001;17;G;000;0",
        ]
    ),
    st.binary(max_size=40).filter(lambda data: b":" not in data),
    st.tuples(statuses, st.integers(0, 20), statuses).map(
        lambda spliced: spliced[0][: spliced[1]] + spliced[2]
    ),
    st.binary(min_size=250, max_size=300).filter(lambda data: b":" not in data),
)
slingshot = st.lists(st.tuples(damaged, st.sampled_from([b"\r\n", b"\n", b"\r"])), max_size=25).map(
    lambda lines: b"".join(line + end for line, end in lines)
)
paces = st.lists(
    st.tuples(st.integers(0, 500), st.sampled_from([0.0, 0.1, 0.4, 0.5, 0.5, 2.0]), st.booleans()),
    max_size=20,
)


def slingshot_driver() -> CammeghSS2:
    """The driver as it takes each line by itself, which is all that a profile can say."""
    return CammeghSS2("device", Options(heard_twice=False))


def phases(readings: list[AnyReading]) -> list[AnyReading]:
    """The readings of one line: phases, and the burst in which they arrived."""
    return [reading for reading in readings if isinstance(reading, WheelPhase | LinkLate)]


def live_numbers(readings: list[AnyReading]) -> list[tuple[float, Number, int | None]]:
    return [(r.at, r.number, r.spin) for r in readings if isinstance(r, WheelNumber) and not r.late]


@given(slingshot, paces)
@settings(max_examples=250)
def test_phases_of_the_slingshot(stream: bytes, parts: list[tuple[int, float, bool]]) -> None:
    codec, other = proof("cammegh-ss2-status"), slingshot_driver()
    for one in (codec, other):  # so that no replay begins with the ball at rest
        one.feed(b"*X;6;001;  ;0;000;0\r\n", 0.5)
    ours, theirs = heard(codec, stream, parts), heard(other, stream, parts)
    assert phases(ours) == phases(theirs)
    assert live_numbers(ours) == live_numbers(theirs)


@pytest.mark.parametrize("path", CAMMEGH, ids=lambda path: path.stem)
def test_recordings_of_the_slingshot(path: Path) -> None:
    recording = read_recording(path)
    ours, theirs = proof("cammegh-ss2-status"), slingshot_driver()
    said, meant = (
        [r for chunk in recording if not chunk.sent for r in codec.feed(chunk.data, chunk.at)]
        for codec in (ours, theirs)
    )
    assert phases(said) == phases(meant)
    assert live_numbers(said) == live_numbers(meant)
    assert bool(live_numbers(said)) == (path.stem not in CLOSED)


coins = st.lists(
    st.one_of(
        st.tuples(st.just("coin"), st.integers(1, 99), st.integers(1, 10**9 - 1)),
        st.tuples(st.just("coins"), st.sampled_from(["ok", "jam"])),
        st.sampled_from([("copy",), ("lost",), ("boot",), ("cut",), ("noise",)]),
    ),
    max_size=25,
)


def board_lines(script: list[tuple[Any, ...]]) -> list[tuple[float, bytes]]:
    """Timed reports of a board of slots: whole, copied at once, lost, cut or among noise."""
    lines: list[tuple[float, bytes]] = []
    number = ms = count = 0
    last = b""
    for second, (word, *fields) in enumerate([("boot",), *script]):
        if word == "copy":
            lines.append((lines[-1][0], last))
            continue
        number, ms, count = (
            (0, 0, 0) if word == "boot" else (number + 1, ms + 1000, count + (word == "coin"))
        )
        if word in ("coin", "coins"):
            last = write_report(number, ms, "slot", word, count, *fields)
        elif word == "boot":
            lines.append((float(second), write_report(0, 0, "slot", "boot", 1, "Acme")))
            number, last = 1, write_report(1, 0, "slot", "coins", 0, "ok")
        said = {"cut": b"$NB,7,7,slot\r\n", "noise": b"$NB,\xff*0000\r\n", "lost": b""}.get(
            word, last
        )
        lines.append((float(second), said))
    return lines


def said_of_slots(readings: list[AnyReading]) -> list[AnyReading]:
    """What both can say: not what was late by the board's clock, nor what its count says was
    missed.
    """
    kept = [
        r
        for r in readings
        if not (isinstance(r, DeviceReport) and r.report == "coins_missed")
        and not isinstance(r, LinkLate)
    ]
    return [msgspec.structs.replace(r, late=False) if isinstance(r, SlotCoin) else r for r in kept]


@given(coins)
def test_the_slots_of_a_sensor_board(script: list[tuple[Any, ...]]) -> None:
    theirs = driver("slot-board")
    ours, codec = proof("slot-board"), theirs.make("device", theirs.options())
    for at, line in board_lines(script):
        assert said_of_slots(ours.feed(line, at)) == said_of_slots(codec.feed(line, at))


def test_recorded_slots_of_a_sensor_board() -> None:
    recording = read_recording(next(path for path in RECORDINGS if path.stem == "slot-board-coins"))
    theirs = driver("slot-board")
    ours, codec = proof("slot-board"), theirs.make("device", theirs.options())
    said, meant = (
        [r for chunk in recording for r in one.feed(chunk.data, chunk.at)] for one in (ours, codec)
    )
    assert said_of_slots(said) == said_of_slots(meant)
    assert len([r for r in said if isinstance(r, SlotCoin)]) > 3


@pytest.mark.parametrize("name", ["cammegh-ss2-2025-09-23", "cammegh-ss2-2025-09-10-idle"])
def test_days_of_real_wheels(shared: Path, name: str) -> None:
    """Silences, bursts and damaged lines as they were."""
    recording = read_recording(shared / "captures" / f"{name}.txt")
    ours, theirs = proof("cammegh-ss2-status"), slingshot_driver()
    said, meant = (
        [r for chunk in recording if not chunk.sent for r in one.feed(chunk.data, chunk.at)]
        for one in (ours, theirs)
    )
    assert phases(said) == phases(meant)
    assert live_numbers(said) == live_numbers(meant)
    assert len(phases(said)) > 10


def test_a_spliced_line_is_read_from_its_last_beginning() -> None:
    codec = proof("cammegh-ss2-status")
    readings = codec.feed(b"*X;4;14*X;*X;4;146; 9;0;158;0\r\n", 1.0)
    assert [type(reading) for reading in readings] == [LinkGarbage, WheelPhase]
    assert codec.counters.frames == codec.counters.damaged == 1
