"""The rotor of a wheel: its speed approaches a target at a constant rate, and its direction changes
only at standstill.
"""

from __future__ import annotations

ACCELERATION_RPM_PER_SECOND = 19.0
"""Measured on a real wheel, like the braking rate below."""
BRAKING_RPM_PER_SECOND = 16.0


class Rotor:
    """Speed in rpm over time. ``anticlockwise``: direction of the motor, valid from standstill
    on.
    """

    def __init__(self) -> None:
        self.anticlockwise = False
        self._since = 0.0
        self._from = 0.0
        self._target = 0.0

    def rpm(self, now: float) -> float:
        """Return the speed at ``now``."""
        passed = max(0.0, now - self._since)
        if self._target >= self._from:
            return min(self._target, self._from + ACCELERATION_RPM_PER_SECOND * passed)
        return max(self._target, self._from - BRAKING_RPM_PER_SECOND * passed)

    def drive(self, target: float, now: float) -> float:
        """Drive towards ``target`` rpm; return the seconds until it is reached."""
        self._from, self._target, self._since = self.rpm(now), target, now
        return abs(target - self._from) / (
            ACCELERATION_RPM_PER_SECOND if target >= self._from else BRAKING_RPM_PER_SECOND
        )
