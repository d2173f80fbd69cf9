"""State of a table whose wheel reports places: boule and the wheel of fortune."""

from __future__ import annotations

from typing import Self

import msgspec

from common.readings import WheelCell, WheelNumber
from controller.games.wheels.state import WheelEntry, WheelState, WheelTally, tallied


class CellsCounts(WheelTally, frozen=True):
    """The last number of a session and the count of each number, by its text."""

    counts: dict[str, int] = msgspec.field(default_factory=dict)

    def after(self, entry: WheelEntry) -> Self:
        """Void and unresolved rounds change nothing."""
        if entry.number is None:
            return self
        key = str(entry.number)
        return type(self)(entry.number, {**self.counts, key: self.counts.get(key, 0) + 1})


class CellsState(WheelState, frozen=True, kw_only=True, omit_defaults=True):
    """Such a table between two inputs.

    ``held``: a place that the wheel reported while it still moved; it counts when the wheel has
    settled.
    """

    held: WheelCell | WheelNumber | None = None
    before: CellsCounts = CellsCounts()

    def tally(self, upto: int | None = None) -> CellsCounts:
        """The tally after all remembered rounds, or after round ``upto``."""
        return tallied(self.before, self.entries, upto)
