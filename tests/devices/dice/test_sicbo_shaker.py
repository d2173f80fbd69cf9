"""The dice shaker over MQTT: its states and commands."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.readings import AnyReading, DeviceReport, DiceFault, DiceState, LinkGarbage
from devices.dice.sicbo_shaker import MAX_LINE_BYTES, Options, SicboShaker


def heard(*states: str, kept: str = "0") -> list[AnyReading]:
    codec, said = SicboShaker("dice", Options()), []
    for index, state in enumerate(states):
        said += codec.feed(f"says {kept} {state}\n".encode(), float(index))
    return said


def states(readings: list[AnyReading]) -> list[tuple[str, int | None]]:
    return [
        (reading.state, reading.throw) for reading in readings if isinstance(reading, DiceState)
    ]


def faults(readings: list[AnyReading]) -> list[tuple[str, bool]]:
    return [
        (reading.fault, reading.active) for reading in readings if isinstance(reading, DiceFault)
    ]


def test_a_shake() -> None:
    readings = heard("S0", "S0", "S2", "S1", "S1", "S0", "S0", "S2", "S1", "S0")
    assert states(readings) == [
        ("idle", None),
        ("moving", 1),
        ("settled", 1),
        ("moving", 2),
        ("settled", 2),
    ]
    assert faults(readings) == []


def test_a_command_after_which_nothing_moved_leaves_the_dice_unchanged() -> None:
    readings = heard("S0", "S2", "S0", "S2", "S1", "S0")
    assert faults(readings) == [("unchanged", True), ("unchanged", False)]


def test_its_motion_fails() -> None:
    readings = heard("S1", "S90", "S90", "S0")
    assert faults(readings) == [("sensor", True), ("sensor", False)]


def test_what_the_broker_had_kept_is_late() -> None:
    assert [
        reading.late for reading in heard("S0", kept="1") if isinstance(reading, DiceState)
    ] == [True]


def test_other_words_are_reports_each_once() -> None:
    codec = SicboShaker("dice", Options())
    readings = codec.feed(
        b"says 0 hello\nsays 0 hello\nstatus 0 ready\nresponse 0 \\x00\nlistens 0 /state\n", 1.0
    )
    assert [(each.report, each.value) for each in readings if isinstance(each, DeviceReport)] == [
        ("says", "hello"),
        ("status", "ready"),
        ("response", r"\x00"),
    ]


def test_it_is_polled_for_its_state_and_shaken_only_when_idle() -> None:
    codec = SicboShaker("dice", Options(poll=2.0, shake="/cycle/?duration=6"))
    assert codec.polls() == ((2.0, b"listens /state\n"),)
    with pytest.raises(ValueError, match="its state is unknown"):
        codec.encode("shake")
    codec.feed(b"says 0 S0\n", 1.0)
    assert codec.encode("shake") == b"listens /cycle/?duration=6\n"
    codec.feed(b"says 0 S1\n", 2.0)
    with pytest.raises(ValueError, match="its state is S1"):
        codec.encode("shake")
    with pytest.raises(ValueError, match="one command"):
        codec.encode("stop")


@given(st.binary(max_size=300), st.lists(st.integers(1, 30), max_size=20))
def test_any_split_gives_the_same_and_noise_is_never_an_exception(
    noise: bytes, cuts: list[int]
) -> None:
    stream = b"says 0 S0\nsays 0 S1\n" + noise + b"\nsays 0 S0\n"
    codec, said, begin = SicboShaker("dice", Options()), [], 0
    for cut in cuts:
        said += codec.feed(stream[begin : begin + cut], 1.0)
        begin += cut
    said += codec.feed(stream[begin:], 1.0)
    assert said == SicboShaker("dice", Options()).feed(stream, 1.0)


def test_the_buffer_is_bounded() -> None:
    said = SicboShaker("dice", Options()).feed(b"x" * (2 * MAX_LINE_BYTES + 5), 1.0)
    assert [reading.bytes for reading in said if isinstance(reading, LinkGarbage)] == [
        MAX_LINE_BYTES,
        MAX_LINE_BYTES,
    ]
