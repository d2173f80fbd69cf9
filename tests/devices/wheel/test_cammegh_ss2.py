"""The driver of the Slingshot 2 on a clean line: phases, results and faults."""

from __future__ import annotations

import msgspec
import pytest

from common.cammegh_ss2_frames import (
    BLANK_NUMBER,
    NUMBERS,
    WARNINGS,
    Status,
    pockets_of,
    read_status,
)
from common.readings import LinkGarbage, Phase, WheelFault, WheelNumber, WheelPhase, unescape
from devices.wheel.cammegh_ss2 import Options
from tests.devices.wheel.slingshot import WheelFeed, faults, numbers, phases, status
from tests.support.for_each import for_each


class TestStatusLine:
    def test_every_field_is_read(self) -> None:
        assert read_status(b"*X;2;094; 7;A;163;1") == Status(2, 94, 7, 10, 163, 1)
        assert read_status(b"*X;6;001;  ;4;000;0") == Status(6, 1, None, 4, 0, 0)

    @for_each(
        ("text", "number"),
        [(b" 0", 0), (b"00", "00"), (b"38", "000"), (b"39", "0000"), (b" 9", 9), (b"37", 37)],
    )
    def test_the_zeros_are_kept_apart(self, text: bytes, number: int | str) -> None:
        found = read_status(b"*X;5;001;%b;0;166;0" % text)
        assert found is not None
        assert found.number == number

    def test_colons_are_understood_but_not_mixed(self) -> None:
        assert read_status(b"*X:5:012:17:0:166:1") == Status(5, 12, 17, 0, 166, 1)
        assert read_status(b"*X:5;012:17:0:166:1") is None
        assert read_status(b"*X:5:012:17:0:166") is None

    @for_each(
        "line",
        [
            b"*X;2;094;33;0;163",  # cut at the end
            b"4;146; 9;0;159;0",
            b"*X;4;14*X;",
            b"*X;0;094;33;0;163;1",  # no such state
            b"*X;8;094;33;0;163;1",
            b"*X;2;000;33;0;163;1",  # spins count from 1 to 256
            b"*X;2;257;33;0;163;1",
            b"*X;2;94;33;0;163;1",  # widths
            b"*X;2;0094;33;0;163;1",
            b"*X;2;094;3;0;163;1",
            b"*X;2;094;03;0;163;1",  # never padded with a zero
            b"*X;2;094;40;0;163;1",
            b"*X;2;094;3 ;0;163;1",
            b"*X;2;094;33;G;163;1",
            b"*X;2;094;33;10;163;1",
            b"*X;2;094;33;0;63;1",
            b"*X;2;094;33;0;1633;1",
            b"*X;2;094;33;0;163;2",
            b"*X;2;094;33;0;163;1;",
            b" *X;2;094;33;0;163;1",
            b"*x;2;094;33;0;163;1",
            "*X;2;094;3３;0;163;1".encode(),
        ],
    )
    def test_what_does_not_fit_is_no_status(self, line: bytes) -> None:
        assert read_status(line) is None

    def test_the_pockets_of_each_wheel(self) -> None:
        assert pockets_of(37) == set(range(37))
        assert pockets_of(38) - pockets_of(37) == {"00"}
        assert pockets_of(39) - pockets_of(38) == {"000"}
        assert pockets_of(40) - pockets_of(39) == {"0000"}
        assert pockets_of(40) | {37} == set(NUMBERS.values())


class TestPhases:
    @for_each(
        ("state", "phase"),
        [
            (1, "idle"),
            (2, "bets_open"),
            (3, "ball_in_rim"),
            (4, "no_more_bets"),
            (5, "settled"),
            (6, "closed"),
        ],
    )
    def test_every_state(self, state: int, phase: Phase) -> None:
        wheel = WheelFeed()
        (reading, *_) = wheel.send(state, 12, "17", speed=166, direction=1)
        assert reading == WheelPhase(
            at=wheel.now,
            device="wheel",
            frame=status(state, 12, "17", speed=166, direction=1).decode(),
            phase=phase,
            spin=12,
            rpm=16.6,
            direction="anticlockwise",
        )

    def test_a_steady_wheel_is_quiet(self) -> None:
        wheel = WheelFeed()
        wheel.send(2, speed=166)
        assert [wheel.send(2, speed=speed) for speed in (165, 167, 90, 1)] == [[]] * 4

    def test_the_phase_is_repeated_when_the_rotor_stops_or_reverses(self) -> None:
        wheel = WheelFeed()
        wheel.send(2, speed=166)
        assert phases(wheel.send(2, speed=0)) == ["bets_open"]
        assert wheel.send(2, speed=0) == []
        assert phases(wheel.send(2, speed=0, direction=1)) == ["bets_open"]
        assert phases(wheel.send(2, speed=70, direction=1)) == ["bets_open"]

    def test_state_7_is_a_fault_and_leaves_the_phase(self) -> None:
        wheel = WheelFeed()
        wheel.send(3)
        assert faults(wheel.send(7)) == [("ball_not_in_track", True)]
        assert wheel.send(7) == []
        assert phases(wheel.send(7, direction=1)) == ["ball_in_rim"]
        assert faults(wheel.send(6)) == [("ball_not_in_track", False)]

    def test_a_wheel_met_in_state_7_has_no_phase_yet(self) -> None:
        assert faults(WheelFeed().send(7)) == [("ball_not_in_track", True)]


class TestResult:
    def test_it_comes_once_right_after_the_phase_with_both_witnesses(self) -> None:
        wheel = WheelFeed()
        wheel.send(4, 4, "24")
        assert wheel.line(b"35", after=0.4) == []
        assert wheel.send(5, 4, "35", after=0.1) == [
            WheelPhase(
                at=wheel.now,
                device="wheel",
                frame="*X;5;004;35;0;166;0",
                phase="settled",
                spin=4,
                rpm=16.6,
                direction="clockwise",
            ),
            WheelNumber(
                at=wheel.now,
                device="wheel",
                frame=r"35\r\n*X;5;004;35;0;166;0",
                number=35,
                spin=4,
                witness="both",
            ),
        ]
        assert wheel.send(5, 4, "35") == []

    def test_without_the_bare_number_the_status_is_enough(self) -> None:
        wheel = WheelFeed()
        (number,) = numbers(wheel.play(3, "14", " 0", bare=False))
        assert (number.number, number.witness, number.conflict) == (0, "status", None)
        assert number.frame == "*X;5;003; 0;0;166;0"

    def test_two_witnesses_that_differ(self) -> None:
        wheel = WheelFeed()
        wheel.send(4, 4, "24")
        wheel.line(b" 3")
        (number,) = numbers(wheel.send(5, 4, "30"))
        assert (number.number, number.witness, number.conflict) == (30, "status", 3)
        assert number.frame is not None
        assert unescape(number.frame) == b" 3\r\n" + status(5, 4, "30")
        assert faults(wheel.readings) == []

    def test_the_same_number_twice_running_is_two_results(self) -> None:
        wheel = WheelFeed()
        wheel.play(9, "24", "17")
        wheel.play(10, "17", "17")
        assert [(n.spin, n.number) for n in numbers(wheel.readings)] == [(9, 17), (10, 17)]

    def test_the_counter_wraps(self) -> None:
        wheel = WheelFeed()
        wheel.play(256, "24", "17")
        wheel.play(1, "17", " 5")
        assert [(n.spin, n.number, n.late) for n in numbers(wheel.readings)] == [
            (256, 17, False),
            (1, 5, False),
        ]

    def test_the_number_shown_in_play_is_the_one_before_and_no_result(self) -> None:
        wheel = WheelFeed()
        for state in (1, 2, 3, 4, 6):
            wheel.send(state, 7, "24")
        assert numbers(wheel.readings) == []

    def test_joining_when_the_ball_lies_gives_a_candidate_only(self) -> None:
        wheel = WheelFeed()
        (number,) = numbers(wheel.send(5, 7, "24"))
        assert number.late
        assert wheel.send(5, 7, "24") == []
        assert numbers(wheel.send(2, 8, "24")) == []

    def test_a_power_cycle_is_a_new_count(self) -> None:
        wheel = WheelFeed()
        wheel.play(40, "24", "17")
        wheel.send(2, 41, "17")
        wheel.send(6, 1)
        assert [(n.spin, n.late) for n in numbers(wheel.play(1, "  ", "17"))] == [(1, False)]
        assert faults(wheel.readings) == []

    def test_a_power_cycle_within_the_first_spin(self) -> None:
        wheel = WheelFeed()
        wheel.play(1, "  ", "17")
        wheel.send(6, 1)
        assert [(n.spin, n.number) for n in numbers(wheel.play(1, "  ", "18"))] == [(1, 18)]
        assert faults(wheel.readings) == []

    def test_a_power_cycle_is_not_a_wrap(self) -> None:
        wheel = WheelFeed()
        wheel.send(4, 256, "17")
        assert numbers(wheel.send(6, 1)) == []

    def test_a_number_that_changes_afterwards(self) -> None:
        wheel = WheelFeed()
        wheel.play(9, "24", "17")
        changed = wheel.send(5, 9, "18")
        assert changed == [
            WheelFault(
                at=wheel.now,
                device="wheel",
                frame="*X;5;009;18;0;166;0",
                fault="number_changed",
                active=True,
                spin=9,
                detail="18",
            )
        ]
        assert wheel.send(5, 9, "18") == []
        assert faults(wheel.send(5, 9, "17")) == [("number_changed", False)]
        assert faults(wheel.send(2, 10, "16")) == [("number_changed", True)]
        assert faults(wheel.play(10, "16", " 2")) == [("number_changed", False)]
        assert [n.number for n in numbers(wheel.readings)] == [17, 2]

    def test_another_launch_under_the_same_count_is_another_result(self) -> None:
        wheel = WheelFeed()
        wheel.play(9, "24", "17")
        wheel.send(6, 9, "17")
        assert [(n.spin, n.number, n.late) for n in numbers(wheel.play(9, "17", "17"))] == [
            (9, 17, False)
        ]
        assert faults(wheel.readings) == []

    @pytest.mark.parametrize(
        ("pockets", "number", "told", "known"),
        [
            (37, "36", 36, True),
            (37, "00", "00", False),
            (38, "00", "00", True),
            (38, "38", "000", False),
            (40, "39", "0000", True),
        ],
    )
    def test_a_pocket_that_the_wheel_should_not_have(
        self, pockets: int, number: str, told: int | str, known: bool
    ) -> None:
        wheel = WheelFeed(msgspec.convert({"pockets": pockets, "heard_twice": False}, Options))
        readings = wheel.play(3, "14", number)
        assert [n.number for n in numbers(readings)] == [told]
        assert faults(readings) == ([] if known else [("number_unknown", True)])
        assert faults(wheel.play(4, number, "12")) == ([] if known else [("number_unknown", False)])

    def test_a_settled_wheel_without_a_number(self) -> None:
        wheel = WheelFeed()
        assert faults(wheel.play(3, "  ", BLANK_NUMBER.decode(), bare=False)) == [
            ("number_unknown", True)
        ]
        assert numbers(wheel.readings) == []


class TestBareNumber:
    @pytest.mark.parametrize("state", [1, 2, 3, 6])
    def test_in_other_states_it_is_a_tail(self, state: int) -> None:
        wheel = WheelFeed()
        wheel.send(state, 4, "24")
        assert [type(reading) for reading in wheel.line(b"35")] == [LinkGarbage]

    @for_each("tail", [b"5", b"350", b"40", b"5 ", b";0", b"05"])
    def test_only_two_characters_that_are_a_pocket(self, tail: bytes) -> None:
        wheel = WheelFeed()
        wheel.send(4, 4, "24")
        assert [type(reading) for reading in wheel.line(tail)] == [LinkGarbage]

    def test_the_first_line_after_opening_may_be_a_tail(self) -> None:
        wheel = WheelFeed()
        assert [type(reading) for reading in wheel.line(b"35")] == [LinkGarbage]
        wheel.send(4, 4, "24")
        wheel.codec.reconnected(wheel.now)
        assert [type(reading) for reading in wheel.line(b"35")] == [LinkGarbage]
        assert [type(reading) for reading in wheel.line(b"35")] == [LinkGarbage]

    def test_it_agrees_afterwards(self) -> None:
        wheel = WheelFeed()
        wheel.play(3, "14", "35", bare=False)
        assert wheel.line(b"35") == []

    def test_it_disagrees_afterwards(self) -> None:
        wheel = WheelFeed()
        wheel.play(3, "14", "35", bare=False)
        assert faults(wheel.line(b" 5")) == [("witnesses_disagree", True)]
        assert faults(wheel.play(4, "35", " 6")) == [("witnesses_disagree", False)]
        assert numbers(wheel.readings)[1].witness == "both"


class TestWarnings:
    @for_each("state", range(1, 8))
    def test_a_sensor_fault_in_any_state(self, state: int) -> None:
        wheel = WheelFeed()
        wheel.send(state, 3, "14")
        assert ("sensor", True) in faults(wheel.send(state, 3, "14", warnings=4))
        assert wheel.send(state, 3, "14", warnings=4) == []
        assert ("sensor", False) in faults(wheel.send(state, 3, "14"))

    def test_a_closed_wheel_without_warnings_is_no_fault(self) -> None:
        assert faults(WheelFeed().send(6)) == []

    def test_a_failed_launch_with_open_bets_is_reported_at_once(self) -> None:
        wheel = WheelFeed()
        wheel.send(2)
        (fault,) = wheel.send(2, warnings=8)
        assert isinstance(fault, WheelFault)
        assert (fault.fault, fault.active, fault.frame, fault.spin) == (
            "failed_launch",
            True,
            "*X;2;001;  ;8;166;0",
            1,
        )
        assert faults(wheel.send(3, warnings=8)) == []  # still the same one
        assert faults(wheel.send(3)) == [("failed_launch", False)]

    def test_in_the_first_three_seconds_of_the_rim_it_is_ignored(self) -> None:
        wheel = WheelFeed()
        wheel.send(2)
        told = [faults(wheel.send(3, warnings=8)) for _ in range(8)]
        assert told == [[]] * 6 + [[("failed_launch", True)]] + [[]]

    def test_the_ball_runs_with_the_rotor(self) -> None:
        wheel = WheelFeed()
        assert faults(wheel.send(2, warnings=2)) == []
        assert faults(wheel.send(3, warnings=2)) == [("ball_with_rotor", True)]
        assert faults(wheel.send(2, warnings=2)) == [("ball_with_rotor", False)]

    def test_the_ball_is_gone_after_five_seconds_without_it(self) -> None:
        wheel = WheelFeed()
        wheel.send(3, warnings=1)
        wheel.send(4)
        told = [faults(wheel.send(4, warnings=1)) for _ in range(12)]
        assert told == [[]] * 10 + [[("ball_removed", True)]] + [[]]
        assert faults(wheel.send(4)) == [("ball_removed", False)]

    def test_the_ball_that_comes_back_restarts_the_five_seconds(self) -> None:
        wheel = WheelFeed()
        wheel.send(3)
        for _ in range(3):
            for _ in range(9):
                assert faults(wheel.send(4, warnings=1)) == []
            wheel.send(4)

    def test_two_at_once(self) -> None:
        wheel = WheelFeed()
        wheel.send(2)
        assert set(faults(wheel.send(3, warnings=6))) == {
            ("ball_with_rotor", True),
            ("sensor", True),
        }

    def test_the_table_has_names_for_bits_and_states(self) -> None:
        assert {warning.bit for warning in WARNINGS} == {1, 2, 4, 8}
        assert {warning.state for warning in WARNINGS} <= set(range(1, 8))
