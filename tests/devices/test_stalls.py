"""What arrives while the program is not scheduled: late only if the wire, and not we, kept it.

A device, its wire and our process are played as three lists of times: when each frame was sent,
when the wire delivered it, and when we read it. A frame is taken for live only if it is hardly
older than our own delay.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from common.readings import (
    AnyReading,
    CardDrawn,
    LinkLate,
    LinkStale,
    LinkUnintelligible,
    MaybeLate,
    SlotCoin,
    WheelNumber,
    WheelPhase,
)
from devices.board.lateness import Lateness
from devices.board.report import write_report
from devices.calls import (
    AnyCall,
    BytesReceived,
    LinkOpened,
    apply_call,
    clock_time,
    read_calls,
    write_calls,
)
from devices.codec import MAX_LIVE_DELAY_SECONDS
from devices.drivers import DRIVERS, driver
from devices.pace import (
    LIVE_GAP_PERIODS,
    MAX_DOUBT_SECONDS,
    MAX_DRIFT,
    SILENCE_PERIODS,
    HandPace,
    SteadyPace,
)
from devices.watch import UNINTELLIGIBLE_BYTES, Watch
from tests.conftest import cases
from tests.devices.test_kept import chunks, watch_of
from tests.devices.test_splits import recordings
from tests.support.devices.parts import Lines
from tests.support.devices.shoe_pens import card, report

PERIOD = 0.5
ROUND = (*[2] * 8, *[3] * 6, *[4] * 4, *[5] * 6)
LOOK = 0.04
"""How long ago we looked, when we are scheduled."""

Interval = tuple[float, float]


class Frame(msgspec.Struct, frozen=True):
    """``sent`` by the device, ``arrived`` at our port."""

    sent: float
    arrived: float
    data: bytes


def number(spin: int) -> int:
    return spin * 7 % 37


def line(tick: int) -> bytes:
    rounds, phase = divmod(tick, len(ROUND))
    spin, state = rounds + 1, ROUND[phase]
    shown = number(spin if state == 5 else spin - 1)
    return b"*X;%d;%03d;%2d;0;150;%d\r\n" % (state, spin, shown, spin % 2)


def frames(count: int, outages: Sequence[Interval] = (), pace: float = 1.0) -> list[Frame]:
    """The bytes of a wheel. During an outage the wire keeps everything, and delivers it at its
    end.
    """
    sent = [100.0 + tick * PERIOD * pace for tick in range(count)]
    return [Frame(at, after(at, outages), line(tick)) for tick, at in enumerate(sent)]


def after(moment: float, intervals: Sequence[Interval]) -> float:
    """The end of the interval that it is in, or itself."""
    for begin, end in intervals:
        if begin <= moment < end:
            moment = end
    return moment


def read(
    sent: Sequence[Frame], stalls: Sequence[Interval]
) -> Iterator[tuple[BytesReceived, list[Frame]]]:
    """What we read, if we are not scheduled during the stalls. The calls are those of the
    supervisor: a stall that is too long is not passed on.
    """
    waiting: list[Frame] = []
    moments = [after(frame.arrived, stalls) for frame in sent]
    last = 0.0
    for frame, moment, later in zip(sent, moments, [*moments[1:], float("inf")], strict=True):
        waiting.append(frame)
        if later > moment:
            began = min((b for b, e in stalls if e == moment and b <= moment), default=moment)
            since = max(began - LOOK, last) if began < moment else None
            told = since if since is not None and moment - since <= MAX_LIVE_DELAY_SECONDS else None
            yield BytesReceived(moment, b"".join(each.data for each in waiting), told), waiting
            waiting, last = [], moment


def wheel() -> Watch:
    found = driver("cammegh-ss2")
    watch = Watch(found.make("wheel", found.options()), "wheel", 2.0)
    apply_call(watch, LinkOpened(100.0))
    return watch


def results(said: Sequence[AnyReading]) -> dict[int | None, tuple[object, bool]]:
    return {
        reading.spin: (reading.number, reading.late)
        for reading in said
        if isinstance(reading, WheelNumber)
    }


def apart(intervals: list[tuple[float, float]], longest: float) -> list[Interval]:
    """Intervals as (begin, length), made disjoint."""
    placed: list[Interval] = []
    for begin, length in sorted(intervals):
        if not placed or begin > placed[-1][1] + 0.05:
            placed.append((begin, begin + min(length, longest)))
    return placed


COUNT = 4 * len(ROUND)
moments = st.floats(101.0, 100.0 + COUNT * PERIOD - 8.0)
stalls = st.lists(st.tuples(moments, st.floats(0.06, 4.9)), max_size=6)
outages = st.lists(st.tuples(moments, st.floats(0.06, 9.0)), max_size=3)


@given(stalls, st.floats(1 - MAX_DRIFT / 2, 1 + MAX_DRIFT / 2))
@settings(max_examples=cases(75, 300))
def test_a_stall_of_ours_changes_no_result_and_makes_none_late(
    given_stalls: list[tuple[float, float]], pace: float
) -> None:
    """Nor if the wheel is a little faster or slower than it should be."""
    sent = frames(COUNT, pace=pace)
    watch, stalled = wheel(), wheel()
    prompt = [each for call, _ in read(sent, ()) for each in apply_call(watch, call)]
    held = [
        each
        for call, _ in read(sent, apart(given_stalls, MAX_LIVE_DELAY_SECONDS - 2 * LOOK))
        for each in apply_call(stalled, call)
    ]
    assert results(held) == results(prompt)
    assert [each for each in held if isinstance(each, LinkStale | LinkLate)] == []


@given(stalls, outages)
@example([(110.25, 4.5)], [(101.0, 9.0), (111.5, 4.0)])
@example([(105.0, 4.0)], [(101.0, 4.0), (106.0, 4.0)])
@settings(max_examples=cases(125, 500))
def test_nothing_is_treated_as_live_that_is_older_than_our_own_delay(
    given_stalls: list[tuple[float, float]], given_outages: list[tuple[float, float]]
) -> None:
    watch = wheel()
    truth = {spin: number(spin) for spin in range(1, 10)}
    for call, taken in read(
        frames(COUNT, apart(given_outages, 20.0)), apart(given_stalls, MAX_LIVE_DELAY_SECONDS + 2.0)
    ):
        unread = MAX_LIVE_DELAY_SECONDS + PERIOD if call.since is not None else 0.0
        readings = apply_call(watch, call)
        for reading in readings:
            if isinstance(reading, WheelNumber):
                assert reading.number == truth[reading.spin or 0]
            if isinstance(reading, WheelNumber | WheelPhase) and not reading.late:
                oldest = min(frame.sent for frame in taken)
                assert (
                    call.at - oldest
                    <= unread + SILENCE_PERIODS * PERIOD + MAX_DRIFT * MAX_LIVE_DELAY_SECONDS + LOOK
                )


@given(stalls)
@settings(max_examples=cases(25, 100))
def test_without_being_noted_a_result_may_be_late_but_is_never_another(
    given_stalls: list[tuple[float, float]],
) -> None:
    """As in a journal from before stalls were stored."""
    watch = wheel()
    for call, _ in read(frames(COUNT), apart(given_stalls, 20.0)):
        for reading in apply_call(watch, msgspec.structs.replace(call, since=None)):
            if isinstance(reading, WheelNumber):
                assert reading.number == number(reading.spin or 0)


def test_calls_are_stored_with_the_time_that_they_may_have_waited() -> None:
    calls: list[AnyCall] = [
        LinkOpened(1.0),
        BytesReceived(2.0, b"a\xff"),
        BytesReceived(7.5, b"", 3.25),
        BytesReceived(8.0, b"b", 7.75),
        LinkOpened(9.0, kept=True),
        BytesReceived(9.5, b"c\xff", kept=True),
    ]
    assert read_calls(write_calls("wheel", calls)) == ("wheel", calls)
    before = b'{"device":"wheel","calls":[["opened",1.0],["heard",2.0,"a"]]}'
    assert read_calls(before) == ("wheel", [LinkOpened(1.0), BytesReceived(2.0, b"a")])
    assert write_calls("wheel", [LinkOpened(1.0), BytesReceived(2.0, b"a")]) == before


class TestWatch:
    def watch(self, codec: Lines) -> Watch:
        watch = Watch(codec, "wheel", stale_after=2.0)
        watch.opened(0.0)
        watch.feed(b"ok\n", 0.0)
        return watch

    def test_a_silence_is_reported_if_it_was_over_before_we_looked_away(self) -> None:
        readings = apply_call(self.watch(Lines()), BytesReceived(9.0, b"ok\n", 5.0))
        assert readings[0] == LinkStale(at=2.0, device="wheel", age=2.0)

    def test_time_without_a_poll_is_no_silence(self) -> None:
        watch = self.watch(Lines())
        assert not [
            e for e in apply_call(watch, BytesReceived(5.0, b"o", 1.0)) if isinstance(e, LinkStale)
        ]
        assert watch.deadline == 6.0
        assert apply_call(watch, BytesReceived(6.0, b"")) == [
            LinkStale(at=6.0, device="wheel", age=2.0)
        ]

    def test_nor_is_it_noise(self) -> None:
        watch = self.watch(Lines())
        watch.feed(b"x" * UNINTELLIGIBLE_BYTES, 1.0)
        assert apply_call(watch, BytesReceived(5.0, b"x", 1.5)) == []
        assert watch.deadline == 5.5
        assert isinstance(apply_call(watch, BytesReceived(5.5, b""))[0], LinkUnintelligible)

    @pytest.mark.parametrize("chunks", [1, 2, 8])
    def test_it_is_counted_once_however_much_was_read_after_it(self, chunks: int) -> None:
        watch = self.watch(Lines())
        for chunk in range(chunks):
            apply_call(watch, BytesReceived(5.0 + chunk / 1000, b"x" * UNINTELLIGIBLE_BYTES, 1.0))
        assert watch.deadline == pytest.approx(6.0, abs=0.01)
        (readings,) = apply_call(watch, BytesReceived(6.5, b""))
        assert isinstance(readings, LinkUnintelligible)

    def test_a_device_that_died_while_a_backlog_was_read_is_stale_in_time(self) -> None:
        watch = self.watch(Lines())
        for chunk in range(4):
            apply_call(watch, BytesReceived(5.0 + chunk / 1000, b"ok\n", 1.0))
        assert watch.deadline == pytest.approx(7.0, abs=0.01)

    def test_two_stops_are_counted_both(self) -> None:
        watch = self.watch(Lines())
        apply_call(watch, BytesReceived(3.0, b"o", 1.0))
        apply_call(watch, BytesReceived(6.0, b"o", 3.5))
        assert watch.deadline == 6.5

    def test_an_empty_port_proves_a_silence_however_late_the_poll(self) -> None:
        assert apply_call(self.watch(Lines()), BytesReceived(5.0, b"")) == [
            LinkStale(at=2.0, device="wheel", age=2.0)
        ]


class TestBeat:
    def beat(self) -> SteadyPace:
        beat = SteadyPace("wheel", 1.0)
        beat.on_frame(0.0)
        beat.on_frame(1.0)
        return beat

    def late(
        self, beat: SteadyPace, now: float, since: float | None = None, frames: int = 1
    ) -> bool:
        if since is not None:
            beat.delayed(since, now)
        for _ in range(frames):
            beat.on_frame(now)
        return beat.late

    def test_as_many_as_the_pace_allows_are_live(self) -> None:
        assert not self.late(self.beat(), 5.5, 1.1, frames=4)

    def test_a_device_that_is_faster_than_it_should_be_is_live(self) -> None:
        """They were sent after the last live one, however many there are."""
        beat = self.beat()
        assert not self.late(beat, 5.5, 1.1, frames=40)
        assert not self.late(beat, 5.6)

    @pytest.mark.parametrize("since", [None, 1.1])
    def test_more_than_any_device_sends_were_kept(self, since: float | None) -> None:
        """However short the silence was: our clock may have stopped."""
        beat = self.beat()
        assert not self.late(beat, 1.2, since, frames=2)
        assert self.late(beat, 1.2, since, frames=2)
        assert self.late(beat, 1.2 + MAX_DOUBT_SECONDS - 0.1)
        assert not self.late(beat, 1.2 + MAX_DOUBT_SECONDS)

    def test_two_that_a_network_delivers_at_once_were_not(self) -> None:
        beat = self.beat()
        assert not self.late(beat, 2.4)
        assert not self.late(beat, 3.0)
        assert not self.late(beat, 3.0)
        assert not self.late(beat, 4.0)

    def test_a_device_that_is_joined_is_late_for_a_moment(self) -> None:
        beat = SteadyPace("wheel", 0.5)
        beat.kept()
        told = [(beat.on_frame(now), beat.late) for now in (100.0, 100.5, 101.0, 101.5)]
        assert told == [([], True), ([], True), ([], False), ([], False)]

    def test_a_backlog_that_comes_in_several_bursts_is_late_to_its_end(self) -> None:
        beat = SteadyPace("wheel", 0.5)
        beat.kept()
        for burst in (100.0, 100.45, 101.2):
            assert self.late(beat, burst, frames=10)
        said = [each for now in (101.7, 102.2, 102.7) for each in beat.on_frame(now)]
        assert not beat.late
        assert [reading.frames for reading in said] == [31]

    def test_what_follows_a_silence_in_several_bursts_is_late(self) -> None:
        beat = self.beat()
        assert self.late(beat, 60.0, frames=10)
        assert not self.late(beat, 61.0)  # it came at the pace of the device
        assert self.late(beat, 61.0)

    def test_fewer_show_at_the_next_frame(self) -> None:
        beat = self.beat()
        assert not self.late(beat, 5.5, 1.1, frames=1)
        assert self.late(beat, 5.9)

    def test_a_silence_before_we_looked_away_is_one(self) -> None:
        assert self.late(self.beat(), 5.5, 1.0 + SILENCE_PERIODS + 0.1, frames=4)

    def test_what_was_late_stays_late_until_a_frame_is_seen_at_its_pace(self) -> None:
        beat = self.beat()
        assert self.late(beat, 9.0)
        assert self.late(beat, 11.0, 9.0 + LIVE_GAP_PERIODS - 0.1, frames=2)
        assert self.late(beat, 11.0 + LIVE_GAP_PERIODS - 0.1)
        assert not self.late(beat, 12.0 + LIVE_GAP_PERIODS)

    def test_a_link_that_was_opened_again_is_late(self) -> None:
        beat = self.beat()
        beat.on_reopened()
        assert self.late(beat, 2.0, 1.1)

    def test_a_window_is_that_of_its_own_bytes_alone(self) -> None:
        beat = self.beat()
        beat.delayed(1.1, 5.5)
        assert self.late(beat, 5.6)

    def test_a_frame_beside_the_sequence(self) -> None:
        beat = self.beat()
        beat.delayed(2.0, 6.0)
        assert not beat.is_other_late(6.0)
        beat.delayed(1.0 + SILENCE_PERIODS + 0.1, 7.0)
        assert beat.is_other_late(7.0)


class TestPace:
    def late(self, pace: HandPace, now: float, since: float | None, cards: int) -> list[bool]:
        if since is not None:
            pace.delayed(since, now)
        return [pace.is_late(now, card=True) for _ in range(cards)]

    def test_cards_that_a_hand_can_have_drawn_are_live(self) -> None:
        pace = HandPace("shoe", 0.5)
        assert self.late(pace, 0.0, None, 1) == [False]
        assert self.late(pace, 2.0, 0.1, 4) == [False] * 4
        assert self.late(pace, 2.1, None, 1) == [True]

    def test_more_than_a_hand_can_have_drawn_are_late(self) -> None:
        pace = HandPace("shoe", 0.5)
        assert self.late(pace, 0.0, None, 1) == [False]
        assert self.late(pace, 2.0, 0.1, 6) == [False] * 4 + [True] * 2

    def test_what_was_kept_and_what_follows_immediately(self) -> None:
        pace = HandPace("shoe", 0.5)
        pace.kept(1.0)
        assert self.late(pace, 1.0, None, 1) == [True]
        pace.kept(9.0)  # half a code
        assert self.late(pace, 9.1, None, 1) == [True]
        assert self.late(pace, 9.7, None, 1) == [False]

    def test_without_a_shortest_time_only_what_was_kept_is_late(self) -> None:
        pace = HandPace("shoe", 0.0)
        pace.kept(1.0)
        assert self.late(pace, 1.0, None, 2) == [True, True]
        assert self.late(pace, 1.001, None, 1) == [False]

    def test_the_first_cards_of_all(self) -> None:
        assert self.late(HandPace("shoe", 0.5), 1.0, 0.0, 4) == [False] * 3 + [True]


class TestLateness:
    def lateness(self) -> Lateness:
        lateness = Lateness(1.0)
        for second in range(4):
            assert not lateness.is_late(second, 100.0 + second)
        return lateness

    def test_only_what_it_waited_before_we_looked_away_counts(self) -> None:
        lateness = self.lateness()
        lateness.delayed(103.1, 107.0)
        assert not lateness.is_late(4.0, 107.0)
        assert not lateness.is_late(6.9, 107.0)
        assert not lateness.is_late(8.0, 108.0)

    def test_a_report_that_waited_on_the_wire_is_late(self) -> None:
        lateness = self.lateness()
        lateness.delayed(106.1, 107.0)
        assert lateness.is_late(4.0, 107.0)

    def test_a_stopped_clock_is_noticed(self) -> None:
        """Our clock stopped: the board reports more seconds than have passed."""
        lateness = self.lateness()
        burst = [
            (lateness.is_late(sent, 103.2), lateness.is_learning(103.2)) for sent in range(4, 30)
        ]
        assert [joined for _, joined in burst[2:]] == [True] * 24
        assert not lateness.is_late(30.0, 104.2)
        assert not lateness.is_learning(104.2)

    def test_a_backlog_that_comes_in_several_bursts_is_late_to_its_end(self) -> None:
        lateness = Lateness(1.0)
        lateness.kept()
        for number, burst in enumerate((100.0, 100.9, 101.8)):
            for sent in range(10 * number, 10 * number + 10):
                assert lateness.is_late(sent, burst) or lateness.is_learning(burst)
        for second in range(1, 4):
            assert not lateness.is_late(29.0 + second, 101.8 + second)
        assert not lateness.is_learning(104.8)

    def test_promptness_is_not_learned_from_what_lay_unread(self) -> None:
        lateness = self.lateness()
        lateness.delayed(103.1, 104.9)
        assert not lateness.is_late(4.0, 104.9)
        assert not lateness.is_late(4.9, 105.8)
        assert lateness.is_late(6.0, 108.0)


@given(stalls)
@settings(max_examples=cases(25, 100))
def test_a_board_gives_the_same_readings_with_stalls_as_without(
    given_stalls: list[tuple[float, float]],
) -> None:
    sent: list[tuple[float, tuple[Any, ...]]] = []
    for second in range(48):
        sent.append((100.0 + second, ("coins", second // 3, "ok")))
        if second % 3 == 2:
            sent.append((100.3 + second, ("coin", second // 3 + 1, 1 + second % 8, 500)))
    frames = [
        Frame(at, at, write_report(number, round((at - 100) * 1000), "slot", *fields))
        for number, (at, fields) in enumerate(sent)
    ]

    def coins(stalls: Sequence[Interval]) -> list[tuple[int, bool]]:
        found = driver("slot-board")
        watch = Watch(found.make("board", found.options()), "board", 5.0)
        apply_call(watch, LinkOpened(99.0))
        said = [each for call, _ in read(frames, stalls) for each in apply_call(watch, call)]
        return [(reading.box, reading.late) for reading in said if isinstance(reading, SlotCoin)]

    assert len(coins(())) == 16
    assert coins(apart(given_stalls, MAX_LIVE_DELAY_SECONDS - 2 * LOOK)) == coins(())


def angel_eye(seq: int, name: str) -> bytes:
    return 3 * report(seq % 9 + 1, card(name))


@given(stalls, st.lists(st.floats(0.45, 4.0), min_size=20, max_size=40))
@settings(max_examples=cases(25, 100))
def test_cards_are_those_that_were_drawn_with_stalls_as_without(
    given_stalls: list[tuple[float, float]], pauses: list[float]
) -> None:
    names = [rank + suit for rank in "A23456789TJQK" for suit in "dcsh"]
    at, frames = 100.0, []
    for number, pause in enumerate(pauses):
        at += pause
        frames.append(Frame(at, at, angel_eye(number, names[number])))
    found = driver("angel-eye")
    watch = Watch(found.make("shoe", found.options()), "shoe", 5.0)
    apply_call(watch, LinkOpened(99.0))
    said = [
        each
        for call, _ in read(frames, apart(given_stalls, MAX_LIVE_DELAY_SECONDS - 2 * LOOK))
        for each in apply_call(watch, call)
    ]
    assert [(reading.card, reading.late) for reading in said if isinstance(reading, CardDrawn)] == [
        (name, False) for name in names[: len(pauses)]
    ]


@pytest.mark.parametrize("name", DRIVERS)
def test_bytes_read_in_the_same_tick_as_bytes_that_waited_are_judged_by_themselves(
    name: str,
) -> None:
    """The clock of devices has ticks: two reads may have the same time, and only the first of them
    may have waited.
    """
    for recording in recordings(name):
        live = chunks(recording)
        for begin in range(1, len(live) - 6, max(1, len(live) // 16)):
            for stalled in (0.313, 1.717, 3.141):
                lateness = []
                for apart_by in (0.0, 0.000_01):
                    _, watch = watch_of(recording)
                    calls: list[AnyCall] = [LinkOpened(100.0)]
                    calls += [BytesReceived(100.1 + each.at, each.data) for each in live[:begin]]
                    now = 100.1 + live[begin - 1].at + stalled
                    first, second, *later = live[begin : begin + 6]
                    calls.append(BytesReceived(now, first.data, now - stalled + 0.01))
                    calls.append(BytesReceived(now + apart_by, second.data))
                    calls += [
                        BytesReceived(now + 0.137 * n, each.data) for n, each in enumerate(later, 1)
                    ]
                    lateness.append(
                        [
                            (type(reading), isinstance(reading, MaybeLate) and reading.late)
                            for call in calls
                            for reading in apply_call(watch, call)
                        ]
                    )
                assert lateness[0] == lateness[1], (begin, stalled)


@given(st.floats(0, 1e8))
def test_the_clock_of_devices_is_never_ahead(seconds: float) -> None:
    """A tick of it is stored exactly in microseconds, and is at most a tick behind."""
    shown = clock_time(seconds)
    assert shown <= seconds or shown == pytest.approx(seconds, rel=1e-15, abs=0)
    assert seconds - shown < 0.000_101
    (call,) = read_calls(write_calls("wheel", [BytesReceived(shown, b"x")], compact=True))[1]
    assert call.at == shown
    assert round(shown * 1e6) / 1e6 == shown
