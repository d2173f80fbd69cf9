"""Measures for how long a value has been reported without interruption, so that a single flicker
decides nothing.
"""

from __future__ import annotations

from typing import Generic, TypeVar

T = TypeVar("T")


class Agreement(Generic[T]):
    """The current ``value``, and its start in seconds of the board's clock."""

    def __init__(self) -> None:
        self.value: T | None = None
        self.since: float | None = None

    def update(self, value: T, at: float) -> float:
        """Handle a report of ``value`` at ``at``. Return for how many seconds it has been
        unchanged.
        """
        if self.since is None or value != self.value:
            self.value, self.since = value, at
        return round(at - self.since, 3)  # the board's clock counts milliseconds

    def reset(self) -> None:
        """Restart the measurement: reports were lost, so their values are unknown."""
        self.since = None
