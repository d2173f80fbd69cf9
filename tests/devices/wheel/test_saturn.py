"""Requests and answers of the Saturn."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.readings import (
    AnyReading,
    DeviceReport,
    LinkGarbage,
    LinkLate,
    WheelFault,
    WheelNumber,
    WheelPhase,
)
from devices.wheel import saturn_frames as frames
from devices.wheel.saturn import MAX_ANSWER_BYTES, Fields, Options, Saturn
from simulators.wheel.saturn import FIELDS, SaturnWheel

KNOWN = msgspec.convert(FIELDS, Fields)
PERIOD = 0.2


class Host:
    """Asks a simulated wheel, and hands its answers to the driver."""

    def __init__(
        self,
        options: Options = Options(fields=KNOWN),  # noqa: B008
        wheel: SaturnWheel | None = None,
    ) -> None:
        self.wheel = wheel or SaturnWheel(numbers=(17, 0, 36))
        self.codec = Saturn("wheel", options)
        self.now = 0.0
        self.readings: list[AnyReading] = []

    def poll(self, request: bytes = frames.STATUS, after: float = PERIOD) -> list[AnyReading]:
        self.now += after
        self.wheel.advance(self.now)
        self.wheel.receive(request, self.now)
        self.now += 0.02
        said = [
            reading
            for _, data in self.wheel.advance(self.now)
            for reading in self.codec.feed(data, self.now)
        ]
        self.readings += said
        return said

    def run(self, seconds: float) -> list[AnyReading]:
        end, said = self.now + seconds, []
        while self.now < end:
            said += self.poll()
        return said

    def numbers(self) -> list[tuple[int | str, int | None, bool]]:
        return [
            (reading.number, reading.spin, reading.late)
            for reading in self.readings
            if isinstance(reading, WheelNumber)
        ]


def test_frames_are_those_that_were_published() -> None:
    assert frames.frame("02", "SR1").hex() == "01303202535231037e04"
    assert frames.STATUS.hex() == "01303202535232037f04"
    assert frames.ERROR.hex() == "01303402535233034204"
    assert frames.FIRE.hex() == "0130340252433033036204"


def test_numbers_are_reported_once_and_live() -> None:
    host = Host()
    host.run(36 * 3 + 1)
    assert host.numbers() == [(17, 1, False), (0, 2, False), (36, 3, False)]
    phases = [reading.phase for reading in host.readings if isinstance(reading, WheelPhase)]
    assert phases[:5] == ["bets_open", "ball_in_rim", "no_more_bets", "settled", "bets_open"]


def test_without_fields_there_is_neither_phase_nor_number_and_that_is_reported() -> None:
    host = Host(Options())
    readings = host.run(80)
    assert [(each.report, each.value) for each in readings if isinstance(each, DeviceReport)] == [
        ("fields", "none: link and errors alone are reported")
    ]
    assert not [each for each in readings if isinstance(each, WheelPhase | WheelNumber)]
    assert host.codec.counters.frames > 100


def test_an_error_and_its_text() -> None:
    host = Host()
    host.run(1)
    host.wheel.fault("error", 5.0, host.now)
    (begun,) = [each for each in host.poll() if isinstance(each, WheelFault)]
    assert (begun.fault, begun.active) == ("sensor", True)
    assert [each.value for each in host.poll(frames.ERROR) if isinstance(each, DeviceReport)] == [
        "E12 BAL"
    ]
    (over,) = [each for each in host.run(6) if isinstance(each, WheelFault)]
    assert over.active is False


def test_a_number_that_was_not_seen_to_come_is_a_candidate() -> None:
    host = Host()
    host.run(20)
    host.poll(after=12.0)  # the ball fell in the silence
    host.run(1)
    assert host.numbers() == [(17, 1, True)]
    assert [reading for reading in host.readings if isinstance(reading, LinkLate)]


def test_one_answer_alone_is_no_number() -> None:
    codec = Saturn("wheel", Options(fields=KNOWN))
    answers = [
        frames.frame("02", f"{text:<44}0") for text in ("N 4001", "S17002", "S18002", "S18002")
    ]
    said = [
        [
            reading
            for reading in codec.feed(data, index * PERIOD)
            if isinstance(reading, WheelNumber)
        ]
        for index, data in enumerate(answers)
    ]
    assert [len(each) for each in said] == [0, 0, 0, 1]
    assert said[3][0].number == 18


def test_an_invalid_pocket() -> None:
    codec = Saturn("wheel", Options(fields=KNOWN))
    readings: list[AnyReading] = []
    for index, text in enumerate(("N 4001", "S??002", "S??002", "O??002", "S 5003", "S 5003")):
        readings += codec.feed(frames.frame("02", f"{text:<44}0"), index * PERIOD)
    assert [
        (each.fault, each.active, each.detail) for each in readings if isinstance(each, WheelFault)
    ] == [
        ("number_unknown", True, "??"),
        ("number_unknown", False, None),
    ]
    assert [reading.number for reading in readings if isinstance(reading, WheelNumber)] == [5]


def test_the_wheel_is_not_fired_again_too_soon() -> None:
    host = Host(Options(fields=KNOWN, refire=20.0), SaturnWheel(attended=True))
    with pytest.raises(ValueError, match="not answered yet"):
        host.codec.encode("fire")
    host.run(1)
    assert host.codec.encode("fire") == frames.FIRE
    with pytest.raises(ValueError, match="less than 20 s ago"):
        host.codec.encode("fire")
    host.run(19)
    with pytest.raises(ValueError, match="less than 20 s ago"):
        host.codec.encode("fire")
    host.run(2)
    assert host.codec.encode("fire") == frames.FIRE
    host.poll(after=500.0)  # it was sent some time in this silence: the pause counts from its end
    with pytest.raises(ValueError, match="less than 20 s ago"):
        host.codec.encode("fire")


@pytest.mark.parametrize(("command", "argument"), [("stop", ""), ("fire", "2")])
def test_other_commands_are_refused(command: str, argument: str) -> None:
    with pytest.raises(ValueError, match="saturn"):
        Saturn("wheel", Options()).encode(command, argument)


def test_requests_that_are_echoed_are_no_answers() -> None:
    codec = Saturn("wheel", Options(fields=KNOWN))
    assert codec.feed(frames.STATUS + frames.ERROR + frames.FIRE, 1.0) == []
    assert codec.counters.frames == 0


def test_an_answer_without_end_is_not_waited_for() -> None:
    codec = Saturn("wheel", Options(fields=KNOWN))
    readings = codec.feed(frames.SOH + b"02" + b"x" * (3 * MAX_ANSWER_BYTES), 1.0)
    assert all(isinstance(each, LinkGarbage) for each in readings)
    assert len(readings) == 3


def test_a_wrong_check_is_damage_unless_the_site_configures_no_check() -> None:
    answer = bytearray(frames.frame("02", f"{'N 4001':<44}0"))
    answer[-2] ^= 1
    (dropped,) = Saturn("wheel", Options(fields=KNOWN)).feed(bytes(answer), 1.0)
    assert isinstance(dropped, LinkGarbage)
    assert isinstance(
        Saturn("wheel", Options(fields=KNOWN, check="none")).feed(bytes(answer), 1.0)[0], WheelPhase
    )


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"state": (9, 4)}, "fields.state"),
        ({"number": (0, MAX_ANSWER_BYTES)}, "fields.number"),
        ({"phases": {"O": "bets_open"}}, "settled"),
        ({"phases": {"O": "spinning"}}, "spinning"),
    ],
)
def test_a_mistaken_map_is_refused(change: dict[str, object], says: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=says):
        msgspec.convert(FIELDS | change, Fields)


ANSWERS = [
    frames.frame("02", f"{text:<44}0")
    for text in ("O 4001", "R 4001", "N 4001", "S17002", "S17002", "O17002")
]


@given(
    st.lists(st.integers(1, 40), max_size=20),
    st.lists(st.tuples(st.integers(0, 5), st.binary(max_size=30)), max_size=4),
)
def test_any_split_gives_the_same_readings(cuts: list[int], junk: list[tuple[int, bytes]]) -> None:
    pieces = list(ANSWERS)
    for place, data in junk:
        pieces[place] = data + pieces[place]
    stream = b"".join(pieces)
    whole = Saturn("wheel", Options(fields=KNOWN)).feed(stream, 1.0)
    codec, said, begin = Saturn("wheel", Options(fields=KNOWN)), [], 0
    for cut in cuts:
        said += codec.feed(stream[begin : begin + cut], 1.0)
        begin += cut
    said += codec.feed(stream[begin:], 1.0)
    assert said == whole


@given(st.binary(max_size=600))
def test_noise_is_never_an_exception(data: bytes) -> None:
    codec = Saturn("wheel", Options(fields=KNOWN))
    codec.feed(data, 1.0)
    codec.reconnected(2.0)
    assert not [reading for reading in codec.feed(b"", 3.0) if isinstance(reading, WheelNumber)]
