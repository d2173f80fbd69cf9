"""Pairs the rounds of this system with the rows of a list: the alignment of least cost, and which
of its pairs every alignment of the same cost has.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from controller.shadow.results import DecidedRound, ListedResult

SAME, CORRECTED, UNRESOLVED, OTHER_NUMBER, ALONE, SWAPPED = 0, 1, 1, 3, 2, 3
"""Costs: of a pair with the same number, with the number before a correction, of a round without a
number, with another number; of a round or row without a partner; of two pairs in the other order.
"""
IMPOSSIBLE = 1 << 30
BAND_SECONDS = 900.0
"""Rounds and rows that are further apart in time are not compared at all."""
BAND_ROWS = 150
"""Maximum results that one side may lack up to any place, in a list without times."""


class AlignmentStep(NamedTuple):
    """A part of the alignment: indexes of rounds and rows. Two of each are swapped; one of each is
    a pair; otherwise it is alone.
    """

    rounds: tuple[int, ...]
    rows: tuple[int, ...]


class Alignment(NamedTuple):
    """``steps`` in order. ``certain``: whether every alignment of the same cost has this step."""

    steps: tuple[AlignmentStep, ...]
    certain: tuple[bool, ...]


def align(
    played: Sequence[DecidedRound],
    listed: Sequence[ListedResult],
    times: Sequence[float | None],
    tolerance: float,
) -> Alignment:
    """Align both. ``times``: of the rows, by this system's clock. Where rows have times, a pair is
    at most ``tolerance`` seconds apart.
    """
    grid = _Grid(played, listed, times, tolerance)
    forward, backward = grid.forward(), grid.backward()
    total = backward[0][0]
    steps = []
    certain = []
    at = (0, 0)
    end = (len(played), len(listed))
    choices = grid.choices(forward, backward, total)
    while at != end:
        step = next(
            step
            for step, cost, to in grid.steps(*at)
            if cost + grid.get(backward, *to) == grid.get(backward, *at)
        )
        steps.append(step)
        certain.append(
            all(choices.rounds[index] == {step} for index in step.rounds)
            and all(choices.rows[index] == {step} for index in step.rows)
        )
        at = at[0] + len(step.rounds), at[1] + len(step.rows)
    return Alignment(tuple(steps), tuple(certain))


class _Choices(NamedTuple):
    """The steps that alignments of least cost have, for each round and row."""

    rounds: list[set[AlignmentStep]]
    rows: list[set[AlignmentStep]]


class _Grid:
    """The alignments: from (0, 0) to the ends of both, by steps. Only cells near in time exist."""

    def __init__(
        self,
        played: Sequence[DecidedRound],
        listed: Sequence[ListedResult],
        times: Sequence[float | None],
        tolerance: float,
    ) -> None:
        self._played, self._listed, self._times = played, listed, times
        self._tolerance = tolerance
        self._bounds = [*self._row_bounds()]

    def _row_bounds(self) -> Iterator[tuple[int, int]]:
        """Yield the first and last column of each line of the grid."""
        count = len(self._listed)
        at = [*accumulate((at for at in self._times if at is not None), max)]
        if len(at) != count:
            surplus = count - len(self._played)
            for index in range(len(self._played) + 1):
                low, high = index - BAND_ROWS + min(0, surplus), index + BAND_ROWS + max(0, surplus)
                yield max(0, low), min(count, high)
            return
        lows = [bisect_left(at, each.at - BAND_SECONDS) for each in self._played]
        highs = [bisect_right(at, each.at + BAND_SECONDS) for each in self._played]
        low = 0
        for index in range(len(self._played) + 1):
            before = highs[index - 1] if index else 0
            after = lows[index] if index < len(self._played) else count
            high = max(before, after)
            yield low, high
            if index < len(self._played):
                low = max(low, min(lows[index], high))

    def get(self, lines: list[list[int]], i: int, j: int) -> int:
        """Return the cost in a cell."""
        low, high = self._bounds[i]
        return lines[i][j - low] if low <= j <= high else IMPOSSIBLE

    def steps(self, i: int, j: int) -> Iterator[tuple[AlignmentStep, int, tuple[int, int]]]:
        """Yield the steps from a cell, with their cost and where they end."""
        if i < len(self._played) and j < len(self._listed):
            cost = self._pair(i, j)
            if cost < IMPOSSIBLE:
                yield AlignmentStep((i,), (j,)), cost, (i + 1, j + 1)
            if self._is_swapped(i, j):
                yield AlignmentStep((i, i + 1), (j, j + 1)), SWAPPED, (i + 2, j + 2)
        if i < len(self._played):
            cost = ALONE if self._played[i].number is not None else 0
            yield AlignmentStep((i,), ()), cost, (i + 1, j)
        if j < len(self._listed):
            yield AlignmentStep((), (j,)), ALONE, (i, j + 1)

    def backward(self) -> list[list[int]]:
        """Return the least cost from each cell to the end."""
        lines: list[list[int]] = [[] for _ in self._bounds]
        for i in range(len(self._bounds) - 1, -1, -1):
            low, high = self._bounds[i]
            lines[i] = [IMPOSSIBLE] * (high - low + 1)
            for j in range(high, low - 1, -1):
                if i == len(self._played) and j == len(self._listed):
                    lines[i][j - low] = 0
                    continue
                lines[i][j - low] = min(
                    (cost + self.get(lines, *to) for _, cost, to in self.steps(i, j)),
                    default=IMPOSSIBLE,
                )
        return lines

    def forward(self) -> list[list[int]]:
        """Return the least cost from the begin to each cell."""
        lines = [[IMPOSSIBLE] * (high - low + 1) for low, high in self._bounds]
        lines[0][0] = 0
        for i, (low, high) in enumerate(self._bounds):
            for j in range(low, high + 1):
                so_far = lines[i][j - low]
                if so_far >= IMPOSSIBLE:
                    continue
                for _, cost, (to_i, to_j) in self.steps(i, j):
                    first, last = self._bounds[to_i]
                    if first <= to_j <= last:
                        lines[to_i][to_j - first] = min(lines[to_i][to_j - first], so_far + cost)
        return lines

    def choices(self, forward: list[list[int]], backward: list[list[int]], total: int) -> _Choices:
        """Return all steps that are part of an alignment of least cost."""
        found = _Choices([set() for _ in self._played], [set() for _ in self._listed])
        for i, (low, high) in enumerate(self._bounds):
            for j in range(low, high + 1):
                so_far = forward[i][j - low]
                if so_far + backward[i][j - low] != total:
                    continue
                for step, cost, to in self.steps(i, j):
                    if so_far + cost + self.get(backward, *to) == total:
                        for index in step.rounds:
                            found.rounds[index].add(step)
                        for index in step.rows:
                            found.rows[index].add(step)
        return found

    def _pair(self, i: int, j: int) -> int:
        if not self._is_near(i, j):
            return IMPOSSIBLE
        played, number = self._played[i], self._listed[j].number
        if played.number is None:
            return UNRESOLVED
        if number == played.number:
            return SAME
        return CORRECTED if number == played.before else OTHER_NUMBER

    def _is_swapped(self, i: int, j: int) -> bool:
        if i + 1 >= len(self._played) or j + 1 >= len(self._listed):
            return False
        first, second = self._played[i].number, self._played[i + 1].number
        return (
            first is not None
            and second is not None
            and first != second
            and (self._listed[j].number, self._listed[j + 1].number) == (second, first)
            and self._is_near(i, j)
            and self._is_near(i + 1, j + 1)
        )

    def _is_near(self, i: int, j: int) -> bool:
        at = self._times[j]
        return at is None or abs(at - self._played[i].at) <= self._tolerance
