"""Continuous garbage: reported at once, then less and less often; all bytes are counted, in order
with other readings.
"""

from __future__ import annotations

from itertools import groupby, pairwise

from hypothesis import given
from hypothesis import strategies as st

from common.readings import AnyReading, LinkGarbage, LinkUnintelligible
from devices.calls import AnyCall, BytesReceived, LinkClosed, LinkOpened, apply_call, changes_watch
from devices.garbage import MAX_IMMEDIATE_REPORTS, MAX_INTERVAL_SECONDS, GarbageSummary
from devices.watch import Watch
from devices.wheel.cammegh_ss2_driver import DRIVER

LINE = b"*X;6;001;  ;0;000;0\n"


def make() -> Watch:
    return Watch(DRIVER.make("wheel", DRIVER.options()), "wheel", 5.0)


def garbage(readings: list[AnyReading]) -> list[LinkGarbage]:
    return [reading for reading in readings if isinstance(reading, LinkGarbage)]


def tags(readings: list[AnyReading]) -> list[object]:
    return [reading.__struct_config__.tag for reading in readings]


def babble(watch: Watch, begin: float, seconds: float) -> list[LinkGarbage]:
    """Ten damaged lines of five bytes a second."""
    return garbage(
        [
            one
            for tenth in range(int(seconds * 10))
            for one in watch.feed(b"aaaaa\n", begin + tenth / 10)
        ]
    )


def test_the_first_are_reported_as_they_come_and_then_the_pauses_grow_to_a_minute() -> None:
    gathering = GarbageSummary()
    said = [
        LinkGarbage(at=tenth / 10, device="wheel", bytes=5, frame=f"line {tenth}")
        for tenth in range(6000)
    ]
    told = garbage([one for reading in said for one in gathering.pass_on([reading], reading.at)])
    assert told[:MAX_IMMEDIATE_REPORTS] == said[:MAX_IMMEDIATE_REPORTS]
    assert [
        round(later.at - sooner.at, 3)
        for sooner, later in pairwise(told[MAX_IMMEDIATE_REPORTS - 1 :])
    ][:8] == [
        1,
        2,
        4,
        8,
        16,
        32,
        MAX_INTERVAL_SECONDS,
        MAX_INTERVAL_SECONDS,
    ]
    assert told[MAX_IMMEDIATE_REPORTS] == LinkGarbage(
        at=1.9, device="wheel", bytes=50, frame="line 10"
    )
    assert sum(reading.bytes for reading in [*told, *garbage(gathering.release(600.0))]) == sum(
        reading.bytes for reading in said
    )


def test_an_hour_of_babble_is_about_one_reading_a_minute() -> None:
    watch = make()
    watch.opened(0.0)
    assert 60 <= len(babble(watch, 0.0, 3600.0)) <= 60 + MAX_IMMEDIATE_REPORTS + 8


def test_what_waits_is_reported_when_it_is_due_though_nothing_comes() -> None:
    watch = make()
    watch.opened(0.0)
    babble(watch, 0.0, 1.1)
    assert watch.deadline == 1.9
    assert garbage(watch.tick(1.8)) == []
    assert [(reading.at, reading.bytes) for reading in garbage(watch.tick(300.0))] == [(1.9, 5)]


def test_after_a_calm_minute_it_is_reported_at_once_again() -> None:
    watch = make()
    watch.opened(0.0)
    babble(watch, 0.0, 12.0)
    last = garbage(watch.tick(40.0))[-1].at
    assert (
        len(garbage(watch.feed(b"b\n", last + MAX_INTERVAL_SECONDS - 0.1))) == 1
    )  # the pause was over, and it grows on
    assert garbage(watch.feed(b"b\n", last + MAX_INTERVAL_SECONDS)) == []
    later = garbage(watch.tick(1000.0))[-1].at + MAX_INTERVAL_SECONDS
    assert [len(garbage(watch.feed(b"b\n", later + tenth / 10))) for tenth in range(12)] == [
        1
    ] * MAX_IMMEDIATE_REPORTS + [0, 0]


def test_what_waits_is_reported_before_any_other_reading() -> None:
    watch = make()
    watch.opened(0.0)
    babble(watch, 0.0, 1.5)
    said = tags(watch.feed(b"b\n" + LINE, 1.6))
    assert said[:2] == ["link.garbage", "link.up"]
    babble(watch, 1.7, 0.5)
    assert tags(watch.lost(2.2, "unplugged")) == ["link.garbage", "link.lost"]


streams = st.lists(
    st.tuples(
        st.sampled_from([0.0, 0.0, 0.02, 0.4, 3.0, 70.0]),
        st.sampled_from([b"bad\n", b"b", b"\n", LINE, b"~" * 99]),
    ),
    max_size=60,
)


def calls(stream: list[tuple[float, bytes]], *, single: bool) -> list[AnyCall]:
    """The stream as the calls to a watch; ``single``: byte by byte."""
    made: list[AnyCall] = [LinkOpened(0.0)]
    now = 0.0
    for pause, data in stream:
        now += pause
        parts = [data[index : index + 1] for index in range(len(data))] if single else [data]
        made += [BytesReceived(now, part) for part in parts]
    return [*made, LinkClosed(now + 200.0, "end")]


def outline(readings: list[AnyReading]) -> list[AnyReading | int]:
    """The readings, with each run of garbage as its bytes; the verdict on noise is left out,
    because it counts the bytes before it.
    """
    plain = [reading for reading in readings if not isinstance(reading, LinkUnintelligible)]
    return [
        part
        for is_garbage, run in groupby(plain, lambda reading: isinstance(reading, LinkGarbage))
        for part in ([sum(reading.bytes for reading in garbage(list(run)))] if is_garbage else run)
    ]


@given(streams)
def test_any_split_gives_the_same_readings_of_the_same_bytes_in_the_same_order(
    stream: list[tuple[float, bytes]],
) -> None:
    whole, single = make(), make()
    said = [one for call in calls(stream, single=False) for one in apply_call(whole, call)]
    assert outline(
        [one for call in calls(stream, single=True) for one in apply_call(single, call)]
    ) == outline(said)


@given(streams, st.lists(st.floats(0.0, 500.0), max_size=20))
def test_live_and_from_what_was_kept_the_readings_are_the_same(
    stream: list[tuple[float, bytes]], silences: list[float]
) -> None:
    """Live the watch gets every silence; only those that matter are stored."""
    live, again = make(), make()
    given_calls = calls(stream, single=False)
    end = given_calls[-1].at
    live_calls: list[AnyCall] = [
        *given_calls[:-1],
        *(BytesReceived(at, b"") for at in silences if at < end),
    ]
    readings: list[AnyReading] = []
    kept: list[AnyCall] = []
    for call in [*sorted(live_calls, key=lambda call: call.at), given_calls[-1]]:
        if changes_watch(live, call):
            kept.append(call)
            readings += apply_call(live, call)
    assert [one for call in kept for one in apply_call(again, call)] == readings


@given(streams)
def test_garbage_is_reported_as_often_as_the_time_and_other_readings_allow(
    stream: list[tuple[float, bytes]],
) -> None:
    watch = make()
    said = [one for call in calls(stream, single=True) for one in apply_call(watch, call)]
    count, rest = len(garbage(said)), len(said) - len(garbage(said))
    calm = sum(pause >= MAX_INTERVAL_SECONDS for pause, _ in stream)
    seconds = sum(min(pause, MAX_INTERVAL_SECONDS) for pause, _ in stream) + MAX_INTERVAL_SECONDS
    assert count <= rest + MAX_IMMEDIATE_REPORTS * (calm + 1) + seconds
