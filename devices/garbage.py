"""Continuous garbage is reported less and less often, so that it neither delays other devices nor
fills the journal.

Pure: only the times of the garbage decide when it is reported, so a replay gives the same readings.
"""

from __future__ import annotations

from msgspec.structs import replace

from devices.readings import AnyReading, LinkGarbage

MAX_IMMEDIATE_REPORTS = 10
"""Garbage readings that are reported at once. After that the interval doubles: one second, two,
four ...
"""

MAX_INTERVAL_SECONDS = 60.0
"""Seconds: the longest interval between reports. After a pause this long without garbage, it is
reported at once again.
"""


class GarbageSummary:
    """A filter between a codec and its listener. It combines successive garbage readings into one,
    with the first frame and the total bytes, and releases it when the interval is over or before
    any other reading. All other readings pass at once; the order is kept.
    """

    def __init__(self) -> None:
        self._held: LinkGarbage | None = None
        self._reported = 0  # reports of garbage since the last calm
        self._latest = float("-inf")  # when garbage was last reported

    @property
    def due(self) -> float | None:
        """When held garbage has to be reported, or None."""
        return None if self._held is None else self._latest + self._pause()

    def pass_on(self, readings: list[AnyReading], now: float) -> list[AnyReading]:
        """The readings to release now. Successive garbage becomes one reading."""
        released: list[AnyReading] = []
        if self._held is None and now - self._latest >= MAX_INTERVAL_SECONDS:
            self._reported, self._latest = 0, float("-inf")  # as if there had been none
        for reading in readings:
            if not isinstance(reading, LinkGarbage):
                released += [*self.release(now), reading]
            elif self._held is None:
                self._held = reading
            else:
                self._held = replace(self._held, bytes=self._held.bytes + reading.bytes)
        if self.due is not None and self.due <= now:
            released += self.release(now)
        return released

    def release(self, now: float) -> list[AnyReading]:
        """Release held garbage now."""
        if self._held is None:
            return []
        held, self._held = replace(self._held, at=now), None
        self._reported += 1
        self._latest = now
        return [held]

    def _pause(self) -> float:
        """Seconds until garbage may be reported again."""
        return (
            0.0
            if self._reported < MAX_IMMEDIATE_REPORTS
            else min(MAX_INTERVAL_SECONDS, 2.0 ** min(self._reported - MAX_IMMEDIATE_REPORTS, 10))
        )
