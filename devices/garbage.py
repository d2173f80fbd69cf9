"""Rate limit for garbage readings: continuous garbage must neither delay other devices nor fill the
journal.

Pure: the intervals depend only on the times of the garbage, so a replay gives the same readings.
"""

from __future__ import annotations

from msgspec.structs import replace

from common.readings import AnyReading, LinkGarbage

MAX_IMMEDIATE_REPORTS = 10
"""Number of garbage readings that are reported immediately. After that the interval doubles: one
second, two, four ...
"""

MAX_INTERVAL_SECONDS = 60.0
"""Maximum interval between reports. After this long without garbage, the next one is reported
immediately again.
"""


class GarbageSummary:
    """Filter between a codec and its listener. It merges successive garbage readings into one, with
    the first frame and the total number of bytes, and releases it when the interval is over or
    before any other reading. Other readings pass immediately; the order is preserved.
    """

    def __init__(self) -> None:
        self.due: float | None = None
        """Time at which held garbage must be reported, or None."""
        self._held: LinkGarbage | None = None
        self._reported = 0  # reports of garbage since the last calm
        self._latest = float("-inf")  # when garbage was last reported

    def pass_on(self, readings: list[AnyReading], now: float) -> list[AnyReading]:
        """Return the readings to release now."""
        if not readings and not self._reported and self._held is None:
            return readings  # as for nearly every frame
        released: list[AnyReading] = []
        if self._held is None and now - self._latest >= MAX_INTERVAL_SECONDS:
            self._reported, self._latest = 0, float("-inf")  # as if there had been none
        for reading in readings:
            if not isinstance(reading, LinkGarbage):
                released += [*self.release(now), reading]
            elif self._held is None:
                self._held, self.due = reading, self._latest + self._pause()
            else:
                self._held = replace(self._held, bytes=self._held.bytes + reading.bytes)
        if self.due is not None and self.due <= now:
            released += self.release(now)
        return released

    def release(self, now: float) -> list[AnyReading]:
        """Return held garbage, if any, as one reading."""
        if self._held is None:
            return []
        held = replace(self._held, at=now)
        self._held = self.due = None
        self._reported += 1
        self._latest = now
        return [held]

    def _pause(self) -> float:
        return (
            0.0
            if self._reported < MAX_IMMEDIATE_REPORTS
            else min(MAX_INTERVAL_SECONDS, 2.0 ** min(self._reported - MAX_IMMEDIATE_REPORTS, 10))
        )
