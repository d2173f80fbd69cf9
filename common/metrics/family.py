"""Metric families: name, kind, meaning and labels.

Names follow the conventions of Prometheus: base units, ``_total`` for counters.
docs/technician/metrics.md lists all of them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from typing import Literal, NamedTuple

DURATION_BUCKETS_SECONDS = (
    0.0005,
    0.001,
    0.0025,
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.25,
    0.5,
    1.0,
    2.5,
)
"""Upper bounds of the buckets of every :class:`Histogram`."""


class MetricFamily(NamedTuple):
    """A family of metrics. ``help`` is its meaning, ``labels`` the names of its labels."""

    name: str
    kind: Literal["gauge", "counter", "histogram"]
    help: str
    labels: tuple[str, ...] = ()


class Histogram:
    """Counts durations since the start in the buckets of :data:`DURATION_BUCKETS_SECONDS`."""

    def __init__(self) -> None:
        self._counts = [0] * (len(DURATION_BUCKETS_SECONDS) + 1)
        self._sum = 0.0

    def add(self, seconds: float) -> None:
        """Count one duration."""
        self._counts[bisect_left(DURATION_BUCKETS_SECONDS, seconds)] += 1
        self._sum += seconds

    def buckets(self) -> tuple[list[tuple[str, float]], float]:
        """Return the cumulative count for each upper bound, and the sum of all durations."""
        reached, buckets = 0, []
        for bound, count in zip(
            (*map(str, DURATION_BUCKETS_SECONDS), "+Inf"), self._counts, strict=True
        ):
            reached += count
            buckets.append((bound, float(reached)))
        return buckets, self._sum


Values = Mapping[tuple[str, ...], float | Histogram]
"""Values of a family by its label values, in the order of ``MetricFamily.labels``."""
