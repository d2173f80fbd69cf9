"""The codec of a boule plate: launches, results and faults."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.readings import AnyReading, LinkGap, WheelCell, WheelFault, WheelPhase
from tests.support.devices.board_pens import Board, make, of


def mask(*holes: int) -> str:
    return f"{sum(1 << hole - 1 for hole in holes):05X}"


class Plate(Board):
    """A plate whose ball lies in hole 7 until it is launched."""

    def __init__(self, **options: Any) -> None:
        super().__init__("boule-board", **options)
        self.runs = 0
        self.blind: tuple[int, ...] = ()
        self.lie(7, seconds=5.0)

    def lie(self, *holes: int, seconds: float = 3.0) -> list[AnyReading]:
        return self.show("holes", mask(*holes), mask(*self.blind), 0, self.runs, seconds=seconds)

    def run(self, *holes: int, seconds: float = 4.0, again: bool = False) -> list[AnyReading]:
        self.runs += not again
        return self.show("holes", mask(*holes), mask(*self.blind), 1, self.runs, seconds=seconds)


def phases(readings: list[AnyReading]) -> list[tuple[str, int | None]]:
    return [(r.phase, r.spin) for r in of(WheelPhase, readings)]


def cells(readings: list[AnyReading]) -> list[tuple[int, int | None, bool]]:
    return [(r.cell, r.spin, r.late) for r in of(WheelCell, readings)]


def faults(readings: list[AnyReading]) -> list[tuple[str, bool, str | None]]:
    return [(r.fault, r.active, r.detail) for r in of(WheelFault, readings)]


class TestSpins:
    def test_a_spin(self) -> None:
        plate = Plate()
        assert phases(plate.run()) == [("launched", 1)]
        assert phases(plate.run(3, again=True, seconds=0)) == [("settling", 1)]
        assert phases(plate.run(again=True, seconds=0)) == []
        readings = plate.lie(12)
        assert phases(readings) == [("settled", 1)]
        assert cells(readings) == [(12, 1, False)]
        assert cells(plate.wait(20)) == []

    def test_the_evidence_is_the_line(self) -> None:
        plate = Plate()
        plate.run()
        (cell,) = of(WheelCell, plate.lie(12))
        assert cell.frame is not None
        assert cell.frame.startswith("$NB,")
        assert ",boule,holes,00800,00000,0,1*" in cell.frame

    def test_the_same_hole_twice(self) -> None:
        plate = Plate()
        for spin in (1, 2):
            plate.run()
            assert cells(plate.lie(7)) == [(7, spin, False)]

    def test_what_lies_there_at_first_is_a_candidate(self) -> None:
        plate = Plate()
        plate.codec, plate.runs = make("boule-board"), 4
        assert cells(plate.lie(7, seconds=5.0)) == [(7, 4, True)]

    def test_before_the_first_launch_it_is_nothing(self) -> None:
        assert of(WheelPhase, Plate().readings) + of(WheelCell, Plate().readings) == []

    def test_one_that_is_joined_while_the_ball_runs_is_live(self) -> None:
        plate = Plate()
        plate.codec = make("boule-board")
        assert phases(plate.run()) == [("launched", 1)]
        assert cells(plate.lie(9)) == [(9, 1, False)]

    def test_a_ball_that_is_caught_and_launched_again(self) -> None:
        plate = Plate()
        plate.run()
        assert of(WheelFault, plate.lie(seconds=2.0)) == []
        assert phases(plate.run()) == [("launched", 2)]
        assert cells(plate.lie(5)) == [(5, 2, False)]

    def test_a_ball_that_is_lifted_is_no_spin(self) -> None:
        plate = Plate()
        readings = plate.lie(seconds=60.0) + plate.lie(4)
        assert of(WheelPhase, readings) + of(WheelCell, readings) + of(WheelFault, readings) == []


class TestAgreement:
    def test_a_ball_must_lie_for_the_configured_time(self) -> None:
        plate = Plate(settle_time=4.0)
        plate.run()
        assert cells(plate.lie(12, seconds=3.0)) == []
        assert cells(plate.wait(1.0)) == [(12, 1, False)]

    def test_a_flicker_of_any_sensor_restarts_the_time(self) -> None:
        plate = Plate()
        plate.run()
        for _ in range(3):
            assert cells(plate.lie(12, seconds=1.0) + plate.lie(12, 13, seconds=0.0)) == []
        assert cells(plate.lie(12)) == [(12, 1, False)]

    def test_a_flicker_of_motion_is_no_launch(self) -> None:
        plate = Plate()
        assert phases(plate.run(7, seconds=0) + plate.lie(7)) == []
        assert faults(plate.readings) == []

    def test_a_ball_that_jumps_out_again_has_not_come_to_rest(self) -> None:
        plate = Plate()
        plate.run()
        plate.run(3, again=True, seconds=0)
        plate.lie(3, seconds=1.0)
        plate.run()
        assert cells(plate.lie(4)) == [(4, 1, False)]

    def test_reports_that_are_missing_restart_it(self) -> None:
        plate = Plate()
        plate.run()
        plate.lie(12, seconds=1.0)
        plate.lose(1)
        assert cells(plate.wait(1.0)) == []
        assert cells(plate.wait(2.0)) == [(12, 1, False)]

    def test_sensors_that_never_agree_are_a_fault(self) -> None:
        plate = Plate()
        plate.run()
        for count in range(40):
            plate.lie(*((12,) if count % 2 else ()), seconds=0.5)
        assert faults(plate.readings) == [("number_unknown", True, "unsteady")]
        assert cells(plate.readings) == []


@given(
    st.lists(
        st.tuples(
            st.frozensets(st.integers(1, 18), max_size=2), st.booleans(), st.floats(0.05, 1.7)
        ),
        max_size=30,
    ),
    st.integers(1, 18),
)
def test_only_a_steady_sensor_is_a_result(
    flickers: list[tuple[frozenset[int], bool, float]], hole: int
) -> None:
    plate = Plate(out_time=600.0, stuck_time=600.0)
    plate.run()
    last: object = None
    for holes, moving, seconds in flickers:
        if (holes, moving) != last:
            assert cells((plate.run if moving else plate.lie)(*holes, seconds=seconds)) == []
        last = holes, moving
    plate.run(seconds=0.0)
    assert [(cell, late) for cell, _, late in cells(plate.lie(hole))] == [(hole, False)]


class TestFaults:
    @pytest.mark.parametrize("holes", [(7, 8), (1, 9), (10, 18), (4, 13), (1, 18)])
    def test_between_two_holes(self, holes: tuple[int, int]) -> None:
        plate = Plate()
        plate.run()
        readings = plate.lie(*holes)
        assert faults(readings) == [("between", True, f"seen in {holes[0]} {holes[1]}")]
        assert cells(readings) == []
        assert cells(plate.lie(8)) == []  # a person moved it: this was not the launch
        assert faults(plate.run())[0] == ("between", False, f"seen in {holes[0]} {holes[1]}")

    @pytest.mark.parametrize("holes", [(1, 5), (2, 13), (1, 2, 3)])
    def test_in_two_holes_at_once_it_cannot_be(self, holes: tuple[int, ...]) -> None:
        plate = Plate()
        plate.run()
        readings = plate.lie(*holes)
        assert faults(readings) == [
            ("number_unknown", True, f"seen in {' '.join(map(str, holes))}")
        ]
        assert cells(readings) == []
        assert faults(plate.run()) == [
            ("number_unknown", False, f"seen in {' '.join(map(str, holes))}")
        ]

    def test_ball_out(self) -> None:
        plate = Plate()
        plate.run()
        assert faults(plate.lie(seconds=4.0)) == []
        assert faults(plate.wait(1.0)) == [("ball_out", True, "seen nowhere")]
        assert cells(plate.lie(3)) == []
        assert faults(plate.run()) == [("ball_out", False, "seen nowhere")]
        assert cells(plate.lie(3)) == [(3, 2, False)]

    def test_a_sensor_that_is_stuck_gives_no_result(self) -> None:
        plate = Plate()
        assert faults(plate.run(5, seconds=5.0)) == [("sensor", True, "stuck 5")]
        readings = plate.lie(5)
        assert (cells(readings), faults(readings)) == ([], [("number_unknown", True, "stuck 5")])
        plate.run(5)
        assert cells(plate.lie(5, 12)) == []
        assert ("sensor", False, "stuck 5") in faults(plate.run())
        assert cells(plate.lie(5)) == [(5, 3, False)]

    def test_a_hole_that_was_full_before_the_launch_saw_no_ball_come(self) -> None:
        plate = Plate(stuck_time=60.0)
        plate.run(7)
        readings = plate.lie(7)
        assert cells(readings) == []
        assert faults(readings) == [
            ("number_unknown", True, "stuck 7"),
            ("sensor", True, "stuck 7"),
        ]

    def test_a_sensor_that_is_blind(self) -> None:
        plate = Plate()
        plate.blind = (4,)
        assert faults(plate.run()) == [("sensor", True, "blind 4")]
        assert faults(plate.lie(seconds=20.0)) == [
            ("number_unknown", True, "seen nowhere")
        ]  # out, or in hole 4: unknown
        plate.run()
        assert cells(plate.lie(16)) == [(16, 2, False)]
        plate.blind = ()
        assert faults(plate.lie(16)) == [("sensor", False, "blind 4")]

    @pytest.mark.parametrize("hole", [3, 5, 12, 13, 14])
    def test_beside_a_blind_sensor_the_ball_may_lie_between_two_holes(self, hole: int) -> None:
        plate = Plate()
        plate.blind = (4,)
        plate.run()
        assert cells(plate.lie(hole)) == [(hole, 1, True)]

    def test_a_ball_that_is_moved_afterwards(self) -> None:
        plate = Plate()
        plate.run()
        plate.lie(12)
        assert faults(plate.lie(13)) == [("number_changed", True, "seen in 13")]
        assert faults(plate.lie(12)) == [("number_changed", False, "seen in 13")]


class TestSilence:
    def test_a_board_that_was_silent_did_perhaps_not_look(self) -> None:
        plate = Plate()
        plate.run()
        plate.lie(12, seconds=0.0)
        assert cells(plate.say(*plate.state, after=20.0)) == []
        assert cells(plate.wait(2.0)) == [(12, 1, False)]

    @pytest.mark.parametrize(
        ("holes", "fault"),
        [
            ((7, 8), ("between", True, "seen in 7 8")),
            ((2, 6), ("number_unknown", True, "seen in 2 6")),
            ((), ("ball_out", True, "seen nowhere")),
        ],
    )
    def test_an_unreported_launch_ends_with_a_fault_too(
        self, holes: tuple[int, ...], fault: tuple[str, bool, str]
    ) -> None:
        plate = Plate()
        plate.runs += 1
        plate.lose(30)
        assert faults(plate.lie(*holes, seconds=6.0)) == [fault]

    def test_an_unreported_launch_leaves_a_candidate(self) -> None:
        plate = Plate()
        plate.runs += 1
        plate.lose(30)
        readings = plate.lie(7)
        assert [gap.lost for gap in of(LinkGap, readings)] == [30]
        assert phases(readings) == [("settled", 1)]
        assert cells(readings) == [(7, 1, True)]

    def test_a_launch_of_which_the_first_moment_alone_was_reported_leaves_a_candidate(self) -> None:
        plate = Plate()
        assert phases(plate.run(seconds=0.0)) == []
        plate.lose(10)
        plate.now += 10.0
        assert cells(plate.lie(12)) == [(12, 1, True)]

    def test_a_launch_that_was_reported_was_not_missed(self) -> None:
        plate = Plate()
        assert phases(plate.run(seconds=1.0)) == [("launched", 1)]
        plate.lose()
        assert cells(plate.run(again=True) + plate.lie(12)) == [(12, 1, False)]

    def test_lines_that_had_waited_give_no_live_result(self) -> None:
        plate = Plate()
        plate.run()
        held = b""
        for _ in range(12):
            plate.now += 1.0
            held += plate.line("holes", mask(12), mask(), 0, plate.runs)
        plate.now += 5.0
        assert cells(plate.raw(held)) == [(12, 1, True)]
        assert phases(plate.readings)[-1] == ("settled", 1)

    def test_a_board_that_was_restarted_knows_nothing_of_the_spin(self) -> None:
        plate = Plate()
        plate.run()
        plate.restart()
        plate.runs = 0
        plate.say("boot", 1, "plate")
        assert cells(plate.lie(12)) == [(12, None, True)]

    def test_a_count_that_comes_again_after_a_restart_is_not_reported(self) -> None:
        plate = Plate()
        plate.run()
        assert cells(plate.lie(12)) == [(12, 1, False)]
        plate.restart()
        plate.runs = 0
        plate.lie(12)
        readings = [r for hole in (3, 4, 5) for r in plate.run() + plate.lie(hole)]
        assert cells(readings) == [(3, None, False), (4, None, False), (5, 3, False)]
