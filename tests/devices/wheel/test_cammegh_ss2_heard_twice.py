"""No single damaged byte becomes a result: the lines of a Slingshot 2 have no checksum, so two of
them have to agree.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy, deepcopy
from math import inf
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from common.contract.events import RoundResult, RoundUnresolved
from common.readings import AnyReading, LinkLate, WheelNumber
from devices import pace
from devices.recording import Recording, read_recording
from devices.wheel.cammegh_ss2 import CammeghSS2, Options
from tests.devices.wheel.slingshot import PERIOD, WheelFeed, faults, numbers, phases, status
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import of_kind
from tests.support.games.roulette_play import Play

SPIN, BEFORE, NUMBER = 3, "14", "35"
Lines = list[tuple[float, bytes]]


def spun(spin: int, before: str, number: str, begin: float, bare: bool) -> Lines:
    """What an undamaged wheel says of a spin, and when."""
    lines: Lines = []
    at = begin
    for state, times in ((2, 2), (3, 2), (4, 3), (5, 4)):
        for time in range(times):
            at += PERIOD
            if (state, time, bare) == (5, 0, True):
                lines.append((at - 0.2, number.encode() + b"\r\n"))
            lines.append((at, status(state, spin, number if state == 5 else before) + b"\r\n"))
    return lines


def each_bit(line: bytes) -> Iterator[bytes]:
    """The line with one bit turned over."""
    for place in range(len(line)):
        for bit in range(8):
            yield line[:place] + bytes([line[place] ^ 1 << bit]) + line[place + 1 :]


def each_digit(line: bytes) -> Iterator[bytes]:
    """The line with one digit read as another."""
    for place, byte in enumerate(line):
        if chr(byte).isdigit():
            yield from (
                line[:place] + digit + line[place + 1 :]
                for digit in (b"%d" % n for n in range(10))
                if digit[0] != byte
            )


DAMAGES = {"bit": each_bit, "digit": each_digit}


def tables(damage: str, options: Options, bare: bool) -> Iterator[Play]:
    """A table for each damage that one line of a spin may suffer; two spins without damage are
    beside it.
    """
    first, second = (
        spun(SPIN - 1, "20", BEFORE, 100.0, bare),
        spun(SPIN, BEFORE, NUMBER, 105.0, bare),
    )
    third = spun(SPIN + 1, NUMBER, " 7", 110.0, bare)
    begun = heard(Play("EUS96"), CammeghSS2("wheel", options), first)
    for struck, (at, line) in enumerate(second):
        play, codec = heard(copy(begun[0]), deepcopy(begun[1]), second[:struck])
        for damaged in DAMAGES[damage](line):
            rest = [(at, damaged), *second[struck + 1 :], *third]
            yield heard(copy(play), deepcopy(codec), rest)[0]


def heard(play: Play, codec: CammeghSS2, lines: Lines) -> tuple[Play, CammeghSS2]:
    if not play.state.open:
        play.open()
    play.events = list(play.events)
    for at, data in lines:
        play.take(*codec.feed(data, at))
    return play, codec


TRUTH = {SPIN - 1: int(BEFORE), SPIN: int(NUMBER), SPIN + 1: 7}


def wrong(play: Play) -> list[RoundResult]:
    """Results that the wheel never sent."""
    return [
        reading
        for reading in of_kind(play.events, RoundResult)
        if (reading.spin, outcome_of(reading).number) not in TRUTH.items()
    ]


@pytest.mark.parametrize("bare", [True, False], ids=["bare", "status only"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_no_damaged_bit_or_digit_becomes_a_result_and_no_spin_is_forgotten(
    damage: str, bare: bool
) -> None:
    cases = 0
    for play in tables(damage, Options(), bare):
        cases += 1
        assert wrong(play) == []
        waiting = of_kind(play.events, RoundUnresolved)
        results = of_kind(play.events, RoundResult)
        assert {reading.spin for reading in results} | {
            reading.spin for reading in waiting
        } == TRUTH.keys()
        # Only the bare number read as another waits for a person; what the status says twice is the
        # candidate.
        assert [(each.spin, each.why, each.candidate) for each in waiting] in (
            [],
            [(SPIN, "witnesses_disagree", 35)] * bare,
        )
    assert cases > 1000


@pytest.mark.parametrize("damage", DAMAGES)
def test_where_a_site_wants_speed_one_may(damage: str) -> None:
    assert any(wrong(play) for play in tables(damage, Options(heard_twice=False), bare=True))


# A real wheel's day


@pytest.fixture(scope="module")
def day(shared: Path) -> Recording:
    return read_recording(shared / "captures" / "cammegh-ss2-2025-09-23.txt")


def readings(
    recording: Recording, options: Options, damage: str | None = None, seed: int = 0
) -> list[AnyReading]:
    """Its results, with one line in thirty damaged."""
    codec, random = CammeghSS2("wheel", options), Random(f"{damage} {seed}")
    said = [(chunk.at, chunk.data) for chunk in recording if not chunk.sent]
    for begin in range(0, len(said), 30) if damage else ():
        place = random.choice(range(begin, min(begin + 30, len(said))))
        at, line = said[place]
        said[place] = at, random.choice([*DAMAGES[str(damage)](line)] or [line])
    return [reading for at, line in said for reading in codec.feed(line, at)]


def of_spin(told: list[WheelNumber]) -> dict[int | None, int | str]:
    return {reading.spin: reading.number for reading in told}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("damage", DAMAGES)
def test_no_damaged_line_of_a_real_day_becomes_a_number_and_none_is_lost(
    day: Recording, damage: str, seed: int
) -> None:
    truth, told = (numbers(readings(day, Options(), how, seed)) for how in (None, damage))
    assert len(truth) == 149
    assert of_spin(told) == of_spin(truth)
    assert len(told) == len(truth)
    assert {reading.spin for reading in told if not reading.late} <= {
        reading.spin for reading in truth if not reading.late
    }
    assert len([reading for reading in told if reading.late or reading.conflict is not None]) < 20


def test_one_line_is_not_enough_for_a_real_day_that_is_damaged(day: Recording) -> None:
    truth, told = (numbers(readings(day, Options(heard_twice=False), how)) for how in (None, "bit"))
    assert of_spin(told) != of_spin(truth)


def test_what_it_costs_to_confirm_a_real_wheel(day: Recording) -> None:
    """No result of the day comes later. A candidate is delayed by one of the wheel's lines as its
    host received them.
    """
    once, twice = (numbers(readings(day, Options(heard_twice=wanted))) for wanted in (False, True))
    assert of_spin(once) == of_spin(twice)
    assert [event.late for event in once] == [reading.late for reading in twice]
    assert all(
        after.at == before.at for before, after in zip(once, twice, strict=True) if not before.late
    )
    assert all(
        0 < after.at - before.at < 3
        for before, after in zip(once, twice, strict=True)
        if before.late
    )


# One case at a time


class Twice(WheelFeed):
    """A wheel with default settings."""

    def __init__(self) -> None:
        super().__init__(Options())

    def closed(self, spin: int, before: str) -> None:
        """Until no more bets."""
        for state in (2, 2, 3, 3, 4, 4):
            self.send(state, spin, before)


def test_the_number_of_the_spin_before_is_not_reported_of_a_state_misread() -> None:
    wheel = Twice()
    wheel.closed(3, "14")
    assert wheel.send(5, 3, "14") == []
    assert wheel.send(4, 3, "14") == []
    wheel.line(b"35", after=0.4)
    (number,) = numbers(wheel.send(5, 3, "35", after=0.1))
    assert (number.number, number.witness, number.late) == (35, "both", False)


def test_the_bare_number_and_one_status_are_two_lines() -> None:
    wheel = Twice()
    wheel.closed(3, "14")
    wheel.line(b"35", after=0.4)
    (number,) = numbers(wheel.send(5, 3, "35", after=0.1))
    assert number.frame == r"35\r\n*X;5;003;35;0;166;0"


def test_without_the_bare_number_the_second_status_gives_it() -> None:
    wheel = Twice()
    wheel.closed(3, "14")
    assert wheel.send(5, 3, "35") == []
    (number,) = numbers(wheel.send(5, 3, "35", speed=167))
    assert (number.number, number.witness) == (35, "status")
    assert number.frame == r"*X;5;003;35;0;166;0\r\n*X;5;003;35;0;167;0"


def test_a_number_misread_in_one_status_is_passed_over() -> None:
    wheel = Twice()
    wheel.closed(3, "14")
    wheel.line(b"35", after=0.4)
    assert wheel.send(5, 3, "34", after=0.1) == []
    (number,) = numbers(wheel.send(5, 3, "35"))
    assert (number.number, number.witness, number.conflict) == (35, "both", None)


def test_where_the_second_line_never_comes_the_number_is_a_candidate_of_the_next_spin() -> None:
    wheel = Twice()
    wheel.closed(3, "14")
    assert wheel.send(5, 3, "35") == []
    assert wheel.send(2, 4, "35") == []
    (number,) = numbers(wheel.send(2, 4, "35"))
    assert (number.spin, number.number, number.late) == (3, 35, True)


def test_a_count_misread_gives_the_spin_no_number() -> None:
    wheel = Twice()
    wheel.closed(3, "14")
    assert wheel.send(4, 4, "14") == []
    assert wheel.send(4, 3, "14") == []
    wheel.line(b"35", after=0.4)
    assert of_spin(numbers(wheel.send(5, 3, "35", after=0.1))) == {3: 35}


def test_no_more_bets_waits_for_nothing() -> None:
    wheel = Twice()
    for state in (2, 2, 3, 3):
        wheel.send(state, 3, "14")
    assert phases(wheel.send(4, 3, "14")) == ["no_more_bets"]


def test_a_direction_or_a_warning_misread_is_passed_over() -> None:
    wheel = Twice()
    for state in (2, 2, 3):
        wheel.send(state, 3, "14")
    assert phases(wheel.send(3, 3, "14")) == ["ball_in_rim"]
    assert wheel.send(3, 3, "14", direction=1) == []
    assert wheel.send(3, 3, "14", warnings=4) == []
    assert wheel.send(3, 3, "14") == []


def test_a_warning_counts_from_the_first_of_its_lines() -> None:
    wheel = Twice()
    wheel.closed(3, "14")
    told = [faults(wheel.send(4, 3, "14", warnings=1)) for _ in range(12)]
    assert told == [[]] * 10 + [[("ball_removed", True)]] + [[]]


said = st.builds(
    status,
    st.integers(1, 7),
    st.sampled_from([1, 2, 3, 256]),
    st.sampled_from(["  ", " 0", "17", "00"]),
    st.integers(0, 15),
    st.sampled_from([0, 166]),
    st.integers(0, 1),
)


@given(
    st.lists(
        st.tuples(
            said | st.sampled_from([b"17", b" 0"]), st.sampled_from([0.001, 0.5, 0.5, 0.5, 60.0])
        ),
        max_size=40,
    )
)
def test_two_lines_are_decoded_as_each_line_by_itself(
    lines: list[tuple[bytes, float]],
) -> None:
    """If they are not counted: no wheel says everything twice in an instant."""
    twice, once = Twice(), WheelFeed()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pace, "MAX_LEAD_GAPS", inf)
        for line, after in lines:
            again = [line] if line.startswith(b"*") else []
            heard_twice = twice.line(line, after)
            for copy_of in again:
                heard_twice += twice.line(copy_of)
            assert bared(heard_twice) == bared(once.line(line, after))


def bared(readings: list[AnyReading]) -> list[AnyReading]:
    """Without their lines, and the number of late ones."""
    return [replace(each, frame=None) for each in readings if not isinstance(each, LinkLate)]
