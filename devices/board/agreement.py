"""How long a value has been reported without a break, so that a single flicker decides nothing."""

from __future__ import annotations

from typing import Generic, TypeVar

T = TypeVar("T")


class Agreement(Generic[T]):
    """The current ``value``, and since when, in seconds of the board's clock."""

    def __init__(self) -> None:
        self.value: T | None = None
        self.since: float | None = None

    def update(self, value: T, at: float) -> float:
        """The value is reported at ``at``. Returns for how many seconds it has been unchanged."""
        if self.since is None or value != self.value:
            self.value, self.since = value, at
        return round(at - self.since, 3)  # the board's clock counts milliseconds

    def reset(self) -> None:
        """Reports were lost, so their value is unknown: start counting again."""
        self.since = None
