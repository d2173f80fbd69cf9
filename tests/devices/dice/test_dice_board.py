"""The codec of a reader of dice: throws, results and faults."""

from __future__ import annotations

from typing import Any

import pytest

from common.readings import AnyReading, DiceFault, DiceRead, DiceState
from tests.support.devices.board_pens import Board, make, of


class Reader(Board):
    """A reader whose dice are held in a hand until they are thrown."""

    def __init__(self, **options: Any) -> None:
        super().__init__("dice-board", **options)
        self.throws = 0
        self.health = "ok"
        self.lie()

    def see(self, moving: int, *dice: str, seconds: float) -> list[AnyReading]:
        return self.show("dice", moving, self.throws, self.health, *dice, seconds=seconds)

    def lie(self, *dice: str, seconds: float = 2.0) -> list[AnyReading]:
        return self.see(0, *dice, seconds=seconds)

    def throw(self, *dice: str) -> list[AnyReading]:
        self.throws += 1
        return self.see(1, *("?" for _ in dice), seconds=1.0) + self.lie(*dice)


def states(readings: list[AnyReading]) -> list[tuple[str, int | None]]:
    return [(r.state, r.throw) for r in of(DiceState, readings)]


def reads(readings: list[AnyReading]) -> list[tuple[tuple[int, ...], int | None, bool]]:
    return [(r.values, r.throw, r.late) for r in of(DiceRead, readings)]


def faults(readings: list[AnyReading]) -> list[tuple[str, bool, str | None]]:
    return [(r.fault, r.active, r.detail) for r in of(DiceFault, readings)]


class TestThrows:
    def test_a_throw(self) -> None:
        reader = Reader()
        readings = reader.throw("3@10.20", "4@30.40") + reader.lie()
        assert states(readings) == [("moving", 1), ("settled", 1), ("idle", 1)]
        assert reads(readings) == [((3, 4), 1, False)]
        assert faults(reader.readings) == []

    def test_the_same_values_running_are_two_throws(self) -> None:
        reader = Reader()
        assert reads(reader.throw("3@10.20", "4@30.40") + reader.throw("3@14.20", "4@30.40")) == [
            ((3, 4), 1, False),
            ((3, 4), 2, False),
        ]

    def test_three_dice(self) -> None:
        assert reads(Reader(dice=3).throw("1", "2", "3")) == [((1, 2, 3), 1, False)]

    def test_a_camera_that_sees_them_a_little_elsewhere_each_time(self) -> None:
        reader = Reader()
        reader.throws += 1
        reader.see(1, "?", "?", seconds=1.0)
        readings = [
            r
            for x in range(9)
            for r in reader.lie(f"3@{100 + x % 2}.50", f"4@{101 - x % 2}.70", seconds=0.2)
        ]
        assert {tuple(sorted(values)) for values, _, _ in reads(readings)} == {(3, 4)}

    def test_dice_must_lie_for_the_configured_time(self) -> None:
        reader = Reader(settle_time=3.0)
        reader.throw("3", "4")
        reader.lie("3", "5", seconds=0.0)
        assert reads(reader.lie("3", "4")) == []
        assert reads(reader.wait(1.0)) == [((3, 4), 1, False)]

    def test_a_report_that_is_missing_restarts_it(self) -> None:
        reader = Reader(settle_time=3.0)
        reader.throw("3", "4")
        reader.lose()
        assert reads(reader.wait(3.0)) == []
        assert reads(reader.wait(1.0)) == [((3, 4), 1, False)]

    def test_after_a_throw_the_dice_may_be_pushed_about(self) -> None:
        reader = Reader()
        reader.throw("3", "4")
        assert states(reader.see(1, "?", "?", seconds=1.0) + reader.lie("5", "5")) == []


class TestFaults:
    @pytest.mark.parametrize(
        ("dice", "fault", "detail"),
        [
            (("?@1.1", "4@2.2"), "no_read", None),
            (("3@1.1", "/@2.2"), "cocked", None),
            (("3@1.1",), "missing", "1 of 2"),
            ((), "missing", "0 of 2"),
            (("3", "4", "4"), "extra", "3 of 2"),
        ],
    )
    def test_nothing_is_read_of_a_throw_that_went_wrong(
        self, dice: tuple[str, ...], fault: str, detail: str | None
    ) -> None:
        reader = Reader()
        readings = reader.throw(*dice)
        assert faults(readings) == [(fault, True, detail)]
        assert reads(readings + reader.lie("3@1.1", "4@2.2")) == []  # a hand has seen to it
        assert faults(reader.throw("3@5.5", "4@6.6")) == [(fault, False, detail)]
        assert reads(reader.readings) == [((3, 4), 2, False)]

    def test_several_at_once(self) -> None:
        assert faults(Reader().throw("?", "/", "1")) == [
            ("extra", True, "3 of 2"),
            ("no_read", True, None),
            ("cocked", True, None),
        ]

    def test_dice_that_lie_where_they_lay_were_not_thrown(self) -> None:
        reader = Reader()
        reader.throw("3@10.20", "4@30.40")
        readings = reader.throw(
            "4@29.42", "3@10.23"
        )  # a camera sees them a little elsewhere, and in another order
        assert faults(readings) == [("unchanged", True, None)]
        assert reads(readings) == []

    def test_without_places_only_motion_counts(self) -> None:
        reader = Reader()
        reader.throw("3", "4")
        assert reads(reader.throw("3", "4")) == [((3, 4), 2, False)]
        reader.throws += 1
        assert faults(reader.lie("3", "4")) == [("unchanged", True, None)]

    def test_a_throw_that_is_counted_before_the_dice_move(self) -> None:
        reader = Reader()
        reader.throw("3@10.20", "4@30.40")
        reader.throws += 1
        reader.lie("3@10.20", "4@30.40", seconds=0.5)
        readings = reader.see(1, "?", "?", seconds=1.0) + reader.lie("2@11.11", "2@22.22")
        assert (reads(readings), faults(readings)) == ([((2, 2), 2, False)], [])

    def test_a_reader_that_is_not_well_reads_nothing(self) -> None:
        reader = Reader()
        reader.health = "light"
        readings = reader.throw("3", "4")
        assert faults(readings) == [("sensor", True, "light"), ("no_read", True, "light")]
        assert reads(readings) == []
        reader.health = "ok"
        assert faults(reader.throw("3", "4")) == [
            ("no_read", False, "light"),
            ("sensor", False, "light"),
        ]


class TestSilence:
    def test_an_unreported_throw_leaves_a_candidate(self) -> None:
        reader = Reader()
        reader.throws += 1
        reader.lose(9)
        assert reads(reader.lie("3", "4")) == [((3, 4), 1, True)]

    def test_or_nothing_where_the_dice_were_picked_up(self) -> None:
        reader = Reader()
        reader.throws += 1
        reader.lose(9)
        readings = reader.lie()
        assert of(DiceRead, readings) + of(DiceFault, readings) == []

    def test_an_unreported_throw_may_have_gone_wrong_too(self) -> None:
        reader = Reader()
        reader.throws += 1
        reader.lose(9)
        readings = reader.lie("3", "/")
        assert (reads(readings), faults(readings)) == ([], [("cocked", True, None)])

    def test_one_that_is_joined_afterwards_gives_a_candidate(self) -> None:
        reader = Reader()
        reader.codec, reader.throws = make("dice-board"), 7
        assert reads(reader.lie("3", "4")) == [((3, 4), 7, True)]

    def test_a_reader_that_was_restarted_in_a_throw_leaves_a_candidate_without_its_count(
        self,
    ) -> None:
        reader = Reader()
        reader.throws += 1
        reader.see(1, "?", "?", seconds=1.0)
        reader.restart()
        reader.throws = 1
        reader.see(1, "?", "?", seconds=1.0)
        assert reads(reader.lie("3", "4")) == [((3, 4), None, True)]

    def test_a_count_that_comes_again_after_a_restart_is_not_reported(self) -> None:
        reader = Reader()
        reader.throw("3", "4")
        reader.restart()
        reader.throws = 0
        reader.lie("3", "4")
        assert reads(reader.throw("5", "4") + reader.throw("6", "4") + reader.throw("6", "5")) == [
            ((5, 4), None, False),
            ((6, 4), None, False),
            ((6, 5), 3, False),
        ]

    def test_a_throw_after_one_missed_in_a_restart_does_not_seem_to_be_the_next(self) -> None:
        reader = Reader()
        reader.throw("3", "4")
        reader.lie()
        reader.restart()
        reader.say("boot", 1, "reader")
        reader.now += 8.0
        reader.throws = 1
        assert reads(reader.lie()) == []
        assert reads(reader.throw("5", "4")) == [((5, 4), None, False)]
