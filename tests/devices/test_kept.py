"""What may have been kept before it was delivered is true, but not live: for every driver in the
registry, on every kind of link.

A device server delivers at connecting what it had stored, and the kernel what arrived while the
machine was suspended. Neither says how old it is.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from common.readings import (
    AnyReading,
    CardDrawn,
    DiceRead,
    MaybeLate,
    SlotCoin,
    WheelCell,
    WheelNumber,
)
from devices.calls import (
    AnyCall,
    BytesReceived,
    LinkClosed,
    LinkOpened,
    apply_call,
    read_calls,
    write_calls,
)
from devices.codec import OPENING_SECONDS, Codec, KeptBytesAware
from devices.drivers import DRIVERS
from devices.recording import Chunk, Recording
from devices.watch import Watch
from tests.conftest import cases
from tests.devices.test_splits import make, recordings

OPENED = 1000.0
ROUND_TRIP = 0.19
"""Seconds in which a device server delivers to a device that a hand paces."""
DELIVERY = 0.75
"""Seconds in which it delivers a backlog whose end the codec recognises by the pace."""
SETTLED = 6.0
"""Seconds after opening by which every driver is live again."""

Outcome = WheelNumber | WheelCell | CardDrawn | DiceRead | SlotCoin


def watch_of(recording: Recording) -> tuple[Codec, Watch]:
    codec = make(recording)
    return codec, Watch(codec, "device", stale_after=5.0)


def said(watch: Watch, calls: Iterable[AnyCall]) -> list[AnyReading]:
    return [each for call in calls for each in apply_call(watch, call)]


def live(told: Iterable[AnyReading]) -> list[AnyReading]:
    """What acts on a table: results, phases, cards, dice, coins and states that are not late."""
    return [reading for reading in told if isinstance(reading, MaybeLate) and not reading.late]


def chunks(recording: Recording) -> list[Chunk]:
    return [chunk for chunk in recording if not chunk.sent]


class Burst(NamedTuple):
    """A recording, and what is delivered of it in one go: pieces, and when, from 0 to 1."""

    recording: Recording
    pieces: list[tuple[float, bytes]]
    before: int
    """How many of its chunks came before."""


@st.composite
def bursts(draw: st.DrawFn, name: str) -> Burst:
    """A piece of what such a device sent, split anyhow."""
    recording = draw(st.sampled_from(recordings(name)))
    live = chunks(recording)
    begin = draw(st.integers(0, len(live) - 1))
    end = draw(st.integers(begin + 1, len(live)))
    data = b"".join(chunk.data for chunk in live[begin:end])[:8000]
    cuts = sorted(draw(st.lists(st.integers(0, len(data)), max_size=8)))
    delays = sorted(draw(st.lists(st.floats(0, 1), min_size=9, max_size=9)))
    edges = itertools.pairwise([0, *cuts, len(data)])
    pieces = [(after, data[a:b]) for after, (a, b) in zip(delays, edges, strict=False) if a < b]
    return Burst(recording, pieces, begin)


def delivered(codec: Codec, burst: Burst, connected: float, wait: float) -> list[AnyCall]:
    """The calls of a supervisor whose link is opened at ``connected``. A device whose pace shows
    when the backlog is over may be silent for ``wait`` before.
    """
    paced = isinstance(codec, KeptBytesAware) and codec.opening is None
    begin = connected + (wait if paced else 0.0)
    calls: list[AnyCall] = [LinkOpened(connected, kept=True)]
    lasts = DELIVERY if paced else ROUND_TRIP
    calls += [BytesReceived(begin + after * lasts, piece) for after, piece in burst.pieces]
    return calls


@pytest.mark.parametrize("name", DRIVERS)
@settings(max_examples=cases(30, 300), deadline=None)
@given(data=st.data())
def test_nothing_that_is_delivered_as_a_link_is_opened_is_live(
    name: str, data: st.DataObject
) -> None:
    """Neither at the first opening, nor after the link was lost in the middle of a game."""
    burst = data.draw(bursts(name))
    codec, watch = watch_of(burst.recording)
    now = OPENED
    if data.draw(st.booleans(), label="before"):
        past = chunks(burst.recording)[: burst.before]
        at_pace = [BytesReceived(now + each.at - past[0].at, each.data) for each in past]
        said(watch, [LinkOpened(now, kept=True), *at_pace])
        now = at_pace[-1].at if at_pace else now
        said(watch, [LinkClosed(now, "unplugged")])
        now += data.draw(st.sampled_from([0.25, 3.0, 600.0]))
    wait = data.draw(st.sampled_from([0.0, 0.5, 4.0]))
    calls = delivered(codec, burst, now, wait)
    assert live(said(watch, calls)) == []


@pytest.mark.parametrize("name", DRIVERS)
@settings(max_examples=cases(30, 300), deadline=None)
@given(data=st.data())
def test_nothing_that_lay_unread_for_too_long_is_live(name: str, data: st.DataObject) -> None:
    """A machine that was suspended: for our clock no time has passed."""
    burst = data.draw(bursts(name))
    _, watch = watch_of(burst.recording)
    past = chunks(burst.recording)[: burst.before]
    at_pace = [BytesReceived(OPENED + each.at - past[0].at, each.data) for each in past]
    said(watch, [LinkOpened(OPENED, kept=True), *at_pace])
    now = (at_pace[-1].at if at_pace else OPENED) + data.draw(st.sampled_from([0.0, 0.02, 6.0]))
    kept: list[AnyCall] = [
        BytesReceived(now + after, piece, kept=True) for after, piece in burst.pieces if piece
    ]
    assert live(said(watch, kept)) == []


@pytest.mark.parametrize("name", DRIVERS)
@settings(max_examples=cases(10, 100), deadline=None)
@given(data=st.data())
def test_a_journal_gives_the_same_readings(name: str, data: st.DataObject) -> None:
    burst = data.draw(bursts(name))
    codec, watch = watch_of(burst.recording)
    calls = delivered(codec, burst, OPENED, 0.5)
    calls.append(BytesReceived(OPENED + 9.0, burst.pieces[0][1], kept=True))
    device, stored = read_calls(write_calls("device", calls))
    assert (device, stored) == ("device", calls)
    _, again = watch_of(burst.recording)
    assert said(again, stored) == said(watch, calls)


def test_a_journal_of_an_older_release_is_judged_as_it_was() -> None:
    """It does not say that what came first may have been kept."""
    _, stored = read_calls(b'{"device":"shoe","calls":[["opened",1.0],["heard",1.0,"HT\\r\\n"]]}')
    _, watch = watch_of(recordings("barcode-serial")[0])
    (card,) = (each for each in said(watch, stored) if isinstance(each, CardDrawn))
    assert (card.card, card.late) == ("Th", False)


def outcomes(told: Iterable[AnyReading]) -> list[Outcome]:
    return [reading for reading in told if isinstance(reading, Outcome) and not reading.late]


def played(recording: Recording, begin: int, *, kept: bool) -> list[AnyReading]:
    """The readings of a device from that chunk, a second after opening if it has no fixed pace."""
    codec, watch = watch_of(recording)
    live = chunks(recording)[begin:]
    paced = isinstance(codec, KeptBytesAware) and codec.opening is None
    opened = live[0].at - (0.0 if paced else OPENING_SECONDS)
    told = [*watch.opened(opened, kept=kept)]
    for chunk in live:
        told += watch.feed(chunk.data, chunk.at)
    return told


@pytest.mark.parametrize("name", DRIVERS)
def test_what_comes_at_the_pace_of_the_device_is_as_live_as_ever(name: str) -> None:
    """Once the first moments are over, however late in a game the link was opened."""
    for recording in recordings(name):
        count = len(chunks(recording))
        for begin in range(0, count, max(1, count // 12)):
            first = chunks(recording)[begin].at
            without = outcomes(played(recording, begin, kept=False))
            later = [each for each in without if each.at > first + SETTLED]
            found = outcomes(played(recording, begin, kept=True))
            assert [each for each in found if each.at > first + SETTLED] == later
