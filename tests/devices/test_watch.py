"""The watch: each state is reported once, when it begins, independent of how often the watch is
called.
"""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.device_health import Counters
from common.readings import (
    AnyReading,
    DeviceReport,
    LinkGarbage,
    LinkLost,
    LinkOpen,
    LinkStale,
    LinkUnintelligible,
    LinkUp,
)
from devices.watch import UNINTELLIGIBLE_BYTES, CodecDefectError, Watch
from devices.wheel.cammegh_ss2_driver import DRIVER
from tests.support.devices.parts import Lines

STALE_AFTER = 5.0
NOTHING_HEARD = b"~" * UNINTELLIGIBLE_BYTES


def make() -> Watch:
    watch = Watch(Lines(), "wheel", STALE_AFTER)
    watch.opened(0.0)
    return watch


def links(readings: list[AnyReading]) -> list[AnyReading]:
    return [
        reading
        for reading in readings
        if isinstance(reading, LinkUp | LinkStale | LinkUnintelligible | LinkLost)
    ]


def test_up_comes_before_the_first_frame_s_reading_and_once() -> None:
    watch = make()
    assert watch.feed(b"o", 1.0) == []
    first = watch.feed(b"k 1\n", 1.5)
    assert first == [
        LinkUp(at=1.5, device="wheel"),
        DeviceReport(at=1.5, device="wheel", report="line", value="ok 1"),
    ]
    assert watch.feed(b"ok 2\n", 2.0) == [
        DeviceReport(at=2.0, device="wheel", report="line", value="ok 2")
    ]
    assert watch.state == "up"
    assert watch.last_frame == 2.0


def test_silence_is_stale_at_the_time_it_was_due_and_a_frame_ends_it() -> None:
    watch = make()
    watch.feed(b"ok\n", 1.0)
    assert watch.deadline == 6.0
    assert watch.tick(5.9) == []
    assert watch.tick(6.2) == [LinkStale(at=6.0, device="wheel", age=5.0)]
    assert watch.tick(100.0) == []
    assert watch.deadline is None
    assert links(watch.feed(b"ok\n", 101.0)) == [LinkUp(at=101.0, device="wheel")]


def test_an_open_link_is_connecting_until_something_is_received() -> None:
    assert make().state == "connecting"


def test_a_device_that_never_speaks_is_stale() -> None:
    assert make().tick(5.0) == [LinkStale(at=5.0, device="wheel", age=5.0)]


def test_damaged_lines_do_not_keep_a_device_up() -> None:
    watch = make()
    watch.feed(b"ok\n", 1.0)
    watch.feed(b"half a line\n", 5.0)
    assert watch.tick(6.0) == [LinkStale(at=6.0, device="wheel", age=5.0)]


def test_bytes_without_a_frame_are_unintelligible_and_then_stale_when_they_stop() -> None:
    watch = make()
    watch.feed(NOTHING_HEARD, 1.0)
    assert watch.tick(5.0) == [
        LinkUnintelligible(at=5.0, device="wheel", bytes=UNINTELLIGIBLE_BYTES)
    ]
    watch.feed(NOTHING_HEARD, 8.0)
    assert watch.state == "unintelligible"
    assert watch.tick(13.0) == [LinkStale(at=13.0, device="wheel", age=13.0)]


def test_a_device_that_begins_to_speak_nonsense_after_a_silence_is_unintelligible() -> None:
    watch = make()
    watch.tick(5.0)
    watch.feed(NOTHING_HEARD, 60.0)
    assert watch.state == "stale"
    assert watch.tick(65.0) == [
        LinkUnintelligible(at=65.0, device="wheel", bytes=UNINTELLIGIBLE_BYTES)
    ]
    assert links(watch.feed(b"\nok\n", 66.0)) == [LinkUp(at=66.0, device="wheel")]


def test_a_first_frame_in_pieces_after_a_silence_is_not_called_unintelligible() -> None:
    watch = make()
    watch.tick(5.0)
    pieces = [
        watch.feed(piece, 60.0 + index / 100)
        for index, piece in enumerate([b"ok " + b"x" * 50, b"x" * 50, b"\n"])
    ]
    assert [links(piece) for piece in pieces] == [[], [], [LinkUp(at=60.02, device="wheel")]]


def test_lost_is_reported_once_however_often_it_is_tried() -> None:
    watch = make()
    watch.feed(b"ok\n", 1.0)
    assert watch.lost(2.0, "unplugged") == [LinkLost(at=2.0, device="wheel", reason="unplugged")]
    assert watch.lost(3.0, "no such port") == []
    watch.opened(4.0)
    assert watch.state == "connecting"
    assert watch.lost(4.1, "unplugged") == []
    assert watch.deadline is None
    watch.opened(5.0)
    assert links(watch.feed(b"ok\n", 6.0)) == [LinkUp(at=6.0, device="wheel")]


def test_half_a_frame_does_not_survive_a_reconnection() -> None:
    watch = make()
    watch.feed(b"ok 1", 1.0)
    watch.lost(2.0, "unplugged")
    watch.opened(3.0)
    assert watch.feed(b"2\n", 4.0) == []


class Sleeper(Lines):
    """Says something two seconds after each frame, unless bytes come first; stubborn: its deadline
    never moves.
    """

    def __init__(self, *, stubborn: bool = False) -> None:
        super().__init__()
        self._wake: float | None = None
        self._stubborn = stubborn

    @property
    def deadline(self) -> float | None:
        return self._wake

    def feed(self, data: bytes, now: float) -> list[AnyReading]:
        readings = super().feed(data, now)
        if readings:
            self._wake = now + 2.0
        elif self._wake is not None and now >= self._wake:
            readings = [DeviceReport(at=now, device="wheel", report="woke", value="")]
            if not self._stubborn:
                self._wake = None
        return readings


def test_the_codec_s_own_deadline_is_passed_through_with_its_time() -> None:
    watch = Watch(Sleeper(), "wheel", STALE_AFTER)
    watch.opened(0.0)
    watch.feed(b"ok\n", 1.0)
    assert watch.deadline == 3.0
    assert watch.tick(2.9) == []
    woke = DeviceReport(at=3.0, device="wheel", report="woke", value="")
    assert watch.tick(50.0) == [woke, LinkStale(at=6.0, device="wheel", age=5.0)]


def test_a_codec_whose_deadline_never_moves_does_not_hold_the_watch() -> None:
    watch = Watch(Sleeper(stubborn=True), "wheel", STALE_AFTER)
    watch.opened(0.0)
    watch.feed(b"ok\n", 1.0)
    assert len(watch.tick(50.0)) == 1


def test_a_defect_gives_what_was_read_before_and_the_watch_continues() -> None:
    watch = make()
    watch.feed(b"ok\n", 1.0)
    with pytest.raises(CodecDefectError, match="RuntimeError: a defect") as raised:
        watch.feed(b"boom\n", 7.0)
    assert raised.value.readings == [LinkStale(at=6.0, device="wheel", age=5.0)]
    assert raised.value.data == b"boom\n"
    assert links(watch.feed(b"ok\n", 8.0)) == [LinkUp(at=8.0, device="wheel")]


def test_the_silence_of_an_unsteady_device_is_not_reported() -> None:
    watch = Watch(Lines(steady=False), "shoe", STALE_AFTER)
    watch.opened(0.0)
    assert watch.tick(1000.0) == []
    assert (watch.state, watch.deadline) == ("connecting", None)
    assert links(watch.feed(b"ok\n", 1000.0)) == [LinkUp(at=1000.0, device="shoe")]
    assert watch.tick(2000.0) == []
    assert watch.state == "up"


def test_the_link_of_a_device_that_is_not_steady_is_reported_when_it_opens_and_once() -> None:
    watch = Watch(Lines(steady=False), "shoe", STALE_AFTER)
    assert watch.opened(0.0) == [LinkOpen(at=0.0, device="shoe")]
    assert links(watch.feed(b"ok\n", 1.0)) == [LinkUp(at=1.0, device="shoe")]
    watch.lost(2.0, "unplugged")
    assert watch.opened(3.0) == [LinkOpen(at=3.0, device="shoe")]
    assert (watch.state, watch.tick(1000.0)) == ("connecting", [])
    assert watch.lost(1001.0, "unplugged") == [
        LinkLost(at=1001.0, device="shoe", reason="unplugged")
    ]
    assert watch.lost(1002.0, "no such port") == []
    assert watch.opened(1003.0) == [LinkOpen(at=1003.0, device="shoe")]
    assert links(watch.feed(b"ok\n", 1004.0)) == [LinkUp(at=1004.0, device="shoe")]


def test_the_opening_of_a_steady_device_is_not_reported() -> None:
    watch = make()
    watch.lost(2.0, "unplugged")
    assert watch.opened(3.0) == []


def test_noise_of_a_device_that_is_not_steady_is_reported_once_and_ends_with_a_frame() -> None:
    watch = Watch(Lines(steady=False), "shoe", STALE_AFTER)
    watch.opened(0.0)
    watch.feed(b"~" * (UNINTELLIGIBLE_BYTES - 1), 100.0)
    assert watch.deadline is None
    watch.feed(b"~", 101.0)
    assert watch.deadline == 105.0
    assert watch.tick(300.0) == [
        LinkUnintelligible(at=105.0, device="shoe", bytes=UNINTELLIGIBLE_BYTES)
    ]
    assert watch.feed(b"~" * 1000, 400.0) == []
    assert watch.tick(500.0) == []
    assert links(watch.feed(b"\nok\n", 501.0)) == [LinkUp(at=501.0, device="shoe")]


pieces = st.sampled_from([b"ok\n", b"ok", b"\n", b"~", b"~" * 40, b"~" * 100, b"bad\n"])
steps = st.lists(
    st.tuples(
        st.sampled_from(["feed", "feed", "feed", "tick", "lost", "open"]),
        st.integers(0, 40),
        pieces,
    ),
    max_size=60,
)


def play(given_steps: list[tuple[str, int, bytes]], *, often: bool) -> list[AnyReading]:
    """Run the steps, times a quarter of a second; ``often``: with a tick at every quarter between
    them.
    """
    watch = Watch(Sleeper(), "wheel", STALE_AFTER)
    readings: list[AnyReading] = []
    quarters, is_open = 0, False
    for step, pause, data in given_steps:
        if often and is_open:
            for quarter in range(quarters, quarters + pause + 1):
                readings += watch.tick(quarter / 4)
        quarters += pause
        now = quarters / 4
        if step == "lost" or (step == "open" and is_open):
            readings += watch.lost(now, "gone")
            is_open = False
        elif not is_open:
            watch.opened(now)
            is_open = True
        elif step == "feed":
            readings += watch.feed(data, now)
        else:
            readings += watch.tick(now)
    return readings + watch.lost(quarters / 4 + 100, "end")


@given(steps)
def test_no_state_is_reported_twice_in_a_row_and_time_never_goes_back(
    given_steps: list[tuple[str, int, bytes]],
) -> None:
    readings = play(given_steps, often=False)
    told = [type(reading) for reading in links(readings)]
    assert all(one is not other for one, other in pairwise(told))
    times = [reading.at for reading in readings]
    assert times == sorted(times)
    assert all(reading.device == "wheel" for reading in readings)


@given(steps)
def test_readings_do_not_depend_on_how_often_the_watch_is_called(
    given_steps: list[tuple[str, int, bytes]],
) -> None:
    assert play(given_steps, often=True) == play(given_steps, often=False)


@given(steps)
def test_a_frame_is_read_only_while_the_link_is_up(
    given_steps: list[tuple[str, int, bytes]],
) -> None:
    up = False
    for reading in play(given_steps, often=False):
        if isinstance(reading, LinkUp):
            up = True
        elif isinstance(reading, LinkStale | LinkUnintelligible | LinkLost):
            up = False
        elif isinstance(reading, DeviceReport) and reading.report == "line":
            assert up


def test_counters_are_the_codec_s() -> None:
    codec = Lines()
    watch = Watch(codec, "wheel", STALE_AFTER)
    watch.opened(0.0)
    watch.feed(b"ok\nbad\n", 1.0)
    assert codec.counters == Counters(bytes=7, frames=1, damaged=1)


def test_a_babble_is_one_reading_for_each_time_that_bytes_came() -> None:
    driver = DRIVER.make("wheel", DRIVER.options(heard_twice=False))
    watch = Watch(driver, "wheel", STALE_AFTER)
    watch.opened(0.0)
    readings = watch.feed(b"abc\nde\n*X;6;001;  ;0;000;0\nfgh\n" + b"x\n" * 1000, 1.0)
    garbage = [
        (index, reading.bytes, reading.frame)
        for index, reading in enumerate(readings)
        if isinstance(reading, LinkGarbage)
    ]
    assert [(count, frame) for _, count, frame in garbage] == [(5, "abc"), (1003, "fgh")]
    assert driver.counters.damaged == 1003
    assert garbage[1][0] - garbage[0][0] > 1  # garbage between them stays in its place


class Asking(Lines):
    """Asks every second what it has counted so far; the echo of a question is its own."""

    def __init__(self) -> None:
        super().__init__()
        self.own = 0
        self._due = 0.0

    @property
    def deadline(self) -> float | None:
        return self._due

    def ask(self, now: float) -> bytes:
        if now < self._due:
            return b""
        self._due = now + 1.0
        return f"{now:g}?".encode()

    def feed(self, data: bytes, now: float) -> list[AnyReading]:
        self.own += len(data) if b"?" in data else 0
        return [] if b"?" in data else super().feed(data, now)


class TestAsking:
    def watch(self) -> Watch:
        watch = Watch(Asking(), "wheel", STALE_AFTER)
        watch.opened(0.0)
        return watch

    def test_a_due_poll_is_sent_once(self) -> None:
        watch = self.watch()
        watch.tick(0.5)
        assert watch.take_request() == b"0.5?"
        assert watch.take_request() == b""
        watch.tick(1.4)
        assert watch.take_request() == b""
        watch.tick(1.5)
        assert watch.take_request() == b"1.5?"

    def test_a_missed_poll_is_not_made_up_for(self) -> None:
        watch = self.watch()
        readings = watch.tick(40.0)
        assert watch.take_request() == b"40?"
        assert readings == [LinkStale(at=STALE_AFTER, device="wheel", age=STALE_AFTER)]

    def test_a_recording_is_polled_as_if_in_time(self) -> None:
        watch = self.watch()
        watch.feed(b"ok\n", 0.2)
        watch.feed(b"ok\n", 3.5)
        assert watch.deadline == 4.0
        assert watch.take_request() == b"3?"

    def test_nothing_is_requested_while_the_link_is_closed(self) -> None:
        watch = self.watch()
        watch.lost(0.1, "unplugged")
        watch.take_request()
        watch.lost(9.0, "unplugged")
        assert watch.take_request() == b""

    def test_our_own_bytes_are_no_noise(self) -> None:
        watch = self.watch()
        for second in range(1, 5):
            watch.feed(b"?" * UNINTELLIGIBLE_BYTES, float(second))
        assert watch.state == "connecting"
        assert [type(reading) for reading in watch.tick(60.0)] == [LinkStale]
