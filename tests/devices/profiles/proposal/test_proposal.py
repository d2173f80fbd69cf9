"""A proposed profile decodes what the wheel sends later, or its author is told what is missing."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from common.readings import WheelNumber
from devices.drivers import driver
from devices.profiles.codec import ProfileCodec
from devices.profiles.profile import doubts, parse_profile
from devices.profiles.proposal.numbers import MIN_SHOWN
from devices.profiles.proposal.proposal import Proposal, propose
from devices.profiles.proposal.text import Head
from devices.recording import Recording, read_recording
from tests.conftest import cases
from tests.support.devices.described import FOLDER
from tests.support.devices.unknown_wheels import (
    BINARY_CHECKS,
    BINARY_CODINGS,
    BINARY_FRAMINGS,
    STYLES,
    TEXT_CHECKS,
    TEXT_CODINGS,
    TEXT_FRAMINGS,
    Shown,
    UnknownWheel,
)
from tests.support.for_each import for_each

HEAD = Head("unknown", "a test")
RECORDINGS = FOLDER.parent / "recordings"
FIRST: tuple[Shown, ...] = (17, 4, 0, 36, 22, 9, 22, 31, 14, 5)
"""Numbers of the recording: one comes again, but not at once."""
LATER: tuple[Shown, ...] = (3, 3, 36, 1, 10, 10, 0, 0, 28, 19, 35)
"""Numbers that the wheel shows later: most were not in the recording, some come twice running."""


@st.composite
def wheels(draw: st.DrawFn) -> UnknownWheel:
    text = draw(st.booleans())
    framing = draw(st.sampled_from(TEXT_FRAMINGS if text else BINARY_FRAMINGS))
    check = draw(st.sampled_from(("", *(TEXT_CHECKS if text else BINARY_CHECKS))))
    coding = draw(st.sampled_from(TEXT_CODINGS if text else BINARY_CODINGS))
    style = draw(st.sampled_from(STYLES))
    return UnknownWheel(framing, check, coding, style, draw(st.booleans()))


def decoded(text: str, chunks: Iterable[tuple[float, bytes]]) -> list[Shown]:
    codec = ProfileCodec("wheel", parse_profile(text))
    readings = [
        reading
        for at, data in chunks
        for reading in codec.feed(data, at)
        if isinstance(reading, WheelNumber)
    ]
    assert [reading for reading in readings if reading.late] == []
    return [reading.number for reading in readings]


def proposed(wheel: UnknownWheel, numbers: Sequence[Shown], seed: int = 1) -> Proposal:
    return propose(list(wheel.play(numbers, seed)), numbers, HEAD)


@settings(max_examples=cases(8, 300), deadline=None)
@given(wheels(), st.integers(0, 1000))
def test_a_proposed_profile_decodes_what_comes_later(wheel: UnknownWheel, seed: int) -> None:
    zeros: tuple[Shown, ...] = ("00",) if wheel.double_zero else ()
    proposal = proposed(wheel, (*FIRST, *zeros), seed)
    assert proposal.problem == ""
    assert proposal.numbers == (*FIRST, *zeros)
    assert doubts(proposal.text) == ()
    later = (*LATER, *zeros)
    assert decoded(proposal.text, wheel.play(later, seed + 1)) == list(later)


@settings(max_examples=cases(8, 300), deadline=None)
@given(wheels(), st.data())
def test_noise_never_makes_it_wrong(wheel: UnknownWheel, data: st.DataObject) -> None:
    draws = random.Random(data.draw(st.integers(0, 1 << 20)))
    noisy = [
        (at, damaged(frame, draws) if draws.random() < 0.03 else frame)
        for at, frame in wheel.play(FIRST, 1)
    ]
    proposal = propose(noisy, FIRST, HEAD)
    if not proposal.problem:
        assert proposal.numbers == FIRST
        assert decoded(proposal.text, wheel.play(LATER, 2)) == list(LATER)
    elif proposal.text:
        assert proposal.numbers == ()


def damaged(frame: bytes, draws: random.Random) -> bytes:
    """A frame cut short, with a lost byte, or with a changed one."""
    at = draws.randrange(len(frame))
    return draws.choice(
        (frame[:at], frame[:at] + frame[at + 1 :], frame[:at] + b"\x7e" + frame[at + 1 :])
    )


@settings(max_examples=cases(8, 300), deadline=None)
@given(wheels(), st.permutations(FIRST))
def test_numbers_that_were_not_shown_prove_nothing(wheel: UnknownWheel, said: list[Shown]) -> None:
    chunks = list(wheel.play(FIRST, 1))
    proposal = propose(chunks, said, HEAD)
    if tuple(said) != FIRST:
        assert "no field agrees with the 10 numbers shown" in proposal.problem
        assert proposal.numbers == ()


@given(wheels(), st.integers(0, MIN_SHOWN - 1))
@settings(max_examples=cases(6, 150), deadline=None)
def test_too_few_spins_say_how_many_more(wheel: UnknownWheel, spins: int) -> None:
    proposal = proposed(wheel, FIRST[:spins])
    if proposal.text:
        assert proposal.missing >= MIN_SHOWN - spins
        assert proposal.problem
        assert "[[message.say]] with" in proposal.text
    more = proposed(wheel, FIRST[: spins + max(proposal.missing, MIN_SHOWN)])
    assert more.problem == "" or more.missing


def test_small_numbers_do_not_tell_codings_apart() -> None:
    wheel = UnknownWheel("fixed", "crc16-modbus", "bcd", "steady")
    small = (1, 5, 2, 9, 3, 7, 4, 8)
    proposal = proposed(wheel, small)
    assert "may be" in proposal.problem
    assert "BCD" in proposal.problem
    assert proposal.missing == 1
    assert proposed(wheel, (*small, 17)).problem == ""


def test_noise_alone_is_no_frame() -> None:
    draws = random.Random(1)
    chunks = [(n / 10, draws.randbytes(7)) for n in range(200)]
    assert propose(chunks, FIRST, HEAD).text == ""


@for_each("path", sorted(RECORDINGS.glob("*.txt")))
def test_recorded_devices_give_their_numbers_or_none(path: Path) -> None:
    recording = read_recording(path)
    chunks = received(recording)
    golden = path.with_suffix(".readings.jsonl").read_text().splitlines()
    shown = tuple(
        reading["number"]
        for reading in map(json.loads, golden)
        if reading["type"] == "wheel.number"
    )
    proposal = propose(chunks, shown, HEAD)
    assert proposal.numbers in ((), shown)
    assert (proposal.numbers == shown) == (not proposal.problem or not shown)
    if proposal.text:
        assert doubts(proposal.text) == ()
    if path.stem == "cammegh-ss2-faults":
        assert proposal.numbers == shown


def received(recording: Recording) -> list[tuple[float, bytes]]:
    return [(chunk.at, chunk.data) for chunk in recording if not chunk.sent]


def test_a_real_wheel_is_found_by_twelve_spins(shared: Path) -> None:
    chunks = received(read_recording(shared / "captures" / "cammegh-ss2-2025-09-23.txt"))
    known = driver("cammegh-ss2")
    codec = known.make("wheel", known.options())
    results = [
        (place, reading.number)
        for place, (at, data) in enumerate(chunks)
        for reading in codec.feed(data, at)
        if isinstance(reading, WheelNumber)
    ]
    outcomes = []
    for first in range(0, 132, 12):
        begin = results[first - 1][0] + 30 if first else 0
        end = results[first + 12][0] - 30
        shown = tuple(number for place, number in results if begin <= place < end)
        proposal = propose(chunks[begin:end], shown, HEAD)
        assert proposal.numbers in ((), shown)
        outcomes.append(not proposal.problem)
    assert all(outcomes)


def test_a_recording_that_begins_with_the_number_of_the_spin_before() -> None:
    wheel = UnknownWheel("stx", "xor", "decimal", "steady")
    chunks = list(wheel.play((7, *FIRST), 1))
    settled = next(place for place, (_, frame) in enumerate(chunks) if b"S4" in frame)
    proposal = propose(chunks[settled:], FIRST, HEAD)
    assert (proposal.problem, proposal.numbers) == ("", FIRST)
    assert decoded(proposal.text, chunks[settled:]) == [7, *FIRST]
    assert decoded(proposal.text, wheel.play(LATER, 2)) == list(LATER)
