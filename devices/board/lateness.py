"""Whether a report is live: the board's own clock against the time at which its reports arrive.

Both clocks run alike, so the difference between them is always the same, but for a report that had
waited somewhere on its way: that one is late by as much as its difference is greater. A board's
clock may be cheap, so it is allowed to drift.
"""

from __future__ import annotations

from devices.board.report import HEARTBEAT

DRIFT = 0.01
"""How far the clock of a board may be wrong: a second in a hundred."""
PACED, SILENCE = 0.8 * HEARTBEAT, 1.5 * HEARTBEAT
"""Seconds: a report that comes so long after the one before it, and not longer, came at a board's
own pace: it did not wait.
"""


class Lateness:
    """``late_after``: seconds by which a report that is live may be later than the promptest."""

    def __init__(self, late_after: float) -> None:
        self._late_after = late_after
        self._began: float | None = None  # the arrival of the first report
        self._arrived = 0.0  # and of the last
        self._said = 0.0  # the board's time of the last
        self._prompt = 0.0  # the difference of the clocks for a report that did not wait

    def began(self) -> None:
        """Nothing is known of the board's clock any more: it was started, or the link was opened,
        anew.
        """
        self._began = None

    def waited(self, said: float, now: float) -> bool:
        """Whether a report of the board's time ``said`` that came ``now`` had waited; both never go
        back.
        """
        difference, gap = now - said, now - self._arrived
        if self._began is None:
            self._began, self._prompt = now, difference
        elif PACED <= gap <= SILENCE:
            self._prompt = difference
        else:
            self._prompt = min(difference, self._prompt + DRIFT * (said - self._said))
        self._arrived, self._said = now, said
        return difference - self._prompt > self._late_after

    def joined(self, now: float) -> bool:
        """Whether the first report has come so shortly before that nobody knows how prompt it was:
        it may have waited, too.
        """
        return self._began is None or now - self._began < PACED
