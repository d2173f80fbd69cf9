"""Measures of stored inputs: their processing times, from reading the bytes to the decision, to the
commit in the journal, and to the broker's acknowledgement; and counts of their events.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable

from common.contract.events import AnyEvent, Irregularity, RoundResult, WitnessReported
from common.contract.node import StagesHealth, StageTimes
from common.metrics.family import Histogram

MAX_DURATIONS = 1000
"""Number of latest durations that the percentiles of a stage are computed from."""


class Durations:
    """Durations of one stage: the latest ones, and a histogram of all."""

    def __init__(self) -> None:
        self._latest: deque[int] = deque(maxlen=MAX_DURATIONS)
        self.histogram = Histogram()

    def add(self, nanoseconds: int) -> None:
        """Add one duration."""
        self._latest.append(nanoseconds)
        self.histogram.add(nanoseconds / 1e9)

    def times(self) -> StageTimes | None:
        """Return median, 99th percentile and maximum of the latest; None before the first."""
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
    """Stages of every input that leads to an event, each measured from the read of its bytes."""

    def __init__(self) -> None:
        self.decided = Durations()
        self.committed = Durations()
        self.acknowledged = Durations()

    def health(self) -> StagesHealth:
        """Return the part of the retained ``health`` about how fast the daemon is."""
        return StagesHealth(
            decided=self.decided.times(),
            committed=self.committed.times(),
            acknowledged=self.acknowledged.times(),
        )


class EventCounters:
    """Counts of the events of one table since the daemon started."""

    def __init__(self) -> None:
        self.events: Counter[type[AnyEvent]] = Counter()
        self.irregularities: Counter[str] = Counter()
        """By the irregularity's ``what``."""
        self.witnessed: Counter[tuple[str, str]] = Counter()
        """By second witness and verdict: ``silent``, ``agrees`` or ``disagrees`` when a result was
        published, ``agrees_later`` or ``disagrees_later`` afterwards.
        """

    def count(self, events: Iterable[AnyEvent]) -> None:
        """Count stored events."""
        for event in events:
            self.events[type(event)] += 1
            if isinstance(event, Irregularity):
                self.irregularities[event.what] += 1
            elif isinstance(event, RoundResult):
                for statement in event.witnesses:
                    self.witnessed[statement.device, _verdict(statement.agrees)] += 1
            elif isinstance(event, WitnessReported) and event.agrees is not None:
                self.witnessed[event.device, f"{_verdict(event.agrees)}_later"] += 1


def _verdict(agrees: bool | None) -> str:
    return {None: "silent", True: "agrees", False: "disagrees"}[agrees]


def _milliseconds(nanoseconds: int) -> float:
    return round(nanoseconds / 1e6, 3)
