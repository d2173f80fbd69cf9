"""A number that a service tells of itself: its name, what it is, and by what it is told apart.

Names follow Prometheus' conventions: base units, ``_total`` for what only grows. docs/metrics.md
lists all of them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from typing import Literal, NamedTuple

SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
"""The upper bounds by which durations are counted."""


class Family(NamedTuple):
    """``labels``: what its numbers are told apart by, such as the table. ``help``: its meaning."""

    name: str
    kind: Literal["gauge", "counter", "histogram"]
    help: str
    labels: tuple[str, ...] = ()


class Histogram:
    """How many durations were no longer than each of :data:`SECONDS`, since the start."""

    def __init__(self) -> None:
        self._counts = [0] * (len(SECONDS) + 1)
        self._sum = 0.0

    def add(self, seconds: float) -> None:
        """Count one more."""
        self._counts[bisect_left(SECONDS, seconds)] += 1
        self._sum += seconds

    def told(self) -> tuple[list[tuple[str, float]], float]:
        """The counts up to each bound, and the sum of all durations."""
        reached, buckets = 0, []
        for bound, count in zip((*map(str, SECONDS), "+Inf"), self._counts, strict=True):
            reached += count
            buckets.append((bound, float(reached)))
        return buckets, self._sum


Values = Mapping[tuple[str, ...], float | Histogram]
"""By the values of the labels, in the order of the family's."""
