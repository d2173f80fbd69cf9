"""Names the differences between the rounds of this system and a list of results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Literal

import msgspec

from controller.shadow.alignment import AlignmentStep, align
from controller.shadow.clocks import ClockOffset, estimate_offsets, own_times
from controller.shadow.results import DecidedRound, ListedResult

DOUBLE_SECONDS = 15.0
"""Two results of one table are never this near: an equal one is the same, listed twice."""
SEARCH_MARGIN_SECONDS = 900.0
"""Rounds and rows this far outside the day are looked at, since clocks differ at its ends."""
MIN_SAME = 0.5
"""Part of the shorter side that must agree; with less, it is not the list of this table and day."""

DifferenceKind = Literal[
    "missing_there",
    "missing_here",
    "different",
    "swapped",
    "doubled_there",
    "unresolved_here",
    "void_here",
    "corrected_here",
    "clock_step",
    "ambiguous",
]


class ResultDifference(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A difference. ``rounds`` and ``rows``: where it is; of *missing*, one of them if there are
    several; of a clock that was set, the first row after it. ``seconds``: by how much it was set.
    """

    kind: DifferenceKind
    rounds: tuple[DecidedRound, ...] = ()
    rows: tuple[ListedResult, ...] = ()
    seconds: float | None = None


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome. ``same``: pairs with the same number; ``fits``: whether this can be the list of
    the table and the day at all, without which there are no differences; ``offsets``: of the list's
    clock; empty without times.
    """

    same: int
    fits: bool
    offsets: tuple[ClockOffset, ...]
    differences: tuple[ResultDifference, ...]


def compare(
    played: Sequence[DecidedRound],
    listed: Sequence[ListedResult],
    begin: float,
    end: float,
    tolerance: float,
) -> Comparison:
    """Compare the rounds with the list. The day is from ``begin`` until before ``end``; both sides
    may reach beyond it. ``tolerance``: seconds by which the time of a row may differ from that of
    its round, beside the difference of the clocks.
    """
    offsets = estimate_offsets(played, listed, tolerance)
    first, last = begin - SEARCH_MARGIN_SECONDS, end + SEARCH_MARGIN_SECONDS
    own = own_times(played, listed, offsets, tolerance)
    timed = [
        (row, at)
        for row, at in zip(listed, own.times, strict=True)
        if at is None or first <= at < last
    ]
    rows, times = [row for row, _ in timed], [at for _, at in timed]
    if None in times:
        first, last = begin, end
    rounds = [each for each in played if first <= each.at < last]
    inside_rows = {row.line for row, at in timed if at is None or begin <= at < end}
    aligned = align(rounds, rows, times, tolerance)
    same = sum(
        1
        for step in aligned.steps
        if len(step.rounds) == len(step.rows) == 1
        and rounds[step.rounds[0]].number == rows[step.rows[0]].number
    )
    inside_rounds = sum(1 for each in rounds if begin <= each.at < end and each.number is not None)
    fits = same >= MIN_SAME * min(inside_rounds, len(inside_rows))
    differences = [
        ResultDifference(kind="clock_step", rows=(listed[index],), seconds=round(seconds, 3))
        for index, seconds in own.steps
    ]
    for group in _groups(aligned.steps, aligned.certain):
        found = _name(group, rounds, rows)
        if found is not None and (
            any(begin <= each.at < end for each in found.rounds)
            or any(row.line in inside_rows for row in found.rows)
        ):
            differences.append(found)
    return Comparison(
        same=same, fits=fits, offsets=offsets, differences=tuple(differences) if fits else ()
    )


def _groups(
    steps: Sequence[AlignmentStep], certain: Sequence[bool]
) -> Iterator[list[AlignmentStep]]:
    """Yield each certain step alone, and uncertain ones that follow each other together."""
    for is_certain, group in groupby(zip(steps, certain, strict=True), key=lambda each: each[1]):
        if is_certain:
            yield from ([step] for step, _ in group)
        else:
            yield [step for step, _ in group]


def _name(
    group: Sequence[AlignmentStep], played: Sequence[DecidedRound], listed: Sequence[ListedResult]
) -> ResultDifference | None:
    """Name the difference of a group; None if both sides are the same there."""
    rounds = tuple(played[index] for step in group for index in step.rounds)
    rows = tuple(listed[index] for step in group for index in step.rows)
    kind = _kind(rounds, rows, listed)
    return None if kind is None else ResultDifference(kind=kind, rounds=rounds, rows=rows)


def _kind(
    rounds: Sequence[DecidedRound], rows: Sequence[ListedResult], listed: Sequence[ListedResult]
) -> DifferenceKind | None:
    numbers = {each.number for each in rounds}
    listed_numbers = {row.number for row in rows}
    match len(rounds), len(rows):
        case 1, 0:
            return None if rounds[0].number is None else "missing_there"
        case 0, 1:
            return "doubled_there" if _is_doubled(rows[0], listed) else "missing_here"
        case 1, 1:
            return _kind_of_pair(rounds[0], rows[0])
        case 2, 2 if len(numbers) == 2 and numbers == listed_numbers and None not in numbers:
            return "swapped"
    if len(numbers | listed_numbers) > 1:
        return "ambiguous"
    if len(rounds) == len(rows):
        return None
    if len(rounds) > len(rows):
        return "missing_there"
    return "doubled_there" if any(_is_doubled(row, listed) for row in rows) else "missing_here"


def _kind_of_pair(played: DecidedRound, row: ListedResult) -> DifferenceKind | None:
    if played.number == row.number:
        return None
    if played.number is None:
        return "void_here" if played.kind == "void" else "unresolved_here"
    return "corrected_here" if played.before == row.number else "different"


def _is_doubled(row: ListedResult, listed: Sequence[ListedResult]) -> bool:
    """Whether the list has an equal row so near that it is the same result."""
    return any(
        other is not row
        and other.number == row.number
        and other.at is not None
        and row.at is not None
        and abs(other.at - row.at) < DOUBLE_SECONDS
        for other in listed
    )
