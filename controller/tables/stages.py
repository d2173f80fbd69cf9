"""How long an input takes: from the read of its bytes to the decision, to its place on the disk,
and to the broker's acknowledgement.
"""

from __future__ import annotations

from collections import deque

from controller.contract.node import StageTimes
from controller.metrics.family import Histogram

LATEST = 1000
"""How many durations are kept of each stage."""


class Durations:
    """The durations of one stage: the latest, and how many there were of each length."""

    def __init__(self) -> None:
        self._latest: deque[int] = deque(maxlen=LATEST)
        self.histogram = Histogram()

    def add(self, nanoseconds: int) -> None:
        """Keep one more."""
        self._latest.append(nanoseconds)
        self.histogram.add(nanoseconds / 1e9)

    def times(self) -> StageTimes | None:
        """Their median, their 99th percentile and the longest; None before the first."""
        if not self._latest:
            return None
        ordered = sorted(self._latest)
        median, tail = (ordered[len(ordered) * part // 100] for part in (50, 99))
        return StageTimes(
            p50_ms=_milliseconds(median),
            p99_ms=_milliseconds(tail),
            max_ms=_milliseconds(ordered[-1]),
        )


class Stages:
    """The stages of every input that leads to an event, each counted from the read of its bytes."""

    def __init__(self) -> None:
        self.decided = Durations()
        self.committed = Durations()
        self.acknowledged = Durations()


def _milliseconds(nanoseconds: int) -> float:
    return round(nanoseconds / 1e6, 3)
