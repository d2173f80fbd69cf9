"""Reports that a report of the device may have been lost, for protocols that do not number them.

Bytes that are no report may have been a card, and the next card must not take its place: a person
decides. The first loss is reported at once. Continuous noise must not fill the journal, so further
ones are reported once a second, and in any case before the next complete report: a person may have
settled the last one meanwhile.
"""

from __future__ import annotations

from math import inf

from common.readings import LinkGap

REPORT_INTERVAL_SECONDS = 1.0
"""Minimum interval between two gaps of continuous noise."""


class LossReporter:
    """Decides when a loss is reported. Pure: only the times of the losses count."""

    def __init__(self, device: str) -> None:
        self._device = device
        self._reported_at = -inf
        self._is_due = False

    def on_loss(self, now: float) -> list[LinkGap]:
        """Handle bytes that may have been a report; return the gap to report."""
        if now - self._reported_at >= REPORT_INTERVAL_SECONDS:
            return self._report(now)
        self._is_due = self._is_due or now > self._reported_at
        return []

    def on_report(self, now: float) -> list[LinkGap]:
        """Handle a complete report; return the gap to report before it. The next loss is reported
        at once.
        """
        gaps = self._report(now) if self._is_due else []
        self._reported_at = -inf
        return gaps

    def _report(self, now: float) -> list[LinkGap]:
        self._reported_at, self._is_due = now, False
        return [LinkGap(at=now, device=self._device, lost=1)]
