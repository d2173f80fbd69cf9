"""Simulated boards before the drivers of the real ones: the readings match what happened, and every
fault is reported.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from common.readings import (
    AnyReading,
    DeviceReport,
    DiceFault,
    DiceRead,
    LinkGap,
    LinkUnintelligible,
    ShufflerPacket,
    ShufflerState,
    ShufflerVerdict,
    SlotCoin,
    WheelCell,
    WheelFault,
    WheelPhase,
)
from devices.drivers import driver
from devices.watch import Watch
from simulators.board import SimulatedBoard
from simulators.dice.dice import DiceReader
from simulators.faults import FAULTS, protocol_faults
from simulators.line import SimulatedLine
from simulators.shuffler.shuffler import Shuffler
from simulators.slot.slot import Slots
from simulators.wheel.boule import BoulePlate
from simulators.wheel.fortune import SimulatedFortuneWheel
from tests.support.devices.board_pens import of

STEP = 0.02
LINE = [
    "split",
    "silence",
    "burst",
    "damaged",
    "duplicate",
    "spliced",
    "wrong_baud",
    "lost_report",
    "restart",
]
MAKE: dict[str, Callable[..., SimulatedBoard]] = {
    "boule-board": BoulePlate,
    "fortune-board": SimulatedFortuneWheel,
    "dice-board": DiceReader,
    "shuffler-board": Shuffler,
    "slot-board": Slots,
}


def heard(
    name: str,
    board: SimulatedBoard,
    until: float,
    *faults: tuple[float, str, float],
    **options: Any,
) -> list[AnyReading]:
    """The readings up to a time. The driver looks every 20 ms, as a daemon does."""
    found = driver(name)
    watch, line, due = (
        Watch(found.make("board", found.options(**options)), "board", 5.0),
        SimulatedLine(board),
        sorted(faults),
    )
    watch.opened(0.0)
    readings: list[AnyReading] = []
    for step in range(int(until / STEP)):
        now = step * STEP
        while due and due[0][0] <= now:
            at, fault, value = due.pop(0)
            (line if FAULTS[fault].where == "line" else board).fault(fault, value, at)
        if arrived := b"".join(data for _, data in line.advance(now)):
            readings += watch.feed(arrived, now)
        readings += watch.tick(now)
    return readings


seeds = st.integers(0, 2**32)
disturbances = st.lists(
    st.tuples(st.floats(0, 100), st.sampled_from(LINE), st.floats(1, 12)), max_size=5
)


class TestWithoutFaults:
    @settings(max_examples=10)
    @given(seeds, st.lists(st.integers(1, 18), min_size=3, max_size=3))
    def test_boule(self, seed: int, holes: list[int]) -> None:
        readings = heard("boule-board", BoulePlate(seed, 120, holes), 90.0)
        assert [(r.cell, r.spin, r.late) for r in of(WheelCell, readings)] == [
            (hole, n, False) for n, hole in enumerate(holes, 1)
        ]
        assert [r.phase for r in of(WheelPhase, readings)] == [
            "launched",
            "settling",
            "settled",
        ] * 3
        assert of(WheelFault, readings) == []

    @settings(max_examples=10)
    @given(seeds, st.sampled_from([54, 64]), st.data())
    def test_fortune(self, seed: int, cells: int, data: st.DataObject) -> None:
        stops = data.draw(st.lists(st.integers(1, cells), min_size=2, max_size=2))
        readings = heard(
            "fortune-board", SimulatedFortuneWheel(seed, 60, cells, stops), 110.0, cells=cells
        )
        assert [(r.cell, r.spin, r.late) for r in of(WheelCell, readings)] == [
            (cell, n, False) for n, cell in enumerate(stops, 1)
        ]
        assert [r.phase for r in of(WheelPhase, readings)] == [
            "launched",
            "settling",
            "settled",
        ] * 2
        assert of(WheelFault, readings) == []

    @settings(max_examples=10)
    @given(seeds, st.integers(1, 3), st.data())
    def test_dice(self, seed: int, dice: int, data: st.DataObject) -> None:
        throws = data.draw(st.lists(st.tuples(*[st.integers(1, 6)] * dice), min_size=3, max_size=3))
        readings = heard("dice-board", DiceReader(seed, 240, dice, throws), 50.0, dice=dice)
        assert [(r.values, r.throw, r.late) for r in of(DiceRead, readings)] == [
            (v, n, False) for n, v in enumerate(throws, 1)
        ]
        assert of(DiceFault, readings) == []

    @settings(max_examples=10)
    @given(seeds, st.integers(1, 7), st.integers(3, 5))
    def test_shuffler(self, seed: int, boxes: int, packet: int) -> None:
        readings = heard("shuffler-board", Shuffler(seed, 120, boxes, packet), 60.0)
        dealt = [(r.to, r.size) for r in of(ShufflerPacket, readings)][: boxes + 1]
        assert dealt == [(f"box:{box}", packet) for box in range(1, boxes + 1)] + [
            ("dealer", packet)
        ]
        verdict = of(ShufflerVerdict, readings)[0]
        assert (verdict.count, verdict.count_right, verdict.set_right) == (52, True, True)

    def test_shuffler_of_cards_that_a_hand_deals(self) -> None:
        readings = heard("shuffler-board", Shuffler(seed=1, games_per_hour=120, packet=0), 60.0)
        assert of(ShufflerPacket, readings) == []
        assert len(of(ShufflerVerdict, readings)) == 2

    @settings(max_examples=10)
    @given(seeds)
    def test_slots(self, seed: int) -> None:
        slots = Slots(seed, 240, 7, 250)
        # blocked before the end: no coin is still on the wire then
        coins = of(SlotCoin, heard("slot-board", slots, 90.0, (60.0, "blocked", 60.0)))
        assert len(coins) == slots.counted > 10
        assert {coin.amount for coin in coins} == {250}

    def test_slots_whose_players_insert_coins_on_request(self) -> None:
        def coins(*told: float) -> list[float]:
            faults = [(at, "coins", 0.0) for at in told]
            readings = heard("slot-board", Slots(1, 1, 3, 500), 70.0, *faults)
            return [coin.at for coin in of(SlotCoin, readings)]

        own, twice = coins(), coins(20.0, 40.0)
        assert own
        assert all(at < 20.0 for at in own)
        assert [at for at in twice if at < 20.0] == own
        assert any(20.0 < at < 30.0 for at in twice)
        assert any(40.0 < at < 50.0 for at in twice)
        assert all(at > 10.0 for at in coins(0.0))


@settings(max_examples=15)
@given(seeds, disturbances)
def test_no_disturbance_makes_another_hole(
    seed: int, faults: list[tuple[float, str, float]]
) -> None:
    holes = [7, 7, 12, 18]
    readings = heard("boule-board", BoulePlate(seed, 120, holes), 115.0, *faults)
    left = iter(holes)
    assert all(cell in left for cell in (r.cell for r in of(WheelCell, readings)))


@settings(max_examples=15)
@given(seeds, disturbances)
def test_no_disturbance_makes_other_dice(seed: int, faults: list[tuple[float, str, float]]) -> None:
    throws: list[tuple[int, ...]] = [(3, 4), (3, 4), (1, 1), (6, 2), (5, 3), (6, 6)]
    readings = heard("dice-board", DiceReader(seed, 240, 2, throws), 85.0, *faults)
    left = iter(throws)
    assert all(values in left for values in (r.values for r in of(DiceRead, readings)))


@settings(max_examples=15)
@given(
    seeds,
    st.lists(
        st.tuples(
            st.floats(1, 40), st.sampled_from([f for f in LINE if f != "restart"]), st.floats(1, 8)
        ),
        max_size=5,
    ),
)
def test_no_disturbance_makes_a_coin_or_hides_that_one_is_missing(
    seed: int, faults: list[tuple[float, str, float]]
) -> None:
    slots = Slots(seed, 240, 3, 500)
    readings = heard("slot-board", slots, 70.0, *faults)
    coins = len(of(SlotCoin, readings))
    missed = sum(int(r.value) for r in of(DeviceReport, readings) if r.report == "coins_missed")
    assert coins + missed == slots.counted


class TestFaults:
    @pytest.mark.parametrize(
        ("fault", "value", "told"),
        [
            ("ball_out", 0.0, ["ball_out"]),
            ("between_holes", 0.0, ["between"]),
            ("flicker", 3.0, []),
            ("flicker", 30.0, ["number_unknown"]),
            ("stuck_sensor", 60.0, ["sensor", "number_unknown"]),
            ("blind_sensor", 60.0, ["sensor", "number_unknown"]),
        ],
    )
    def test_boule(self, fault: str, value: float, told: list[str]) -> None:
        readings = heard("boule-board", BoulePlate(3, 60, [7]), 50.0, (0.0, fault, value))
        assert [r.fault for r in of(WheelFault, readings) if r.active] == told
        assert [r.cell for r in of(WheelCell, readings)] == ([] if told else [7])

    @pytest.mark.parametrize(
        ("fault", "value", "told", "cell"),
        [
            ("weak_push", 0.0, ["too_few_turns"], True),
            ("turned_back", 6.0, ["reversed"], True),
            ("on_pin", 0.0, ["between"], False),
            ("encoder", 60.0, ["sensor", "number_unknown"], False),
        ],
    )
    def test_fortune(self, fault: str, value: float, told: list[str], cell: bool) -> None:
        readings = heard("fortune-board", SimulatedFortuneWheel(3), 50.0, (0.0, fault, value))
        assert [r.fault for r in of(WheelFault, readings) if r.active] == told
        assert bool(of(WheelCell, readings)) is cell

    @pytest.mark.parametrize(
        ("fault", "told"),
        [
            ("unreadable", ["no_read"]),
            ("cocked", ["cocked"]),
            ("die_missing", ["missing"]),
            ("die_extra", ["extra"]),
            ("reader", ["sensor", "no_read"]),
            ("unmoved", ["unchanged"]),
        ],
    )
    def test_dice(self, fault: str, told: list[str]) -> None:
        readings = heard("dice-board", DiceReader(3, 240), 30.0, (0.0, fault, 10.0))
        assert [r.fault for r in of(DiceFault, readings) if r.active] == told
        assert len(of(DiceRead, readings)) == 1

    @pytest.mark.parametrize(
        ("fault", "states"),
        [
            ("jam", ["jam", "recovering"]),
            ("door_open", ["door_open", "recovering"]),
            ("count_wrong", ["count_wrong", "unloading", "loading"]),
            ("set_wrong", ["set_wrong", "unloading", "loading"]),
            ("service", ["needs_service", "recovering", "loading"]),
        ],
    )
    def test_shuffler(self, fault: str, states: list[str]) -> None:
        readings = heard("shuffler-board", Shuffler(3), 45.0, (0.0, fault, 5.0))
        told: list[str] = [reading.state for reading in of(ShufflerState, readings)]
        begin = told.index("needs_service" if fault == "service" else fault)
        assert told[begin : begin + len(states)] == states

    def test_a_right_count_is_no_right_set(self) -> None:
        readings = heard("shuffler-board", Shuffler(3), 45.0, (0.0, "set_wrong", 5.0))
        first, second = of(ShufflerVerdict, readings)[:2]
        assert (first.count_right, first.set_right, first.missing) == (True, False, ("Ks",))
        assert (second.count_right, second.set_right, second.missing) == (True, True, ())

    def test_slots(self) -> None:
        readings = heard(
            "slot-board", Slots(3, 240), 60.0, (0.0, "blocked", 20.0), (30.0, "lost_report", 0.0)
        )
        assert [r.value for r in of(DeviceReport, readings) if r.report == "health"] == [
            "ok",
            "blocked",
            "ok",
        ]
        assert len(of(LinkGap, readings)) == 1


@pytest.mark.parametrize("name", MAKE)
class TestAll:
    def test_the_same_seed_gives_the_same_bytes_however_time_passes(self, name: str) -> None:
        steps = MAKE[name](seed=4)
        assert [said for step in range(601) for said in steps.advance(step / 10)] == MAKE[name](
            seed=4
        ).advance(60.0)

    def test_it_reports_without_a_pause(self, name: str) -> None:
        said = [at for at, _ in MAKE[name](seed=4).advance(300.0)]
        assert all(after - before <= 1.0 + 1e-9 for before, after in pairwise(said))

    def test_rounds_are_counted(self, name: str) -> None:
        board = MAKE[name](seed=4)
        board.advance(300.0)
        assert 4 <= board.rounds <= 6

    def test_a_wrong_speed_is_reported(self, name: str) -> None:
        assert of(
            LinkUnintelligible, heard(name, MAKE[name](seed=4), 30.0, (0.0, "wrong_baud", 30.0))
        )

    def test_its_faults_are_its_own(self, name: str) -> None:
        assert {"restart", "lost_report", "silence", "unplug"} <= set(protocol_faults(name))
        assert "bad_bcc" not in protocol_faults(name)


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="19 is not a hole; a plate has the holes 1 to 18"):
        BoulePlate(holes=[19])
    with pytest.raises(ValueError, match="0 is not a cell; the wheel has the cells 1 to 54"):
        SimulatedFortuneWheel(stops=[0])
    with pytest.raises(ValueError, match="2 faces from 1 to 6"):
        DiceReader(throws=[(1, 7)])
    with pytest.raises(ValueError, match="20 boxes and the dealer"):
        Shuffler(boxes=20)
