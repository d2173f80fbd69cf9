"""Describes what the cells of frames do: constants, counters, words of a list, numbers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import msgspec

from common.readings import escape
from devices.profiles.proposal.cells import Column, Grid

COUNTER_SHARE = 0.8
"""Minimum share of the changes of a counter that are by one."""
MAX_LISTED = 8


class ColumnUse(msgspec.Struct, frozen=True):
    """What a cell, or cells beside each other, contain. ``is_open``: a person must say what it
    means.
    """

    first: Column
    last: Column
    text: str
    is_open: bool


def describe_columns(grid: Grid, frames: Sequence[int]) -> list[ColumnUse]:
    """Describe the cells of frames of one kind. Constants beside each other are described
    together.
    """
    uses: list[ColumnUse] = []
    constant: tuple[Column, Column, bytes] | None = None
    for column in grid.columns(frames):
        cells = [cell for frame in frames if (cell := grid.cell(frame, column)) is not None]
        if len(set(cells)) == 1:
            if constant is None or grid.separator:
                if constant is not None:
                    uses.append(_constant(constant))
                constant = (column, column, cells[0])
            else:
                constant = (constant[0], column, constant[2] + cells[0])
            continue
        if constant is not None:
            uses.append(_constant(constant))
            constant = None
        uses.append(_varying(grid, frames, column, cells))
    if constant is not None:
        uses.append(_constant(constant))
    return uses


def _constant(constant: tuple[Column, Column, bytes]) -> ColumnUse:
    first, last, value = constant
    return ColumnUse(first, last, f'always "{escape(value)}"', is_open=False)


def _varying(
    grid: Grid, frames: Sequence[int], column: Column, cells: Sequence[bytes]
) -> ColumnUse:
    if counts(cells):
        return ColumnUse(column, column, "a counter: each change is by one", is_open=False)
    words = grid.words(frames, column)
    if words and len(words) <= MAX_LISTED:
        listed = ", ".join(f'"{escape(word)}" {times}x' for word, times in words.most_common())
        return ColumnUse(column, column, f"one of {listed}", is_open=True)
    numeric = all(cell.strip().isdigit() for cell in cells)
    different = sorted(set(cells))
    form = "digits" if numeric else "values"
    return ColumnUse(
        column,
        column,
        f'{len(different)} different {form}, "{escape(different[0])}" to "{escape(different[-1])}"',
        is_open=True,
    )


def counts(cells: Sequence[bytes]) -> bool:
    """Whether a cell counts: nearly all of its changes are by one, and it has several values."""
    numbers = [_number(cell) for cell in cells]
    changes = [(a, b) for a, b in pairwise(numbers) if a != b and a is not None and b is not None]
    if len(set(numbers)) < 4 or len(changes) < 4:
        return False
    up = sum(b - a == 1 for a, b in changes)
    return up >= COUNTER_SHARE * len(changes)


def _number(cell: bytes) -> int | None:
    if cell.strip().isdigit():
        return int(cell)
    return cell[0] if len(cell) == 1 else None
