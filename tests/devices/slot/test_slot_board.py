"""The codec of the slots' board: coins, gaps and health."""

from __future__ import annotations

from common.readings import AnyReading, DeviceReport, LinkGap, SlotCoin
from tests.support.devices.board_pens import Board, of


def slots() -> Board:
    board = Board("slot-board")
    board.show("coins", 0, "ok", seconds=2.0)
    return board


def coins(readings: list[AnyReading]) -> list[tuple[int, int, bool]]:
    return [(r.box, r.amount, r.late) for r in of(SlotCoin, readings)]


def reports(readings: list[AnyReading]) -> list[tuple[str, str]]:
    return [(r.report, r.value) for r in of(DeviceReport, readings)]


def test_coins() -> None:
    board = slots()
    readings = (
        board.say("coin", 1, 3, 500, after=0.5)
        + board.say("coin", 2, 3, 500, after=0.01)
        + board.show("coins", 2, "ok")
    )
    assert coins(readings) == [(3, 500, False), (3, 500, False)]
    assert reports(readings) == []


def test_a_copy_is_no_coin() -> None:
    board = slots()
    line = board.line("coin", 1, 3, 500)
    assert coins(board.raw(line) + board.raw(line)) == [(3, 500, False)]


def test_an_unreported_coin_is_not_made_up() -> None:
    board = slots()
    board.lose()
    readings = board.show("coins", 1, "ok")
    assert coins(readings) == []
    assert reports(readings) == [("coins_missed", "1")]
    assert [gap.lost for gap in of(LinkGap, readings)] == [1]
    board.lose(2)
    assert reports(board.say("coin", 4, 1, 500)) == [("coins_missed", "2")]


def test_coins_that_had_waited_are_late() -> None:
    board = slots()
    held = b""
    for count in range(1, 5):
        board.now += 2.0
        held += board.line("coin", count, 1, 500)
    board.now += 0.1
    assert [late for _, _, late in coins(board.raw(held))] == [True, True, True, False]


def test_the_slots_are_not_well() -> None:
    board = slots()
    readings = board.show("coins", 0, "blocked", seconds=3.0) + board.show(
        "coins", 0, "ok", seconds=3.0
    )
    assert reports(readings) == [("health", "blocked"), ("health", "ok")]


def test_after_a_restart_they_are_counted_from_zero() -> None:
    board = slots()
    board.say("coin", 1, 3, 500, after=1.0)
    board.restart()
    assert reports(board.show("coins", 0, "ok", seconds=1.0)) == [
        ("boot", "not heard"),
        ("health", "ok"),
    ]
    assert coins(board.say("coin", 1, 3, 500, after=1.0)) == [(3, 500, False)]
