"""How often what happened at a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from controller.contract.events import AnyEvent, Irregularity


class Tally:
    """Counts of one table since the daemon started."""

    def __init__(self) -> None:
        self.events: Counter[type[AnyEvent]] = Counter()
        self.irregularities: Counter[str] = Counter()
        """By the word that says what happened."""

    def count(self, events: Iterable[AnyEvent]) -> None:
        """Count events that are stored."""
        for event in events:
            self.events[type(event)] += 1
            if isinstance(event, Irregularity):
                self.irregularities[event.what] += 1
