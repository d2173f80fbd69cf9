"""How far the clock of a list is from this system's, through the day."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from math import inf
from typing import NamedTuple

import msgspec

from controller.shadow.results import DecidedRound, ListedResult

MAX_OFFSET_SECONDS = 3 * 3600
"""Largest difference of the clocks that is searched for: a wrong time zone is two hours."""
BLOCK_ROUNDS = 40
"""Rounds by which one offset is estimated."""
MIN_AGREEING = 8
"""Minimum pairs of a block that agree on its offset."""


class ClockOffset(msgspec.Struct, frozen=True):
    """Around the round at ``at`` and those after it the list's clock is ahead by ``seconds``."""

    at: float
    seconds: float


def estimate_offsets(
    played: Sequence[DecidedRound], listed: Sequence[ListedResult], tolerance: float
) -> tuple[ClockOffset, ...]:
    """Return the list's offset for each block of rounds, by the pairs of equal numbers: true pairs
    agree on one offset, chance pairs on none. A block in which no offset is clear is left out.
    """
    times = _by_number((row.number, row.at) for row in listed if row.at is not None)
    rounds = [each for each in played if each.number is not None]
    offsets: list[ClockOffset] = []
    for begin in range(0, len(rounds), BLOCK_ROUNDS):
        block = rounds[begin : begin + BLOCK_ROUNDS]
        seconds = _mode([*_differences(block, times)], tolerance, len(block))
        if seconds is None:
            continue
        offsets.append(ClockOffset(block[0].at, seconds))
    return tuple(offsets)


class OwnTimes(NamedTuple):
    """``times`` of the rows by this system's clock, None for rows without a time. ``steps``: before
    which row the list's clock was set, and by how many seconds.
    """

    times: tuple[float | None, ...]
    steps: tuple[tuple[int, float], ...]


def own_times(
    played: Sequence[DecidedRound],
    listed: Sequence[ListedResult],
    offsets: Sequence[ClockOffset],
    tolerance: float,
) -> OwnTimes:
    """Return the times of the rows by this system's clock."""
    numbers = _by_number((each.number, each.at) for each in played if each.number is not None)
    seconds = [offsets[0].seconds if offsets else 0.0] * len(listed)
    start, steps = 0, []
    for before, after in pairwise(each.seconds for each in offsets):
        rest = listed[start:]
        if abs(after - before) > tolerance:
            gains = [
                _is_near(numbers, row.number, _at(row) - after, tolerance)
                - _is_near(numbers, row.number, _at(row) - before, tolerance)
                for row in rest
            ]
            start += _split_of_rows(rest, gains, after - before)
            if start < len(listed):
                steps.append((start, after - before))
        seconds[start:] = [after] * (len(listed) - start)
    times = tuple(
        None if row.at is None else row.at - ahead
        for row, ahead in zip(listed, seconds, strict=True)
    )
    return OwnTimes(times, tuple(steps))


def _split_of_rows(rows: Sequence[ListedResult], gains: Sequence[int], step: float) -> int:
    """Return the first row after a step of the clock. Where a number fits on both sides by chance,
    the times decide: they go back nowhere, and leave the smallest gap.
    """

    def gap(index: int) -> tuple[bool, float]:
        """Return whether times go back at the split or beside it, and the seconds across it."""
        ahead = [0.0, 0.0, step, step]
        around = range(max(0, index - 2), min(len(rows), index + 2))
        moments = [_at(rows[each]) - ahead[each - index + 2] for each in around]
        across = _at(rows[index]) - step - _at(rows[index - 1]) if index < len(rows) else inf
        return any(later < earlier for earlier, later in pairwise(moments)), across

    sums = [*reversed([0, *accumulate(reversed(gains))])]
    best = max(sums)
    candidates = [index for index, total in enumerate(sums) if total == best and index > 0]
    return min(candidates, key=gap, default=0)


def _at(row: ListedResult) -> float:
    return inf if row.at is None else row.at


def _by_number(results: Iterable[tuple[str, float]]) -> Mapping[str, Sequence[float]]:
    """Return the times of each number, in order."""
    times: dict[str, list[float]] = {}
    for number, at in results:
        times.setdefault(number, []).append(at)
    return {number: sorted(moments) for number, moments in times.items()}


def _is_near(
    times: Mapping[str, Sequence[float]], number: str, at: float, tolerance: float
) -> bool:
    """Return whether the number came within the tolerance of this time."""
    moments = times.get(number, ())
    first = bisect_left(moments, at - tolerance)
    return first < len(moments) and moments[first] <= at + tolerance


def _differences(
    block: Sequence[DecidedRound], times: Mapping[str, Sequence[float]]
) -> list[float]:
    """Return how far each row with the number of a round is from it, in order."""
    found: list[float] = []
    for each in block:
        for number in {each.number, each.before} - {None}:
            moments = times.get(str(number), ())
            first = bisect_left(moments, each.at - MAX_OFFSET_SECONDS)
            last = bisect_right(moments, each.at + MAX_OFFSET_SECONDS)
            found += [other - each.at for other in moments[first:last]]
    return sorted(found)


def _mode(differences: Sequence[float], tolerance: float, rounds: int) -> float | None:
    """Return the centre of the window of twice the tolerance with most differences, if they are
    enough and twice those of any window that does not overlap it.
    """
    counts = [
        bisect_right(differences, low + 2 * tolerance) - first
        for first, low in enumerate(differences)
    ]
    count = max(counts, default=0)
    if count < min(MIN_AGREEING, max(1, rounds)):
        return None
    first = counts.index(count)
    low = differences[first]
    others = [
        other
        for at, other in zip(differences, counts, strict=True)
        if abs(at - low) > 2 * tolerance
    ]
    if others and max(others) * 2 > count:
        return None
    return differences[first + count // 2]
