"""The line: the pace of its bytes, and each of its faults, against a device that sends a known line
each half second.
"""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from simulators.device import Timed
from simulators.line import SimulatedLine, read_at_double_baud

LINE = b"*X;2;001;  ;0;160;0\r\n"
BYTE = 10 / 9600


class Metronome:
    """The smallest device: one line each half second."""

    baud = 9600
    rounds = 0

    def __init__(self) -> None:
        self.deadline = 0.5

    def advance(self, now: float) -> list[Timed]:
        sent = []
        while self.deadline <= now:
            sent.append((self.deadline, LINE))
            self.deadline += 0.5
        return sent

    def receive(self, data: bytes, now: float) -> None: ...

    def fault(self, name: str, value: float, now: float) -> None: ...


def sent(pieces: list[Timed]) -> bytes:
    return b"".join(data for _, data in pieces)


def test_bytes_come_at_the_pace_of_the_baud_rate() -> None:
    pieces = SimulatedLine(Metronome()).advance(0.9)
    assert sent(pieces) == LINE
    assert [round((at - 0.5) / BYTE) for at, _ in pieces] == list(range(1, len(LINE) + 1))


def test_nothing_comes_before_its_time() -> None:
    line = SimulatedLine(Metronome())
    assert line.advance(0.5) == []
    assert line.deadline == 0.5 + BYTE
    assert sent(line.advance(0.5 + 3.5 * BYTE)) == LINE[:3]


@given(steps=st.lists(st.floats(0.0001, 0.7), max_size=60))
def test_the_bytes_do_not_depend_on_how_often_one_looks(steps: list[float]) -> None:
    line, now = SimulatedLine(Metronome()), 0.0
    pieces: list[Timed] = []
    for step in steps:
        now += step
        pieces += line.advance(now)
    assert pieces == SimulatedLine(Metronome()).advance(now)


def test_silence_loses_what_was_sent() -> None:
    line = SimulatedLine(Metronome())
    line.fault("silence", 2.1, 0.2)
    pieces = line.advance(3.2)
    assert sent(pieces) == LINE * 2
    assert pieces[0][0] > 2.5


def test_burst_gives_everything_at_once() -> None:
    line = SimulatedLine(Metronome())
    line.fault("burst", 2.1, 0.2)
    assert line.advance(2.2) == []
    assert [data for _, data in line.advance(2.4)] == [LINE * 4]
    assert sent(line.advance(2.9)) == LINE  # and continues


def test_burst_of_nothing() -> None:
    line = SimulatedLine(Metronome())
    line.fault("burst", 0.1, 0.1)
    assert line.advance(0.4) == []
    assert sent(line.advance(0.9)) == LINE


def test_split_dribbles_one_line_and_no_more() -> None:
    line = SimulatedLine(Metronome())
    line.fault("split", 0, 0.0)
    pieces = line.advance(1.4)
    assert sent(pieces) == LINE * 2
    assert all(b - a > 2 * BYTE for (a, _), (b, _) in pairwise(pieces[:20]))
    assert pieces[-1][0] - pieces[-2][0] < 2 * BYTE


@given(seed=st.integers(0, 1000))
def test_damaged_lines_are_never_whole(seed: int) -> None:
    line = SimulatedLine(Metronome(), seed)
    for _ in range(3):
        line.fault("damaged", 0, 0.0)
    lines = sent(line.advance(2.9)).split(b"\r\n")
    assert len(lines) == 6
    for damaged in lines[:3]:
        assert len(damaged) != len(LINE) - 2 or b"\x00" in damaged or b"\xff" in damaged
    assert lines[3:] == [LINE[:-2]] * 2 + [b""]


def test_spliced_lines_lose_the_end_of_the_first() -> None:
    line = SimulatedLine(Metronome())
    line.fault("spliced", 0, 0.0)
    assert sent(line.advance(1.9)) == LINE[:9] + LINE + LINE


def test_a_host_at_twice_the_speed_receives_noise_and_then_the_line_again() -> None:
    line = SimulatedLine(Metronome())
    line.fault("wrong_baud", 0.7, 0.0)
    received = sent(line.advance(1.4))
    assert received == read_at_double_baud(LINE) + LINE
    assert len(read_at_double_baud(LINE)) == 2 * len(LINE)
    assert LINE not in read_at_double_baud(LINE)


def test_a_bit_at_half_the_speed_is_seen_twice() -> None:
    assert read_at_double_baud(b"\x00\xff") == b"\x00\x80\xfe\xff"


def test_duplicate() -> None:
    line = SimulatedLine(Metronome())
    line.fault("duplicate", 0, 0.0)
    assert sent(line.advance(1.4)) == LINE * 3
