"""Garbage that goes on, told less and less often: a device that babbles must not cost others their
time, nor fill the journal.

Pure: when it is told is decided by the times of the garbage alone, so what was recorded gives the
same readings again.
"""

from __future__ import annotations

from msgspec.structs import replace

from devices.readings import AnyReading, LinkGarbage

AT_ONCE = 10
"""Readings of garbage that are told as they come. After them the pauses grow: one second, two, four
...
"""

CALM = 60.0
"""Seconds: the longest pause, and how long garbage must have been told no more before it is told at
once again.
"""


class GarbageSummary:
    """What passes between a codec and whoever hears it. Everything passes at once, in its order,
    but garbage may wait: it is gathered into one reading, with the first frame and the bytes of
    all, which is told when its pause is over, or before whatever else is said.
    """

    def __init__(self) -> None:
        self._held: LinkGarbage | None = None
        self._told = 0  # readings of garbage since it was calm
        self._latest = float("-inf")  # the last one

    @property
    def due(self) -> float | None:
        """When garbage that waits has to be told, or None."""
        return None if self._held is None else self._latest + self._pause()

    def pass_on(self, readings: list[AnyReading], now: float) -> list[AnyReading]:
        """What is told now of what is said now. Garbage upon garbage is one reading."""
        told: list[AnyReading] = []
        for reading in readings:
            if not isinstance(reading, LinkGarbage):
                told += [*self.tell(now), reading]
            elif self._held is None:
                self._held = reading
                if now - self._latest >= CALM:
                    self._told = 0
            else:
                self._held = replace(self._held, bytes=self._held.bytes + reading.bytes)
        if self.due is not None and self.due <= now:
            told += self.tell(now)
        return told

    def tell(self, now: float) -> list[AnyReading]:
        """What waits, which is told now."""
        if self._held is None:
            return []
        held, self._held = replace(self._held, at=now), None
        self._told += 1
        self._latest = now
        return [held]

    def _pause(self) -> float:
        """Seconds from one reading of garbage to the next."""
        return 0.0 if self._told < AT_ONCE else min(CALM, 2.0 ** min(self._told - AT_ONCE, 10))
