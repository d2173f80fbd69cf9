"""What all sensor boards have in common: the shape of a line, numbers, copies, restarts, and what
is late.
"""

from __future__ import annotations

from typing import Any

import pytest

from common.readings import (
    AnyReading,
    DeviceReport,
    LinkGap,
    LinkGarbage,
    LinkLate,
    LinkStale,
    LinkUnintelligible,
    LinkUp,
    SlotCoin,
)
from devices.board.report import (
    CLOCK_WRAP_MS,
    MAX_LINE_BYTES,
    SEQUENCE_NUMBERS,
    check,
    read_report,
    write_report,
)
from devices.drivers import driver
from devices.watch import Watch
from tests.support.devices.board_pens import Board, of
from tests.support.for_each import for_each

BOARDS = ("boule-board", "fortune-board", "dice-board", "shuffler-board", "slot-board")


def slots(**options: Any) -> Board:
    board = Board("slot-board", **options)
    board.show("coins", 0, "ok", seconds=3.0)
    return board


def boxes(readings: list[AnyReading]) -> list[tuple[int, bool]]:
    return [(r.box, r.late) for r in of(SlotCoin, readings)]


def lost(readings: list[AnyReading]) -> list[int]:
    return [gap.lost for gap in of(LinkGap, readings)]


def reports(readings: list[AnyReading]) -> list[tuple[str, str]]:
    return [(r.report, r.value) for r in of(DeviceReport, readings)]


class TestLines:
    def test_a_line_is_what_was_written(self) -> None:
        report = read_report(write_report(65535, 4294967295, "slot", "coin", 1, 3, 500).rstrip())
        assert report is not None
        assert (report.number, report.ms, report.kind, report.word, report.fields) == (
            65535,
            4294967295,
            "slot",
            "coin",
            "1,3,500",
        )

    @for_each(
        "body",
        [
            b"NB,65536,0,slot,coins,0,ok",
            b"NB,0,4294967296,slot,coins,0,ok",
            b"NB,00,0,slot,coins,0,ok",
            b"NB,-1,0,slot,coins,0,ok",
            b"NB,0,slot,coins,0,ok",
            b"NB,0,0,SLOT,coins",
            b"NB,0,0,slot,",
            b"NB,0,0,slot",
            b"NC,0,0,slot,coins,0,ok",
        ],
    )
    def test_a_right_check_alone_makes_no_report(self, body: bytes) -> None:
        assert read_report(b"$%b*%04X" % (body, check(body))) is None

    @for_each("place", range(1, 44))
    def test_one_wrong_character_spoils_the_line(self, place: int) -> None:
        line = write_report(12, 34567, "boule", "holes", "00040", "00000", 0, 3).rstrip()
        for wrong in b"0A$*,\xff\x00":
            if place < len(line) and line[place] != wrong:
                assert read_report(line[:place] + bytes([wrong]) + line[place + 1 :]) is None

    def test_the_digits_of_a_check_are_capitals(self) -> None:
        line = write_report(7, 1500, "slot", "coins", 2, "ok").rstrip()
        assert line.endswith(b"*5C08")
        assert read_report(line) is not None
        assert read_report(line[:-4] + b"5c08") is None

    def test_reports_in_one_line_whose_ends_are_lost(self) -> None:
        board = slots()
        first, second = board.line("coin", 1, 3, 500).rstrip(), board.line("coin", 2, 4, 500)
        readings = board.raw(b"xx" + first + b"??" + second)
        assert boxes(readings) == [(3, False), (4, False)]
        assert [garbage.frame for garbage in of(LinkGarbage, readings)] == ["xx", "??"]

    def test_a_splice_gives_the_report_that_is_whole(self) -> None:
        board = slots()
        first, second = board.line("coin", 1, 3, 500), board.line("coin", 2, 4, 500)
        readings = board.raw(first[:20] + second)
        assert boxes(readings) == [(4, False)]
        assert lost(readings) == [1]

    def test_an_endless_line_is_dropped(self) -> None:
        board = slots()
        readings = board.raw(b"U" * 10_000)
        assert (
            sum(garbage.bytes for garbage in of(LinkGarbage, readings))
            > 10_000 - 2 * MAX_LINE_BYTES
        )
        assert boxes(board.raw(b"\r\n" + board.line("coin", 1, 3, 500))) == [(3, False)]


class TestNumbers:
    def test_a_number_that_is_missing_is_a_gap(self) -> None:
        board = slots()
        board.lose(7)
        assert lost(board.wait(1.0)) == [7]
        assert lost(board.wait(1.0)) == []

    def test_the_number_wraps(self) -> None:
        board = slots()
        board.lose(SEQUENCE_NUMBERS // 2 - 2 - board.number)
        board.wait(1.0)
        board.lose(SEQUENCE_NUMBERS - 2 - board.number)
        board.wait(1.0)
        assert board.number == SEQUENCE_NUMBERS - 1
        assert lost(board.wait(3.0)) == []

    def test_the_clock_wraps(self) -> None:
        board = Board("slot-board")
        board.started = board.now - (CLOCK_WRAP_MS - 1500) / 1000
        assert lost(board.show("coins", 0, "ok", seconds=5.0)) == []
        assert reports(board.readings) == [("health", "ok")]
        assert boxes(board.say("coin", 1, 3, 500)) == [(3, False)]

    def test_copies_are_dropped(self) -> None:
        board = slots()
        line = board.line("coin", 1, 3, 500)
        assert boxes(board.raw(line * 3)) == [(3, False)]
        second = board.line("coin", 2, 3, 500)
        assert boxes(board.raw(second + line + second)) == [(3, False)]

    def test_a_board_that_repeats_one_report_for_ever_is_stale(self) -> None:
        """Copies are no sign of life."""
        found = driver("slot-board")
        watch = Watch(found.make("slots", found.options()), "slots", stale_after=5.0)
        watch.opened(0.0)
        line = write_report(1, 1, "slot", "coins", 0, "ok")
        readings = [r for second in range(9) for r in watch.feed(line, float(second))]
        assert [type(r) for r in readings] == [LinkUp, DeviceReport, LinkUnintelligible]


class TestStrangers:
    def test_the_board_of_another_kind_is_not_accepted(self) -> None:
        found = driver("dice-board")
        watch = Watch(found.make("dice", found.options()), "dice", stale_after=5.0)
        watch.opened(0.0)
        readings = []
        for second in range(9):
            readings += watch.feed(
                write_report(second, second * 1000, "slot", "coins", 0, "ok"), float(second)
            )
        assert reports(readings) == [("kind", "slot")]
        assert [type(r) for r in readings] == [DeviceReport, LinkUnintelligible]

    def test_a_word_that_is_not_ours_is_reported_once(self) -> None:
        board = slots()
        readings = board.say("weather", "fine", after=1.0) + board.say("weather", "rain", after=1.0)
        assert reports(readings) == [("not_understood", "weather")]
        assert lost(readings) == []

    def test_a_word_of_ours_that_makes_no_sense_is_a_gap(self) -> None:
        board = slots()
        readings = board.say("coin", 1, 0, 500, after=1.0)
        assert (reports(readings), lost(readings)) == ([("not_understood", "coin")], [1])

    def test_another_version_of_the_format_is_not_understood(self) -> None:
        assert reports(slots().say("boot", 2, "model", after=1.0)) == [("not_understood", "boot")]


class TestRestarts:
    def test_what_the_board_is_it_reports_itself(self) -> None:
        board = Board("slot-board")
        readings = board.say("boot", 1, "slots of the house, 2.1")
        assert (reports(readings), lost(readings)) == ([("boot", "slots of the house, 2.1")], [])

    def test_a_board_that_was_restarted_may_have_had_something_to_report(self) -> None:
        board = slots()
        board.restart()
        readings = board.say("boot", 1, "slots")
        assert (reports(readings), lost(readings)) == ([("boot", "slots")], [1])
        assert lost(board.wait(3.0)) == []

    def test_and_so_one_that_did_not_report_its_start(self) -> None:
        board = slots()
        board.restart()
        board.number = 4
        readings = board.wait(1.0)
        assert (reports(readings)[0], lost(readings)) == (("boot", "not heard"), [1])

    @pytest.mark.parametrize("is_reopened", [False, True], ids=["open link", "link lost"])
    @pytest.mark.parametrize("seconds_since_start", [61.0, 350.0])
    def test_one_that_restarted_in_a_silence_and_counts_past_its_old_values(
        self, is_reopened: bool, seconds_since_start: float
    ) -> None:
        """Number, clock and coins are higher than before. Only a clock that shows less than the
        silence lasted betrays it.
        """
        board = slots()
        board.say("coin", 1, 3, 500, after=1.0)
        board.wait(50.0)
        board.now += 360.0
        board.number, board.started = 400, board.now - seconds_since_start
        if is_reopened:
            board.codec.reconnected(board.now)
        board.state = "coins", 5, "ok"
        readings = board.wait(3.0)
        assert (reports(readings), lost(readings)) == (
            [("boot", "not heard"), ("health", "ok")],
            [1],
        )

    def test_one_that_ran_through_a_silence_has_its_counts(self) -> None:
        board = slots()
        board.now += 360.0
        board.lose(360)
        board.state = "coins", 5, "ok"
        readings = board.wait(3.0)
        assert (reports(readings), lost(readings)) == ([("coins_missed", "5")], [360])

    @pytest.mark.parametrize(
        ("seconds_since_start", "is_restart"), [(360.0 - 10.0, False), (300.0, True)]
    )
    def test_a_clock_that_may_have_wrapped_in_a_silence(
        self, seconds_since_start: float, is_restart: bool
    ) -> None:
        board = Board("slot-board")
        board.started = board.now - (CLOCK_WRAP_MS / 1000 - 13.0)
        board.show("coins", 0, "ok", seconds=3.0)
        board.now += 360.0
        board.lose(350)
        board.started = board.now - seconds_since_start
        readings = board.wait(3.0)
        assert (("boot", "not heard") in reports(readings)) is is_restart

    def test_one_that_restarted_after_weeks_has_not_wrapped(self) -> None:
        """From most of the range of its clock to little of it is not back."""
        board = Board("slot-board")
        board.started = board.now - 0.9 * CLOCK_WRAP_MS / 1000
        board.show("coins", 0, "ok", seconds=3.0)
        board.now += 360.0
        board.number, board.started = 30_000, board.now - 300.0
        assert reports(board.wait(3.0)) == [("boot", "not heard"), ("health", "ok")]

    def test_a_board_that_starts_again_and_again_is_reported_each_time(self) -> None:
        board = slots()
        for _ in range(3):
            board.restart()
            board.now += 1.0
            board.started = board.now
            assert reports(board.say("boot", 1, "slots")) == [("boot", "slots")]

    def test_a_copy_of_its_first_report_is_one(self) -> None:
        board = slots()
        board.restart()
        line = board.line("boot", 1, "slots")
        assert reports(board.raw(line * 3)) == [("boot", "slots")]


class TestLate:
    def held(self, board: Board, reports: int, seconds: float) -> bytes:
        """Coins that the board reports at these intervals, and that wait somewhere."""
        data = b""
        for count in range(1, reports + 1):
            board.now += seconds
            data += board.line("coin", count, count, 500)
        return data

    def test_a_burst(self) -> None:
        board = slots()
        data = self.held(board, 4, 3.0)
        readings = board.raw(data)
        assert boxes(readings) == [(1, True), (2, True), (3, True), (4, False)]
        (late,) = of(LinkLate, readings)
        assert (late.frames, late.silence) == (3, 12.0)
        assert board.codec.counters.late == 3

    def test_what_comes_behind_a_burst_is_live(self) -> None:
        board = slots()
        board.raw(self.held(board, 4, 3.0))
        assert boxes(board.say("coin", 5, 5, 500, after=0.01)) == [(5, False)]

    def test_what_comes_fast_is_not_late_for_that(self) -> None:
        board = slots()
        readings = [
            r for count in range(1, 9) for r in board.say("coin", count, count, 500, after=0.001)
        ]
        assert boxes(readings) == [(count, False) for count in range(1, 9)]

    @pytest.mark.parametrize(("seconds", "late"), [(2.0, True), (20.0, False)])
    def test_the_site_configures_the_limit_for_late_reports(
        self, seconds: float, late: bool
    ) -> None:
        board = slots(late_after=seconds)
        assert boxes(board.raw(self.held(board, 2, 5.0)))[0] == (1, late)

    @pytest.mark.parametrize("drift", [-0.008, 0.008])
    def test_the_clock_of_a_board_may_go_wrong(self, drift: float) -> None:
        board = slots()
        for count in range(1, 200):
            board.started += drift * 5
            assert boxes(board.say("coin", count, 1, 500, after=5.0)) == [(1, False)]

    def test_one_that_is_joined_in_a_burst_may_be_late(self) -> None:
        board = Board("slot-board")
        assert boxes(board.raw(self.held(board, 3, 3.0))) == [(1, True), (2, True), (3, True)]
        assert boxes(board.say("coin", 4, 4, 500, after=1.0)) == [(4, False)]

    def test_after_the_link_was_closed_reports_may_have_waited(self) -> None:
        board = slots()
        board.raw(board.line("coin", 1, 1, 500)[:9])
        board.codec.reconnected(board.now)
        board.now += 60.0
        readings = board.raw(board.line("coin", 2, 2, 500))
        assert (boxes(readings), lost(readings)) == ([(2, True)], [1])
        assert boxes(board.say("coin", 3, 3, 500, after=1.0)) == [(3, False)]

    def test_a_clock_that_was_set_is_right_again_after_a_quiet_second(self) -> None:
        board = slots()
        board.now += 30.0
        board.started += 20.0
        board.wait(3.0)
        assert boxes(board.say("coin", 1, 1, 500, after=0.1)) == [(1, False)]

    def test_silence_is_reported(self) -> None:
        found = driver("slot-board")
        watch = Watch(found.make("slots", found.options()), "slots", stale_after=5.0)
        watch.opened(0.0)
        watch.feed(write_report(0, 0, "slot", "coins", 0, "ok"), 0.5)
        assert [type(r) for r in watch.tick(9.0)] == [LinkStale]


@pytest.mark.parametrize("name", BOARDS)
def test_a_board_is_steady_and_is_never_sent_anything(name: str) -> None:
    codec = driver(name).make("board", driver(name).options())
    assert (codec.steady, codec.polls(), codec.deadline) == (True, (), None)
    with pytest.raises(ValueError, match="a sensor board accepts no commands"):
        codec.encode("start")


@pytest.mark.parametrize("name", BOARDS)
def test_options_are_checked(name: str) -> None:
    with pytest.raises(ValueError, match="late_after"):
        driver(name).options(late_after=0.0)
