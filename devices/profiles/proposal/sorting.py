"""Sorts frames into the messages of a proposed profile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from devices.profiles.proposal.cells import Column, Condition, Grid, type_columns
from devices.profiles.proposal.numbers import NumberProposal

MAX_MESSAGES = 12
MIN_MESSAGE_FRAMES = 2


class MessagePart(msgspec.Struct, frozen=True):
    """Frames of one proposed message. ``number``: where the winning number is, in one of them."""

    condition: Condition
    frames: tuple[int, ...]
    number: NumberProposal | None = None


def sort_frames(grid: Grid, number: NumberProposal | None) -> list[MessagePart]:
    """Return the messages, that with the number first, the others by how often they come. Frames of
    a kind that came once are left out: damage, or too little to describe.
    """
    parts: list[MessagePart] = []
    rest = list(range(len(grid.bodies)))
    if number is not None:
        own = number.frames if number.occasion == "entry" else number.valid
        parts.append(MessagePart(number.condition, own, number))
        taken = set(own)
        rest = [frame for frame in rest if frame not in taken]
    others = sorted(_groups(grid, rest), key=lambda part: -len(part.frames))
    return [*parts, *others[:MAX_MESSAGES]]


def _letter_column(grid: Grid, frames: Sequence[int]) -> Column | None:
    """The cell whose letters say what kind of message a frame is; digits and codes may be states of
    one kind.
    """
    for column in type_columns(grid, frames):
        if all(value.isalpha() for value in grid.words(frames, column)):
            return column
    return None


def _groups(grid: Grid, frames: Sequence[int]) -> Iterator[MessagePart]:
    sizes = Counter(grid.size(frame) for frame in frames)
    for size, count in sizes.items():
        if count < MIN_MESSAGE_FRAMES or not size:
            continue
        alike = [frame for frame in frames if grid.size(frame) == size]
        column = _letter_column(grid, alike)
        if column is None:
            yield MessagePart(Condition(size), tuple(alike))
            continue
        for value, times in grid.words(alike, column).items():
            if times >= MIN_MESSAGE_FRAMES:
                chosen = tuple(frame for frame in alike if grid.cell(frame, column) == value)
                yield MessagePart(Condition(size, column, value), chosen)
