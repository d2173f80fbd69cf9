"""Finds which messages of an unknown device come at a steady pace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import msgspec

from devices.profiles.proposal.cells import Grid
from devices.profiles.proposal.sorting import MessagePart

MIN_PAUSES = 20
"""Minimum number of pauses from which a period is concluded."""
TOLERANCE = 0.3
"""Share of the period by which a pause may differ from it."""
MIN_STEADY_SHARE = 0.9
MAX_PERIOD_SECONDS = 3.0


class Pace(msgspec.Struct, frozen=True):
    """``parts``: the messages that together come every ``period`` seconds. ``share``: of the pauses
    that are as long as that.
    """

    parts: tuple[MessagePart, ...]
    period: float
    share: float


def find_pace(grid: Grid, parts: Sequence[MessagePart], times: Sequence[float]) -> Pace | None:
    """Return the steadiest messages: the most frequent one, or all of its size. None: the device
    sends at no steady pace.
    """
    found = [pace for each in _candidates(grid, parts) if (pace := _pace(each, times)) is not None]
    return max(found, key=lambda pace: (pace.share, -len(pace.parts)), default=None)


def _candidates(grid: Grid, parts: Sequence[MessagePart]) -> Iterator[tuple[MessagePart, ...]]:
    if parts:
        usual = max(parts, key=lambda part: len(part.frames))
        size = grid.size(usual.frames[0])
        yield (usual,)
        yield tuple(part for part in parts if grid.size(part.frames[0]) == size)


def _pace(parts: tuple[MessagePart, ...], times: Sequence[float]) -> Pace | None:
    own = sorted(times[frame] for part in parts for frame in part.frames)
    pauses = sorted(b - a for a, b in pairwise(own))
    if len(pauses) < MIN_PAUSES:
        return None
    median = pauses[len(pauses) // 2]
    share = sum(abs(pause - median) <= median * TOLERANCE for pause in pauses) / len(pauses)
    if not 0 < median <= MAX_PERIOD_SECONDS or share < MIN_STEADY_SHARE:
        return None
    return Pace(parts, round(median, 3), share)
