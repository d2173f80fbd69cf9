"""The driver of ccTalk acceptors: requests, echoes and answers."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.readings import (
    AnyReading,
    DeviceRefused,
    DeviceReport,
    LinkGarbage,
    LinkLate,
    LinkStale,
    SlotCoin,
)
from devices.calls import AnyCall, BytesReceived, LinkClosed, LinkOpened, apply_call
from devices.drivers import driver
from devices.slot import cctalk_frames as frames
from devices.slot.cctalk_acceptor import ANSWER_SECONDS, LATE_AFTER_SECONDS, CcTalkCodec, Options
from devices.slot.cctalk_box import (
    INHIBIT_CHECK_SECONDS,
    SILENT_AFTER_REQUESTS,
    UNSUPPORTED_AFTER_REQUESTS,
)
from devices.watch import Watch
from tests.support.devices.board_pens import of
from tests.support.for_each import for_each

COINS = {5: "EU100A", 6: "EU200A"}


class Bus:
    """A watch, and one acceptor for each address that answers as a test says. ``asked``: all
    requests, as address and header.
    """

    def __init__(self, **options: Any) -> None:
        found = driver("cctalk-acceptor")
        self.options = msgspec.convert(options, Options)
        codec = found.make("slot", self.options)
        assert isinstance(codec, CcTalkCodec)
        self.codec = codec
        self.watch = Watch(codec, "slot", 5.0)
        self.now = 100.0
        self.asked: list[tuple[int, int]] = []
        self.at: list[float] = []
        self.data: list[bytes] = []
        self.counter: dict[int, int] = {}
        self.events: dict[int, list[tuple[int, int]]] = {}
        self.says: dict[int, bytes | None] = {}
        self.dead: set[int] = set()
        self.nak: set[int] = set()
        self.call(LinkOpened(self.now))

    def call(self, call: AnyCall) -> list[AnyReading]:
        return apply_call(self.watch, call)

    def hear(self, data: bytes, after: float = 0.01) -> list[AnyReading]:
        self.now += after
        return self.call(BytesReceived(self.now, data))

    def request(self) -> tuple[list[AnyReading], bytes]:
        """Wait until the driver asks something."""
        readings: list[AnyReading] = []
        for _ in range(1000):
            due = self.watch.deadline
            assert due is not None
            self.now = max(self.now + 0.001, due)
            readings += self.call(BytesReceived(self.now, b""))
            if raw := self.watch.take_request():
                self.asked.append((raw[0], raw[3]))
                self.at.append(self.now)
                self.data.append(raw[4:-1])
                return readings, raw
        raise AssertionError("it asks nothing")

    def answer(self, to: int, header: int, data: bytes) -> bytes:
        """The acceptor's answer; empty: none."""
        if to in self.dead:
            return b""
        if header in self.nak:
            return frames.write_frame(frames.HOST_ADDRESS, to, frames.NAK)
        said: bytes | None = b""
        if header in self.says:
            said = self.says[header]
        elif header == frames.READ_CREDITS:
            events = [*self.events.get(to, []), *[(0, 0)] * 5][:5]
            flat = (part for event in events for part in event)
            said = bytes((self.counter.get(to, 0), *flat))
        elif header == frames.CATEGORY:
            said = b"Coin Acceptor"
        elif header == frames.COIN_ID:
            said = COINS.get(data[0], "......").encode()
        elif header == frames.REQUEST_INHIBITS:
            set_up = (to, frames.MODIFY_INHIBITS)
            said = self.data[self.asked.index(set_up)] if set_up in self.asked else bytes(2)
        return b"" if said is None else frames.write_frame(frames.HOST_ADDRESS, to, 0, said)

    def turn(self) -> list[AnyReading]:
        """One request with its echo and its answer."""
        said, raw = self.request()
        said += self.hear(raw)
        if answer := self.answer(raw[0], raw[3], raw[4:-1]):
            said += self.hear(answer)
        return said

    def turns(self, count: int) -> list[AnyReading]:
        return [one for _ in range(count) for one in self.turn()]

    def ready(self) -> list[AnyReading]:
        """Until every acceptor may take coins and has shown its events since."""
        boxes = {address for address, _ in self.options.boxes} - self.dead
        readings: list[AnyReading] = []
        begin = len(self.asked)
        while not all(
            (to, frames.READ_CREDITS)
            in self.asked[self.last(to, frames.MODIFY_MASTER_INHIBIT, begin) :]
            for to in boxes
        ):
            readings += self.turn()
        return readings

    def last(self, to: int, header: int, begin: int) -> int:
        places = [
            place for place, one in enumerate(self.asked) if one == (to, header) and place >= begin
        ]
        return places[-1] if places else len(self.asked)

    def note(self, *events: tuple[int, int], to: int = 2) -> None:
        for event in events:
            self.counter[to] = self.counter.get(to, 0) % 255 + 1
            self.events[to] = [event, *self.events.get(to, [])][:5]

    def look(self, count: int = 2) -> list[AnyReading]:
        """Until the events of all acceptors have been asked for so often."""
        readings: list[AnyReading] = []
        wanted = len(self.asked) + count * len(self.options.boxes)
        while len(self.asked) < wanted:
            readings += self.turn()
        return readings


def _with_crc(frame: bytes) -> bytes:
    """The answer with the other checksum."""
    return frames.write_frame(frame[0], frame[2], frame[3], frame[4:-1], crc=True)


def coins(readings: list[AnyReading]) -> list[tuple[int, int, bool]]:
    return [(one.box, one.amount, one.late) for one in of(SlotCoin, readings)]


def reports(readings: list[AnyReading]) -> list[tuple[str, str]]:
    return [(one.report, one.value) for one in of(DeviceReport, readings)]


def ready(**options: Any) -> Bus:
    bus = Bus(**options)
    bus.ready()
    return bus


class TestSetUp:
    def test_it_is_identified_before_it_may_accept_coins(self) -> None:
        bus = Bus(coins=[[5, 100], [6, 200]])
        readings = bus.ready()
        assert [header for _, header in bus.asked] == [
            254, 245, 246, 244, 229, 229, 184, 184, 229, 231, 228, 229,
        ]  # fmt: skip
        assert bus.data[bus.asked.index((2, 231))] == b"\x30\x00"
        assert bus.data[bus.asked.index((2, 228))] == b"\x01"
        assert ("coins", "box 1: 5: 100, 6: 200") in reports(readings)

    def test_without_settings_all_sixteen_coins_are_requested(self) -> None:
        bus = ready()
        assert bus.asked.count((2, 184)) == 16
        assert bus.data[bus.asked.index((2, 231))] == b"\x30\x00"

    def test_a_coin_on_which_they_disagree_is_inhibited_and_reported(self) -> None:
        bus = Bus(coins=[[5, 200], [6, 200]])
        readings = bus.ready()
        assert bus.data[bus.asked.index((2, 231))] == b"\x20\x00"
        wrong = "box 1: position 5 is EU100A, the settings say 200"
        assert ("coin_mismatch", wrong) in reports(readings)

    def test_a_hopper_is_never_switched_on(self) -> None:
        bus = Bus()
        bus.says[frames.CATEGORY] = b"Payout"
        readings = bus.turns(40)
        assert ("health", "box 1: no coin acceptor") in reports(readings)
        assert {header for _, header in bus.asked} <= {254, 245}
        assert reports(readings).count(("health", "box 1: no coin acceptor")) == 1

    def test_optional_features_may_be_missing_and_are_reported(self) -> None:
        bus = Bus(coins=[[6, 200]])
        bus.says[frames.MANUFACTURER] = None
        bus.nak.add(frames.MODIFY_MASTER_INHIBIT)
        readings = bus.ready()
        assert bus.asked.count((2, frames.MANUFACTURER)) == UNSUPPORTED_AFTER_REQUESTS
        assert ("not_supported", "box 1: manufacturer") in reports(readings)
        assert [one.command for one in of(DeviceRefused, readings)] == [
            "box 1: modify master inhibit"
        ]
        bus.note((6, 1))
        assert coins(bus.look()) == [(1, 200, False)]

    def test_one_that_names_no_coins_uses_those_of_the_settings(self) -> None:
        bus = Bus(coins=[[5, 100], [6, 200]])
        bus.says[frames.COIN_ID] = None
        bus.ready()
        assert bus.asked.count((2, 184)) == UNSUPPORTED_AFTER_REQUESTS
        assert bus.data[bus.asked.index((2, 231))] == b"\x30\x00"

    def test_an_answer_to_an_earlier_request_restarts_it(self) -> None:
        """The name of one coin must never be taken for that of another."""
        bus = Bus(coins=[[5, 100], [6, 200]])
        while bus.asked[-1:] != [(2, 184)]:
            _, raw = bus.request()
            if raw[3] != 184:
                bus.hear(raw)
                bus.hear(bus.answer(raw[0], raw[3], raw[4:-1]))
        bus.hear(raw)
        bus.now += 1.0
        bus.turn()
        before = len(bus.asked)
        bus.hear(bus.answer(2, 184, b"\x05"))
        readings = bus.ready()
        assert (2, frames.SIMPLE_POLL) in bus.asked[before:]
        assert ("coins", "box 1: 5: 100, 6: 200") in reports(readings)

    def test_inhibits_that_are_gone_are_set_again(self) -> None:
        bus = ready(coins=[[6, 200]])
        bus.says[frames.REQUEST_INHIBITS] = b"\x00\x00"
        readings: list[AnyReading] = []
        begin = bus.now
        while bus.now < begin + INHIBIT_CHECK_SECONDS + 2.0:
            readings += bus.turn()
        assert ("inhibits", "box 1: not as set; they are set again") in reports(readings)
        assert bus.asked.count((2, 231)) == 2


class SlowBus(Bus):
    """Acceptors that answer a fixed time after a request, also if another request follows."""

    def __init__(self, delay: dict[int, float], **options: Any) -> None:
        super().__init__(**options)
        self.delay, self.crc = delay, False
        self.coming: list[tuple[float, bytes]] = []

    def run(self, seconds: float) -> list[AnyReading]:
        readings: list[AnyReading] = []
        until = self.now + seconds
        while self.now < until:
            due = self.watch.deadline
            assert due is not None
            soonest = min([*(at for at, _ in self.coming), max(due, self.now + 0.001)])
            self.now = max(self.now, soonest)
            data_in = b"".join(data for at, data in self.coming if at <= self.now)
            self.coming = [each for each in self.coming if each[0] > self.now]
            readings += self.call(BytesReceived(self.now, data_in))
            if raw := self.watch.take_request():
                self.asked.append((raw[0], raw[3]))
                self.data.append(raw[4:-1])
                self.coming.append((self.now + 0.005, raw))
                if answer := self.answer(raw[0], raw[3], raw[4:-1]):
                    answer = _with_crc(answer) if self.crc else answer
                    self.coming.append((self.now + self.delay.get(raw[0], 0.01), answer))
        return readings


class TestSlow:
    @for_each("delay", [0.21, 0.25, 0.4, 0.6, 1.0])
    @for_each("checksum", ["simple", "crc"])
    def test_one_that_answers_too_late_is_reported_as_that_and_not_as_silent(
        self, delay: float, checksum: str
    ) -> None:
        bus = SlowBus({2: delay}, checksum=checksum)
        bus.crc = checksum == "crc"
        said = reports(bus.run(60.0))
        assert [value.split(": after")[0] for name, value in said if name == "health"] == [
            "box 1: answers too late"
        ]
        [took] = [
            float(found[1])
            for _, value in said
            if (found := re.search(r"after (\d\.\d\d) s, the limit is 0\.20 s", value))
        ]
        assert took == pytest.approx(delay, abs=0.02)

    @pytest.mark.parametrize("delay", [0.25, 0.5, 0.9])
    def test_with_a_longer_limit_its_coins_are_accepted(self, delay: float) -> None:
        bus = SlowBus({2: delay}, answer=delay + 0.05)
        readings = bus.run(60.0)
        assert [name for name, _ in reports(readings)].count("coins") == 1
        assert "health" not in dict(reports(readings))
        bus.note((6, 1))
        assert coins(bus.run(10.0)) == [(1, 200, False)]

    def test_one_that_is_slow_holds_no_other(self) -> None:
        bus = SlowBus({2: 0.3}, boxes=[[2, 1], [3, 2]])
        said = reports(bus.run(60.0))
        assert any(value.startswith("box 1: answers too late") for _, value in said)
        assert not any(value.startswith("box 2: answers") for _, value in said)
        bus.note((6, 1), to=3)
        assert [(box, amount) for box, amount, _ in coins(bus.run(10.0))] == [(2, 200)]

    def test_one_that_is_quick_again_is_ready_and_one_that_falls_silent_is_silent(self) -> None:
        bus = SlowBus({2: 0.3})
        bus.run(30.0)
        bus.delay[2] = 0.02
        said = reports(bus.run(30.0))
        assert ("health", "box 1: ok") in said
        assert "coins" in dict(said)
        bus.delay[2] = 0.3
        assert any("too late" in value for _, value in reports(bus.run(30.0)))
        bus.dead.add(2)
        assert ("health", "box 1: silent") in reports(bus.run(30.0))


class TestWrongLength:
    @for_each("size", [0, 1, 9, 10, 12, 13, 63])
    def test_events_of_another_length_are_reported_once(self, size: int) -> None:
        bus = Bus(coins=[[6, 200]])
        bus.says[frames.READ_CREDITS] = bytes(size)
        readings = bus.turns(60)
        assert [value for name, value in reports(readings) if name == "answer_wrong"] == [
            f"box 1: read credits: {size} bytes, not 11"
        ]
        assert (2, frames.MODIFY_INHIBITS) not in bus.asked
        del bus.says[frames.READ_CREDITS]
        readings = bus.ready()
        assert ("coins", "box 1: 6: 200") in reports(readings)
        bus.says[frames.READ_CREDITS] = bytes(size)
        assert "answer_wrong" in dict(reports(bus.turns(60)))

    @for_each("header", sorted(frames.REQUESTS))
    def test_no_answer_of_another_length_is_accepted_or_hides_for_ever(self, header: int) -> None:
        wanted = frames.REQUESTS[header][1]
        if wanted is None:
            return  # a text of any length
        bus = Bus(coins=[[6, 200]])
        bus.says[header] = bytes(wanted + 2)
        readings: list[AnyReading] = []
        begin = bus.now
        while bus.now < begin + 5 * INHIBIT_CHECK_SECONDS:
            readings += bus.turn()
        assert dict(reports(readings))["answer_wrong"].endswith(f"{wanted + 2} bytes, not {wanted}")

    def test_a_damaged_answer_is_requested_again(self) -> None:
        bus = ready(coins=[[6, 200]])
        bus.says[frames.READ_CREDITS] = bytes(13)
        assert reports(bus.turns(2)) == []
        del bus.says[frames.READ_CREDITS]
        bus.note((6, 1))
        assert coins(bus.look(3)) == [(1, 200, False)]


class TestCoins:
    def test_a_coin(self) -> None:
        bus = ready()
        bus.note((6, 1))
        assert coins(bus.look()) == [(1, 200, False)]
        assert coins(bus.look(3)) == []

    def test_coins_before_the_first_look_are_not_ours(self) -> None:
        bus = Bus()
        bus.note(*[(6, 1)] * 7)
        readings = bus.ready()
        assert coins(readings) == []
        begun = "box 1: begins at 7; coins before are not known here"
        assert ("counter", begun) in reports(readings)

    def test_each_box_has_its_own(self) -> None:
        bus = ready(boxes=[[2, 3], [7, 1]])
        bus.note((6, 1), to=7)
        bus.note((5, 1), to=2)
        assert sorted(coins(bus.look())) == [(1, 200, False), (3, 100, False)]

    def test_a_copy_of_an_answer_is_no_coin(self) -> None:
        bus = ready()
        bus.note((6, 1))
        _, raw = bus.request()
        answer = bus.answer(2, 229, b"")
        assert coins(bus.hear(raw + answer + answer)) == []
        assert bus.codec.counters.unknown == 1
        _, raw = bus.request()
        assert coins(bus.hear(raw + answer + answer)) == [(1, 200, False)]
        assert coins(bus.look()) == []

    def test_a_jump_is_reported_once_it_was_shown_twice(self) -> None:
        bus = ready()
        bus.note(*[(6, 1)] * 9)
        assert bus.turn() == []
        readings = bus.turn()
        assert reports(readings) == [("coins_missed", "box 1: up to 4")]
        assert coins(readings) == [(1, 200, False)] * 5

    def test_a_jump_that_was_only_read_wrong_is_nothing(self) -> None:
        bus = ready()
        bus.note(*[(6, 1)] * 3)
        bus.look()
        bus.counter[2] = 200
        assert bus.turn() == []
        bus.counter[2] = 3
        assert bus.look(2) == []

    def test_events_that_do_not_follow_are_no_coins(self) -> None:
        bus = ready()
        bus.note(*[(6, 1)] * 6)
        bus.look(2)
        bus.counter[2], bus.events[2] = 8, [(6, 1), (6, 1), (5, 1), (5, 1), (5, 1)]
        readings = bus.look(2)
        assert coins(readings) == []
        assert reports(readings) == [("coins_missed", "box 1: unknown")]

    def test_after_a_reset_it_is_set_up_again(self) -> None:
        bus = ready(coins=[[6, 200]])
        bus.note((6, 1))
        bus.look()
        bus.counter, bus.events = {}, {}
        readings = bus.look(2)
        assert reports(readings) == [
            ("reset", "box 1: the acceptor counts from 0 again"),
            ("coins_missed", "box 1: unknown"),
        ]
        bus.ready()
        assert bus.asked.count((2, 231)) == 2
        bus.note((6, 1))
        assert coins(bus.look()) == [(1, 200, False)]

    def test_a_coin_of_unknown_amount_is_reported_and_not_guessed(self) -> None:
        bus = ready(coins=[[6, 200]])
        bus.note((5, 1), (12, 1))
        readings = bus.look()
        assert coins(readings) == []
        assert reports(readings) == [
            ("coin_unknown", "box 1: position 5"),
            ("coin_unknown", "box 1: position 12"),
        ]

    def test_errors(self) -> None:
        bus = ready()
        bus.note((0, 2), (0, 14), (0, 200))
        assert reports(bus.look()) == [
            ("coin_refused", "box 1: inhibited coin"),
            ("health", "box 1: credit sensor blocked"),
            ("health", "box 1: error 200"),
        ]
        bus.note((6, 1))
        assert reports(bus.look()) == [("health", "box 1: ok")]

    def test_a_busy_acceptor_is_polled_again(self) -> None:
        bus = ready()
        bus.note((6, 1))
        _, raw = bus.request()
        busy = frames.write_frame(frames.HOST_ADDRESS, 2, frames.BUSY)
        assert bus.hear(raw + busy) == []
        assert coins(bus.look()) == [(1, 200, False)]


class TestLate:
    def test_coins_of_a_silence_are_late(self) -> None:
        bus = ready()
        bus.note((6, 1))
        bus.look(20)
        bus.dead.add(2)
        begin = bus.now
        while bus.now < begin + LATE_AFTER_SECONDS + 1.0:
            bus.turn()
        bus.dead.clear()
        bus.note((6, 1))
        readings = bus.ready()
        assert coins(readings) == [(1, 200, True)]
        bus.note((6, 1))
        assert coins(after := bus.look()) == [(1, 200, False)]
        assert len(of(LinkLate, readings + after)) == 1

    def test_what_comes_after_an_echo_that_was_missing_may_be_old(self) -> None:
        bus = ready()
        _, raw = bus.request()
        bus.note((6, 1))
        answer = bus.answer(2, 229, b"")
        bus.hear(b"", ANSWER_SECONDS + 0.01)
        bus.request()
        bus.hear(raw + answer)
        assert coins(bus.turn()) == [(1, 200, True)]
        bus.note((5, 1))
        assert coins(bus.look()) == [(1, 100, True)]
        bus.look(20)
        bus.note((5, 1))
        assert coins(bus.look()) == [(1, 100, False)]

    def test_and_after_the_link_was_opened_again(self) -> None:
        bus = ready()
        bus.note((5, 1))
        bus.look()
        bus.call(LinkClosed(bus.now, "unplugged"))
        bus.now += 1.0
        bus.call(LinkOpened(bus.now))
        bus.note((6, 1))
        assert coins(bus.ready()) == [(1, 200, True)]


class TestAnotherAcceptor:
    """An acceptor that answers after a silence may be a different one, with earlier coins."""

    def test_its_coins_are_not_ours(self) -> None:
        bus = ready()
        bus.note((6, 1))
        bus.look()
        bus.dead.add(2)
        bus.turns(SILENT_AFTER_REQUESTS + 1)
        bus.dead.clear()
        bus.counter[2], bus.events[2] = 37, [(5, 1)] * 5
        readings = bus.ready()
        assert coins(readings) == []
        assert ("coins_missed", "box 1: unknown") in reports(readings)
        bus.note((6, 1))
        assert coins(bus.look()) == [(1, 200, False)]

    def test_nor_if_the_one_before_had_counted_nothing(self) -> None:
        bus = ready()
        bus.call(LinkClosed(bus.now, "unplugged"))
        bus.now += 1.0
        bus.call(LinkOpened(bus.now))
        bus.counter[2], bus.events[2] = 2, [(5, 1)] * 2
        readings = bus.ready()
        assert coins(readings) == []
        assert ("coins_missed", "box 1: unknown") in reports(readings)


class TestLine:
    def test_an_answer_without_its_echo_is_not_accepted(self) -> None:
        bus = ready()
        bus.note((6, 1))
        bus.request()
        assert bus.hear(bus.answer(2, 229, b"")) == []
        readings, _ = bus.request()
        assert reports(readings) == [("echo", "missing")]
        assert bus.codec.counters.unknown == 1

    def test_after_a_damaged_echo_the_request_is_repeated_and_its_answer_ignored(self) -> None:
        bus = ready()
        bus.note((6, 1))
        _, raw = bus.request()
        spoilt = b"\x00" + raw[1:]
        assert coins(bus.hear(spoilt + bus.answer(2, 229, b""))) == []
        assert coins(bus.look()) == [(1, 200, False)]

    def test_an_echo_that_is_missing_is_reported_and_when_it_is_whole_again(self) -> None:
        bus = ready()
        bus.request()
        readings, _ = bus.request()
        assert reports(readings) == [("echo", "missing")]
        readings = bus.turns(80)
        assert reports(readings) == [("echo", "whole")]

    def test_junk_between_the_frames_does_no_harm(self) -> None:
        bus = ready()
        bus.note((6, 1))
        _, raw = bus.request()
        readings = bus.hear(b"\xff" + raw + b"\xfe\x00" + bus.answer(2, 229, b""))
        assert coins(bus.turn()) == [(1, 200, False)]
        assert [(one.frame, one.bytes) for one in of(LinkGarbage, readings)] == [(r"\xff", 3)]

    def test_an_answer_of_another_box_is_not_accepted(self) -> None:
        bus = ready(boxes=[[2, 1], [3, 2]])
        bus.note((6, 1), to=3)
        while True:
            _, raw = bus.request()
            if raw[0] == 2:
                break
            bus.hear(raw + bus.answer(3, 229, b""))
        bus.note((6, 1), to=3)
        for _ in range(2):
            assert coins(bus.hear(raw + bus.answer(3, 229, b""))) == []

    def test_our_own_echo_is_no_sign_of_the_device(self) -> None:
        bus = ready()
        bus.dead.add(2)
        readings: list[AnyReading] = []
        for _ in range(40):
            readings += bus.turn()
        assert len(of(LinkStale, readings)) == 1
        assert bus.watch.state == "stale"
        assert reports(readings) == [("health", "box 1: silent")]

    def test_a_dead_acceptor_does_not_hold_the_others(self) -> None:
        bus = ready(boxes=[[address, address - 1] for address in range(2, 8)])
        bus.dead |= {2, 5}
        bus.turns(100)
        begin = len(bus.asked)
        bus.turns(200)
        for address in (3, 4, 6, 7):
            times = [
                at
                for at, one in zip(bus.at[begin:], bus.asked[begin:], strict=True)
                if one[0] == address
            ]
            poll = bus.options.poll
            assert max(b - a for a, b in pairwise(times)) < poll + 2 * ANSWER_SECONDS

    def test_one_that_answers_again_is_set_up_again(self) -> None:
        bus = ready(boxes=[[2, 1], [3, 2]], coins=[[6, 200]])
        bus.dead.add(3)
        readings = bus.turns(4 * SILENT_AFTER_REQUESTS)
        assert reports(readings) == [("health", "box 2: silent")]
        bus.dead.clear()
        assert ("health", "box 2: ok") in reports(bus.turns(40))
        assert bus.asked.count((3, 231)) == 2


pieces = st.one_of(
    st.binary(max_size=30),
    st.builds(
        frames.write_frame,
        st.sampled_from([1, 2, 3, 9]),
        st.sampled_from([1, 2, 3, 9]),
        st.sampled_from([0, 5, 6, *frames.REQUESTS]),
        st.binary(max_size=12),
    ),
)


@given(st.lists(st.tuples(st.sampled_from([0.0, 0.005, 0.3, 7.0]), pieces | st.none())))
def test_no_bytes_at_any_time_are_a_defect(course: list[tuple[float, bytes | None]]) -> None:
    """None: the echo of what was asked last, and the right answer."""
    bus = Bus(boxes=[[2, 1], [3, 2]])
    raw = b""
    for pause, data in course:
        bus.now += pause
        if data is None:
            data = raw + (bus.answer(raw[0], raw[3], raw[4:-1]) if raw else b"")
        bus.watch.tick(bus.now)
        bus.watch.receive(data, bus.now)
        raw = bus.watch.take_request() or raw
        if raw:
            bus.asked.append((raw[0], raw[3]))
            bus.data.append(raw[4:-1])


def test_nothing_is_requested_while_the_link_is_closed() -> None:
    bus = ready()
    bus.call(LinkClosed(bus.now, "unplugged"))
    bus.watch.take_request()
    for _ in range(5):
        bus.now += 1.0
        assert bus.call(LinkClosed(bus.now, "unplugged")) == []
        assert bus.watch.take_request() == b""


def test_after_a_stall_of_ours_one_request_is_sent_and_not_all_that_were_due() -> None:
    bus = ready(boxes=[[2, 1], [3, 2]])
    bus.now += 4.0
    assert bus.call(BytesReceived(bus.now, b"")) == []
    assert len(bus.watch.take_request()) == frames.MIN_FRAME_BYTES
    assert bus.watch.take_request() == b""


def test_it_accepts_no_commands() -> None:
    with pytest.raises(ValueError, match="accepts no commands"):
        Bus().codec.encode("open")


@for_each(
    ("options", "wrong"),
    [
        ({"boxes": []}, "no acceptor"),
        ({"boxes": [[2, 1], [2, 2]]}, "address 2 is given twice"),
        ({"boxes": [[2, 1], [3, 1]]}, "box 1 is given twice"),
        ({"coins": [[5, 100], [5, 200]]}, "position 5 is given twice"),
        ({"boxes": [[1, 1]]}, "Expected `int` >= 2"),
        ({"coins": [[17, 100]]}, "Expected `int` <= 16"),
        ({"currency": "eu"}, "Expected `str` matching"),
    ],
)
def test_options_that_cannot_be(options: dict[str, Any], wrong: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=wrong):
        Bus(**options)
