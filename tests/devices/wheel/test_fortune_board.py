"""The codec of a wheel of fortune: launches, results and faults."""

from __future__ import annotations

from typing import Any

import pytest

from common.readings import AnyReading, LinkGap, WheelCell, WheelFault, WheelPhase
from tests.support.devices.board_pens import Board, make, of


class Wheel(Board):
    """A wheel of 54 cells that is at rest in cell 1 until it is pushed."""

    def __init__(self, **options: Any) -> None:
        super().__init__("fortune-board", **options)
        self.launches = self.forward = self.back = 0
        self.health = "ok"
        self.stand(1)

    def stand(self, cell: int, seconds: float = 3.0) -> list[AnyReading]:
        return self.show(
            "wheel",
            cell,
            self.forward,
            self.back,
            "0",
            0,
            self.launches,
            self.health,
            seconds=seconds,
        )

    def turn(
        self, forward: int, rpm: float = 30.0, back: int = 0, seconds: float = 1.0
    ) -> list[AnyReading]:
        """Turn by this many cells; a direction other than the first one is backwards."""
        self.forward, self.back = self.forward + forward, self.back + back
        fields = (
            7,
            self.forward,
            self.back,
            "-" if back else "+",
            round(rpm * 10),
            self.launches,
            self.health,
        )
        return self.show("wheel", *fields, seconds=seconds)

    def push(self, cells: int = 200, **how: Any) -> list[AnyReading]:
        """Set it going and let it run down to its last cells."""
        self.launches, self.forward, self.back = self.launches + 1, 0, 0
        readings = self.turn(3, seconds=0.0) + self.turn(cells - 8)
        return readings + self.turn(5, rpm=4.0, **how)


def phases(readings: list[AnyReading]) -> list[tuple[str, int | None]]:
    return [(r.phase, r.spin) for r in of(WheelPhase, readings)]


def cells(readings: list[AnyReading]) -> list[tuple[int, int | None, int | None, bool]]:
    return [(r.cell, r.spin, r.turns, r.late) for r in of(WheelCell, readings)]


def faults(readings: list[AnyReading]) -> list[tuple[str, bool, str | None]]:
    return [(r.fault, r.active, r.detail) for r in of(WheelFault, readings)]


def test_a_spin() -> None:
    wheel = Wheel()
    readings = wheel.push(200) + wheel.stand(33, seconds=30.0)
    assert phases(readings) == [("launched", 1), ("settling", 1), ("settled", 1)]
    assert cells(readings) == [(33, 1, 3, False)]
    assert faults(wheel.readings) == []
    launched = of(WheelPhase, readings)[0]
    assert (launched.rpm, launched.direction) == (30.0, "clockwise")


def test_a_launch_of_which_the_first_cells_alone_were_reported_leaves_a_candidate() -> None:
    wheel = Wheel()
    wheel.launches += 1
    assert phases(wheel.turn(3, seconds=0.0)) == []
    wheel.lose(10)
    wheel.now += 10.0
    wheel.forward = 200
    assert cells(wheel.stand(33)) == [(33, 1, 3, True)]


def test_equal_cells_running_are_two_results() -> None:
    wheel = Wheel()
    assert [cells(wheel.push() + wheel.stand(8)) for _ in range(2)] == [
        [(8, 1, 3, False)],
        [(8, 2, 3, False)],
    ]


def test_a_touch_is_no_launch() -> None:
    wheel = Wheel()
    wheel.launches += 1
    readings = wheel.turn(4) + wheel.stand(5)
    assert of(WheelPhase, readings) + of(WheelCell, readings) + of(WheelFault, readings) == []


def test_the_wheel_must_rest_for_the_configured_time() -> None:
    wheel = Wheel(settle_time=3.0)
    wheel.push()
    assert cells(wheel.stand(33, seconds=2.0)) == []
    wheel.stand(34, seconds=0.0)
    assert cells(wheel.stand(33, seconds=2.0)) == []
    assert cells(wheel.wait(1.0)) == [(33, 1, 3, False)]


def test_one_measure_of_the_speed_does_not_close_the_bets() -> None:
    wheel = Wheel()
    wheel.launches += 1
    wheel.turn(20)
    assert phases(wheel.turn(1, rpm=2.0, seconds=0.0) + wheel.turn(20)) == []
    assert phases(wheel.turn(5, rpm=9.9)) == [("settling", 1)]


class TestFaults:
    @pytest.mark.parametrize(("min_turns", "wrong"), [(3, True), (2, False)])
    def test_too_few_turns_are_reported_before_the_cell(self, min_turns: int, wrong: bool) -> None:
        wheel = Wheel(min_turns=min_turns)
        readings = wheel.push(161) + wheel.stand(33)
        assert faults(readings) == ([("too_few_turns", True, "2")] if wrong else [])
        assert cells(readings) == [(33, 1, 2, False)]
        if wrong:
            kinds = [type(reading) for reading in readings]
            assert kinds.index(WheelFault) < kinds.index(WheelCell)
            assert faults(wheel.push()) == [("too_few_turns", False, "2")]

    def test_it_may_fall_back_at_the_tongue_and_no_further(self) -> None:
        wheel = Wheel()
        assert faults(wheel.push(back=2) + wheel.stand(33)) == []
        readings = wheel.push(back=3) + wheel.stand(33)
        assert faults(readings) == [("reversed", True, "3 cells")]
        assert cells(readings) == [(33, 2, 3, False)]

    def test_between_two_cells(self) -> None:
        wheel = Wheel()
        wheel.push()
        assert faults(wheel.stand(0)) == [("between", True, None)]
        assert cells(wheel.stand(12)) == []  # a hand has moved it
        assert faults(wheel.push()) == [("between", False, None)]

    @pytest.mark.parametrize(("number", "known"), [(54, True), (55, False), (64, False)])
    def test_a_cell_that_the_wheel_does_not_have(self, number: int, known: bool) -> None:
        wheel = Wheel()
        wheel.push()
        readings = wheel.stand(number)
        assert faults(readings) == ([] if known else [("number_unknown", True, str(number))])
        assert bool(cells(readings)) is known

    def test_a_wheel_of_64(self) -> None:
        wheel = Wheel(cells=64)
        wheel.push(200)
        assert cells(wheel.stand(64)) == [(64, 1, 3, False)]

    def test_a_broken_encoder_gives_no_result(self) -> None:
        wheel = Wheel()
        wheel.health = "encoder"
        readings = wheel.push() + wheel.stand(33)
        assert faults(readings) == [
            ("sensor", True, "encoder"),
            ("number_unknown", True, "encoder"),
        ]
        assert cells(readings) == []
        wheel.health = "ok"
        assert faults(wheel.stand(33)) == [("sensor", False, "encoder")]
        assert cells(wheel.push() + wheel.stand(33)) == [(33, 2, 3, False)]

    def test_an_encoder_that_failed_in_between_gives_a_candidate(self) -> None:
        wheel = Wheel()
        wheel.launches += 1
        wheel.turn(60)
        wheel.health = "encoder"
        wheel.turn(20)
        wheel.health = "ok"
        wheel.turn(120)
        assert cells(wheel.stand(33)) == [(33, 1, 3, True)]
        assert cells(wheel.push() + wheel.stand(33)) == [(33, 2, 3, False)]

    def test_a_wheel_that_is_pushed_again_before_it_rested_long_enough(self) -> None:
        wheel = Wheel(settle_time=5.0)
        wheel.push()
        readings = wheel.stand(33, seconds=2.0) + wheel.push() + wheel.stand(8, seconds=6.0)
        assert phases(readings) == [("launched", 2), ("settling", 2), ("settled", 2)]
        assert cells(readings) == [(8, 2, 3, False)]

    def test_a_wheel_that_is_touched_afterwards(self) -> None:
        wheel = Wheel()
        wheel.push()
        wheel.stand(33)
        assert faults(wheel.stand(34)) == [("number_changed", True, "34")]


def restarted() -> Wheel:
    """A wheel that was pushed once, and whose board was then restarted."""
    wheel = Wheel()
    wheel.push()
    wheel.stand(33)
    wheel.restart()
    wheel.launches = wheel.forward = 0
    wheel.stand(33)
    return wheel


class TestSilence:
    def test_an_unreported_launch_leaves_a_candidate(self) -> None:
        wheel = Wheel()
        wheel.launches, wheel.forward = 1, 200
        wheel.lose(50)
        readings = wheel.stand(33)
        assert [gap.lost for gap in of(LinkGap, readings)] == [50]
        assert cells(readings) == [(33, 1, 3, True)]

    def test_one_that_is_joined_afterwards_gives_a_candidate(self) -> None:
        wheel = Wheel()
        wheel.codec = make("fortune-board")
        wheel.launches, wheel.forward = 9, 200
        assert cells(wheel.stand(33)) == [(33, 9, 3, True)]

    def test_a_board_that_was_restarted_in_a_spin_leaves_a_candidate_without_its_count(
        self,
    ) -> None:
        wheel = Wheel()
        wheel.push()
        wheel.restart()
        wheel.launches = wheel.forward = 0
        assert cells(wheel.stand(33)) == [(33, None, None, True)]

    def test_and_between_two_spins_nothing(self) -> None:
        wheel = Wheel()
        wheel.push()
        wheel.stand(33)
        wheel.restart()
        wheel.launches = wheel.forward = 0
        assert cells(wheel.stand(33)) == []

    def test_a_count_that_comes_again_after_a_restart_is_not_reported(self) -> None:
        wheel = restarted()
        assert [cells(wheel.push() + wheel.stand(8)) for _ in range(3)] == [
            [(8, None, 3, False)],
            [(8, None, 3, False)],
            [(8, 3, 3, False)],
        ]

    def test_a_wheel_without_a_count_that_is_pushed_again_is_launched_again(self) -> None:
        wheel = restarted()
        assert phases(wheel.push() + wheel.push() + wheel.stand(8)) == [
            ("launched", None),
            ("settling", None),
            ("launched", None),
            ("settling", None),
            ("settled", None),
        ]
