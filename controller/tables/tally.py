"""Counters of the events at a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from common.contract.events import AnyEvent, Irregularity


class EventCounters:
    """Counters of one table since the daemon started."""

    def __init__(self) -> None:
        self.events: Counter[type[AnyEvent]] = Counter()
        self.irregularities: Counter[str] = Counter()
        """By the irregularity's ``what``."""

    def count(self, events: Iterable[AnyEvent]) -> None:
        """Count stored events."""
        for event in events:
            self.events[type(event)] += 1
            if isinstance(event, Irregularity):
                self.irregularities[event.what] += 1
