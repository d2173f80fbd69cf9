"""Simulated ccTalk acceptors before the driver of the real ones: every coin is reported once or
reported as missing, with faults of the line, the acceptors and the daemon.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from common.readings import AnyReading, DeviceReport, LinkStale, LinkUnintelligible, SlotCoin
from devices.calls import AnyCall, BytesReceived, LinkOpened, apply_call
from devices.drivers import driver
from devices.watch import Watch
from simulators.faults import FAULTS, protocol_faults
from simulators.line import SimulatedLine
from simulators.slot.cctalk import (
    AMOUNTS,
    FIRST_COIN_SECONDS,
    SimulatedAcceptor,
    SimulatedCcTalkBus,
)
from tests.support.devices.board_pens import of

STEP = 0.01
OWN = sorted(name for name, fault in FAULTS.items() if fault.protocols == ("cctalk-acceptor",))
LINE = sorted(name for name, fault in FAULTS.items() if fault.where == "line")
LAST, QUIET = 40.0, 25.0
"""Seconds: when the last fault may strike, and after it until everything must be in order again."""

Struck = tuple[float, str, float]


class Played:
    """A simulated run of a bus: all calls to the watch, and its readings."""

    def __init__(
        self, bus: SimulatedCcTalkBus, until: float, *faults: Struck, **options: Any
    ) -> None:
        options.setdefault("boxes", tuple((one.address, one.address - 1) for one in bus.acceptors))
        options.setdefault("coins", ((bus.position, bus.coin),))
        if bus.crc:
            options["checksum"] = "crc"
        found = driver("cctalk-acceptor")
        self.bus, self.options = bus, found.options(**options)
        self.calls: list[AnyCall] = []
        self.said: list[AnyReading] = []
        watch, line, due = self.watch(), SimulatedLine(bus), sorted(faults)
        self._take(watch, LinkOpened(0.0))
        for step in range(int(until / STEP)):
            now = step * STEP
            while due and due[0][0] <= now:
                at, fault, value = due.pop(0)
                (line if FAULTS[fault].where == "line" else bus).fault(fault, value, at)
            self._take(watch, BytesReceived(now, b"".join(data for _, data in line.advance(now))))
            if request := watch.take_request():
                bus.receive(request, now)
        self.state = watch.state

    def watch(self) -> Watch:
        found = driver("cctalk-acceptor")
        return Watch(found.make("slot", self.options), "slot", 5.0)

    def _take(self, watch: Watch, call: AnyCall) -> None:
        self.calls.append(call)
        self.said += apply_call(watch, call)

    def coins(self) -> list[SlotCoin]:
        return of(SlotCoin, self.said)

    def reports(self, *names: str) -> list[str]:
        return [one.value for one in of(DeviceReport, self.said) if one.report in names]

    def missed(self, box: int) -> bool:
        return any(value.startswith(f"box {box}:") for value in self.reports("coins_missed"))


def told(played: Played) -> dict[int, int]:
    return dict(Counter(one.box for one in played.coins()))


def taken(played: Played) -> dict[int, int]:
    return {one.address - 1: len(one.taken) for one in played.bus.acceptors if one.taken}


seeds = st.integers(0, 2**32)
struck = st.lists(
    st.tuples(st.floats(3, LAST), st.sampled_from([*OWN, *LINE]), st.floats(1, 10)), max_size=6
)


@settings(max_examples=8, deadline=None)
@given(seeds, st.integers(1, 6), st.sampled_from([*AMOUNTS, 500]), st.booleans())
def test_every_coin_is_reported_once_and_live(seed: int, boxes: int, coin: int, crc: bool) -> None:
    played = Played(SimulatedCcTalkBus(seed, 240, boxes, coin, crc), 50.0)
    assert told(played) == taken(played)
    assert {(one.amount, one.late) for one in played.coins()} <= {(coin, False)}
    assert played.reports("coins_missed", "health", "echo", "coin_unknown") == []


@settings(max_examples=10, deadline=None)
@given(seeds, struck)
def test_no_coin_is_made_up_and_none_is_lost_in_silence(seed: int, faults: list[Struck]) -> None:
    bus = SimulatedCcTalkBus(seed, 240, 2, 200)
    played = Played(bus, LAST + QUIET, *faults)
    for one in bus.acceptors:
        box = one.address - 1
        count = told(played).get(box, 0)
        assert count <= len(one.taken)
        assert count == len(one.taken) or played.missed(box)
    assert {one.amount for one in played.coins()} <= {200}
    assert all(one.enabled and any(one.inhibits) for one in bus.acceptors)
    assert played.state == "up"


@settings(max_examples=5, deadline=None)
@given(seeds, struck)
def test_what_was_kept_gives_the_same_readings_again(seed: int, faults: list[Struck]) -> None:
    """As ``novamas audit`` derives it: from the calls alone."""
    played = Played(SimulatedCcTalkBus(seed, 240, 2, 200), 40.0, *faults)
    again = played.watch()
    assert [one for call in played.calls for one in apply_call(again, call)] == played.said


@settings(max_examples=5, deadline=None)
@given(seeds, struck, st.data())
def test_bytes_one_by_one_give_the_same_readings(
    seed: int, faults: list[Struck], data: st.DataObject
) -> None:
    played = Played(SimulatedCcTalkBus(seed, 240, 2, 200), 30.0, *faults)
    again = played.watch()
    readings: list[AnyReading] = []
    for call in played.calls:
        if isinstance(call, BytesReceived) and call.data:
            cut = data.draw(st.integers(0, len(call.data))) if len(call.data) > 1 else 0
            for part in (call.data[:cut], call.data[cut:]):
                readings += apply_call(again, BytesReceived(call.at, part))
        else:
            readings += apply_call(again, call)
    assert of(SlotCoin, readings) == played.coins()


def test_every_fault_of_its_own_is_in_the_matrix() -> None:
    assert set(OWN) == set(MATRIX)
    assert set(OWN) < set(protocol_faults("cctalk-acceptor"))


MATRIX: dict[str, tuple[float, list[tuple[str, str]]]] = {
    "no_echo": (5.0, [("echo", "missing"), ("echo", "whole")]),
    "collision": (0.0, [("echo", "damaged"), ("echo", "whole")]),
    "lost_answer": (0.0, []),
    "counter_jump": (9.0, [("coins_missed", "box 1: up to 4")]),
    "acceptor_reset": (
        1.0,
        [
            ("reset", "box 1: the acceptor counts from 0 again"),
            ("coins_missed", "box 1: unknown"),
            ("coins", "box 1: 6: 200"),
        ],
    ),
    "dead_acceptor": (
        10.0,
        [("health", "box 1: silent"), ("health", "box 1: ok"), ("coins", "box 1: 6: 200")],
    ),
    "coin_held": (
        10.0,
        [("health", "box 1: credit sensor blocked"), ("health", "box 1: ok")],
    ),
    "coin_return": (0.0, [("health", "box 1: coin return open"), ("health", "box 1: ok")]),
}
"""Fault -> its value, and what the driver says of it, with box 1 taking a coin before and after."""


@pytest.mark.parametrize("fault", MATRIX)
def test_a_fault_is_reported_in_these_words(fault: str) -> None:
    value, words = MATRIX[fault]
    bus = SimulatedCcTalkBus(3, 240, 6, 200)
    played = Played(bus, 80.0, (25.0, fault, value))
    since = [(one.report, one.value) for one in of(DeviceReport, played.said) if one.at >= 25.0]
    assert since == words
    lost = 4 if fault == "counter_jump" else 0
    assert sum(told(played).values()) == sum(taken(played).values()) - lost
    assert of(LinkStale, played.said) == []
    others = [one for one in played.coins() if one.box != 1]
    assert {one.box for one in others} == {2, 3, 4, 5, 6}
    if fault != "no_echo":
        assert not any(one.late for one in played.coins())


@pytest.mark.parametrize("fault", LINE)
def test_a_fault_of_the_line_loses_no_coin(fault: str) -> None:
    bus = SimulatedCcTalkBus(3, 240, 6, 200)
    played = Played(
        bus, 80.0, *((at, fault, 3.0) for at in (FIRST_COIN_SECONDS + 1.0, 16.5, 17.3, 40.0))
    )
    assert told(played) == taken(played) != {}
    assert played.reports("coins_missed", "coin_unknown", "health") == []


def test_an_acceptor_that_was_unplugged_for_long_is_stale_with_all_others() -> None:
    played = Played(SimulatedCcTalkBus(1, 240, 1, 200), 30.0, (5.0, "dead_acceptor", 15.0))
    assert len(of(LinkStale, played.said)) == 1
    assert of(LinkUnintelligible, played.said) == []


class TestAcceptor:
    def test_it_accepts_no_coin_before_it_is_enabled(self) -> None:
        one = SimulatedAcceptor(2, {})
        one.answer(229, b"", 1.0)
        one.insert(6, 200, 1.1)
        assert (one.taken, one.counter) == ([], 1)
        one.answer(231, b"\x20\x00", 1.2)
        one.answer(228, b"\x01", 1.2)
        one.insert(6, 200, 1.3)
        assert (one.taken, one.counter) == ([200], 2)

    def test_nor_without_requests(self) -> None:
        one = SimulatedAcceptor(2, {})
        one.answer(231, b"\x20\x00", 1.0)
        one.answer(228, b"\x01", 1.0)
        one.answer(229, b"", 1.0)
        one.insert(6, 200, 2.1)
        assert one.taken == []
