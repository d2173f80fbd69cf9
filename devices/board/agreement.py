"""How long something has been said without a break: a single flicker never decides."""

from __future__ import annotations

from typing import Generic, TypeVar

T = TypeVar("T")


class Agreement(Generic[T]):
    """The ``value`` that is said, and since when, in seconds of the board's clock."""

    def __init__(self) -> None:
        self.value: T | None = None
        self.since: float | None = None

    def held(self, value: T, at: float) -> float:
        """The value is said at ``at``: for how many seconds it has been so."""
        if self.since is None or value != self.value:
            self.value, self.since = value, at
        return round(at - self.since, 3)  # the clock counts milliseconds

    def broken(self) -> None:
        """Reports are missing: what was said in them is not known, so it begins anew."""
        self.since = None
