"""Proposes a profile: what the recording proves as TOML, what it does not as questions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from common.readings import WheelNumber
from devices.profiles.codec import ProfileCodec
from devices.profiles.profile import parse_profile
from devices.profiles.proposal.cells import Grid, find_separator
from devices.profiles.proposal.framings import (
    FramingProposal,
    TimedBytes,
    propose_framing,
)
from devices.profiles.proposal.numbers import NumberProposal, Shown, find_number
from devices.profiles.proposal.pace import find_pace
from devices.profiles.proposal.sorting import sort_frames
from devices.profiles.proposal.text import Draft, Head, write_profile

MAX_TRIALS = 8
"""Number of ways to report the number that are tried on the recording."""


class ProfileFinding(msgspec.Struct, frozen=True):
    """What was concluded, and how far it is proved: by ``count`` of ``of`` frames or spins."""

    text: str
    count: int
    of: int
    unit: str = "frames"


class Proposal(msgspec.Struct, frozen=True):
    """A proposed profile. ``text``: the TOML, empty if nothing divides the bytes into frames.
    ``numbers``: what it decodes from the recording, without the spin before it. ``problem``: why
    the number is not known; ``missing``: how many more spins are needed, at least.
    """

    text: str
    findings: tuple[ProfileFinding, ...] = ()
    numbers: tuple[Shown, ...] = ()
    problem: str = ""
    missing: int = 0


def propose(chunks: Sequence[TimedBytes], shown: Sequence[Shown], head: Head) -> Proposal:
    """Propose a profile from what was received and the numbers that the wheel showed meanwhile, in
    their order.
    """
    framing = propose_framing(chunks)
    if framing is None:
        return Proposal("", problem="nothing divides the bytes into frames that are alike")
    body = _body(framing)
    bodies = [frame[body[0] : len(frame) + body[1]] for _, frame in framing.frames]
    grid = Grid(bodies, find_separator(bodies))
    search = find_number(grid, shown)
    problem = search.problem
    for number in (*search.found[:MAX_TRIALS], None):
        if number is None and search.found:
            problem = "a field agrees with the numbers shown, but no profile reports it surely"
        draft = _draft(framing, body, grid, number, "" if number else problem, head)
        text = write_profile(draft)
        numbers = _numbers(text, chunks)
        if number is not None and number.begun:
            numbers = numbers[1:]
        if number is None or numbers == tuple(shown):
            break
    return Proposal(
        text,
        tuple(_findings(draft, number)),
        numbers,
        draft.problem,
        search.missing,
    )


def _draft(
    framing: FramingProposal,
    body: tuple[int, int],
    grid: Grid,
    number: NumberProposal | None,
    problem: str,
    head: Head,
) -> Draft:
    parts = sort_frames(grid, number)
    times = [at for at, _ in framing.frames]
    return Draft(
        head=head,
        framing=framing,
        body=body,
        grid=grid,
        parts=parts,
        pace=find_pace(grid, parts, times),
        problem=problem,
    )


def _body(framing: FramingProposal) -> tuple[int, int]:
    """The part of each frame between marks and checksum."""
    spec, check = framing.framing, framing.checksum
    marks = spec.form == "marks"
    begin = len(spec.start) if marks else 0
    end = -(len(spec.end) + spec.tail) if marks else 0
    if check is not None and check.at is not None:
        end = min(end, check.at - check.short)
    return begin, end


def _numbers(text: str, chunks: Sequence[TimedBytes]) -> tuple[Shown, ...]:
    """The numbers that a profile decodes."""
    codec = ProfileCodec("wheel", parse_profile(text))
    return tuple(
        reading.number
        for at, data in chunks
        for reading in codec.feed(data, at)
        if isinstance(reading, WheelNumber)
    )


def _findings(draft: Draft, number: NumberProposal | None) -> Iterator[ProfileFinding]:
    framing = draft.framing
    valid = len(framing.frames)
    yield ProfileFinding(describe_framing(framing), valid, framing.of)
    if framing.checksum is not None:
        yield ProfileFinding(f"checksum {framing.checksum.kind}", valid, framing.of)
    if draft.pace is not None:
        beats = sum(len(part.frames) for part in draft.pace.parts)
        yield ProfileFinding(f"a frame every {draft.pace.period:g} s", beats, valid)
    if number is not None:
        spins = len(number.reported)
        yield ProfileFinding(f"the number in {number.field.name}", spins, spins, "spins")


def describe_framing(framing: FramingProposal) -> str:
    """Describe a framing in a few words."""
    spec: Any = framing.framing
    return {
        "line": f"lines ended by {spec.ends!r}",
        "marks": f"frames from {spec.start!r} to {spec.end!r}"
        + (f" and {spec.tail} bytes" if spec.tail else ""),
        "length": f"frames that state their length in byte {spec.at}",
        "fixed": f"frames of {spec.length} bytes"
        + (f" beginning with {spec.start!r}" if spec.start else ""),
    }[spec.form]
