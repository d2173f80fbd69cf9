"""What a table remembers whose wheel tells places: boule and the wheel of fortune."""

from __future__ import annotations

from typing import Self

import msgspec

from controller.games.wheels.state import Entry, Tally, WheelState, tallied
from devices.readings import WheelCell, WheelNumber


class Counts(Tally, frozen=True):
    """Where the results of a session have led: the last number, and how often each has come, by its text."""

    counts: dict[str, int] = msgspec.field(default_factory=dict)

    def after(self, entry: Entry) -> Self:
        """Null and unresolved rounds change nothing."""
        if entry.number is None:
            return self
        key = str(entry.number)
        return type(self)(entry.number, {**self.counts, key: self.counts.get(key, 0) + 1})


class CellsState(WheelState, frozen=True, kw_only=True, omit_defaults=True):
    """Such a table between two inputs.

    ``held``: a place that the wheel told while it still moved; it counts when the wheel has settled.
    """

    held: WheelCell | WheelNumber | None = None
    before: Counts = Counts()

    def tally(self, upto: int | None = None) -> Counts:
        """The tally after all remembered rounds, or after round ``upto``."""
        return tallied(self.before, self.entries, upto)
