"""The simulated wheel before the driver of the real one: what fell is what is read, whatever
happens on the line.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from common.readings import AnyReading, WheelFault, WheelNumber, WheelPhase
from devices.drivers import driver
from simulators.line import SimulatedLine
from simulators.wheel.cammegh_ss2 import ARCADE, SlingshotSS2


def read(
    line: SimulatedLine, until: float, faults: dict[float, tuple[str, float]] | None = None
) -> list[AnyReading]:
    """All readings up to a time, the line looked at every 20 ms."""
    made = driver("cammegh-ss2")
    codec = made.make("wheel", made.options())
    readings: list[AnyReading] = []
    due = sorted((faults or {}).items())
    for step in range(int(until / 0.02)):
        now = step * 0.02
        while due and due[0][0] <= now:
            at, (name, value) = due.pop(0)
            (line if name in LINE_FAULTS else line.device).fault(name, value, at)
        for at, data in line.advance(now):
            readings += codec.feed(data, at)
        if codec.deadline is not None and codec.deadline <= now:
            readings += codec.feed(b"", now)
    return readings


LINE_FAULTS = ("silence", "burst", "split", "damaged", "spliced", "duplicate")


def numbers(readings: list[AnyReading]) -> list[WheelNumber]:
    return [reading for reading in readings if isinstance(reading, WheelNumber)]


@settings(max_examples=5)
@given(seed=st.integers(0, 2**32), mode=st.sampled_from([ARCADE, 2181]))
def test_every_number_is_read_once_with_its_spin(seed: int, mode: int) -> None:
    wheel = SlingshotSS2(seed=seed, mode=mode)
    found = numbers(read(SimulatedLine(wheel, seed), 400))
    assert [reading.number for reading in found] == wheel.wins
    assert [reading.spin for reading in found] == list(range(1, len(wheel.wins) + 1))
    assert not any(reading.late or reading.conflict is not None for reading in found)


@settings(max_examples=10)
@given(
    seed=st.integers(0, 2**32),
    faults=st.dictionaries(
        st.floats(10, 380), st.tuples(st.sampled_from(LINE_FAULTS), st.floats(1, 20)), max_size=12
    ),
)
def test_a_bad_line_never_makes_another_number_of_it(
    seed: int, faults: dict[float, tuple[str, float]]
) -> None:
    wheel = SlingshotSS2(seed=seed)
    found = numbers(read(SimulatedLine(wheel, seed), 400, faults))
    spins = [reading.spin for reading in found]
    assert len(spins) == len(set(spins))
    for reading in found:
        assert reading.spin is not None
        assert reading.number == wheel.wins[reading.spin - 1]


@pytest.mark.parametrize("fault", ["failed_launch", "ball_removed", "ball_with_rotor", "sensor"])
def test_each_fault_of_the_wheel_is_reported_and_cleared(fault: str) -> None:
    readings = read(SimulatedLine(SlingshotSS2()), 400, {60.0: (fault, 30.0)})
    told = [
        (reading.fault, reading.active) for reading in readings if isinstance(reading, WheelFault)
    ]
    assert told == [(fault, True), (fault, False)]


def test_a_wrong_bare_number_is_a_conflict() -> None:
    found = numbers(
        read(SimulatedLine(SlingshotSS2(numbers=(7,))), 70, {1.0: ("wrong_number", 0.0)})
    )
    assert (found[0].number, found[0].conflict) == (7, 8)


def test_the_power_of_the_wheel_fails_and_the_same_spins_come_again() -> None:
    found = numbers(read(SimulatedLine(SlingshotSS2()), 300, {130.0: ("power_cycle", 5.0)}))
    assert [reading.spin for reading in found if not reading.late][:4] == [1, 2, 1, 2]


def test_phases_come_in_their_order() -> None:
    phases = [
        reading.phase
        for reading in read(SimulatedLine(SlingshotSS2()), 130)
        if isinstance(reading, WheelPhase)
    ]
    told = [phase for index, phase in enumerate(phases) if index == 0 or phases[index - 1] != phase]
    game = ["bets_open", "ball_in_rim", "no_more_bets", "settled"]
    assert told[:6] == ["closed", "idle", *game]
    assert told[6:11] == ["idle", *game]
