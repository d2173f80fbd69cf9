"""Judges whether a report is live by comparing the board's clock with the time of arrival.

Both clocks run at the same rate, so their difference is constant. A report that waited on its way
has a greater difference, and is late by as much. A board's clock may be cheap, so some drift is
allowed. If this process was not scheduled for a while, a report may have arrived at any time since
the last poll; only the delay before that counts.

A report that is much faster than the fastest one so far shows that the latter had waited too, or
that our own clock stopped: a burst may follow, and the difference is learned again.
"""

from __future__ import annotations

from devices.board.report import HEARTBEAT_SECONDS

MAX_DRIFT = 0.01
"""Maximum drift of a board's clock: one second in a hundred."""
LIVE_GAP_SECONDS, SILENCE_SECONDS = 0.8 * HEARTBEAT_SECONDS, 1.5 * HEARTBEAT_SECONDS
"""A report that arrives after the previous one within these limits came at the board's own pace and
did not wait.
"""
DOUBT_GAPS = 2
"""Multiple of ``LIVE_GAP_SECONDS`` in which no report may be much faster than the first, before a
board whose reports may have been kept is live.
"""


class Lateness:
    """Compares the clocks of one board and this machine. ``late_after``: a report is late if it
    arrives this many seconds later than the fastest one.
    """

    def __init__(self, late_after: float) -> None:
        self._late_after = late_after
        self._began: float | None = None  # arrival of the first report
        self._arrived = 0.0  # arrival of the last report
        self._sent = 0.0  # the board's time of the last report
        self._prompt = 0.0  # difference of the clocks for a report without delay
        # difference and board's time of the last report known to have had no delay
        self._known = (0.0, 0.0)
        self._joining = (
            LIVE_GAP_SECONDS  # seconds after the first report in which its delay is unknown
        )
        self._unseen: tuple[float, float] | None = None
        self._gap_unknown = False  # the last report lay unread for a while

    def restart(self) -> None:
        """Learn the difference of the clocks again: the board was restarted or the link
        reopened.
        """
        self._began = None

    def kept(self) -> None:
        """The next reports may have been kept for any time."""
        self._began, self._joining = None, DOUBT_GAPS * LIVE_GAP_SECONDS

    def delayed(self, since: float, now: float) -> None:
        """The reports at ``now`` may have arrived at any time from ``since`` on."""
        self._unseen = since, now

    def is_late(self, sent: float, now: float) -> bool:
        """Return whether a report with board time ``sent`` that arrived at ``now`` had waited.
        Neither time may go back.
        """
        difference, gap = now - sent, now - self._arrived
        unread = now - self._unseen[0] if self._unseen and self._unseen[1] == now else 0.0
        if self._began is None or difference < self._least(sent):
            self._began, self._prompt, self._known = now, difference, (difference, sent)
        elif LIVE_GAP_SECONDS <= gap <= SILENCE_SECONDS and unread == 0 and not self._gap_unknown:
            self._prompt, self._known = difference, (difference, sent)
        else:
            self._prompt = min(difference, self._prompt + MAX_DRIFT * (sent - self._sent))
        self._arrived, self._sent = now, sent
        self._gap_unknown = unread > 0
        return difference - unread - self._prompt > self._late_after

    def _least(self, sent: float) -> float:
        """Minimum difference for a report at board time ``sent``, if the last known one had no
        delay.
        """
        difference, at = self._known
        return difference - self._late_after - MAX_DRIFT * (sent - at)

    def is_learning(self, now: float) -> bool:
        """Return whether the first report arrived so recently that its delay is still unknown."""
        if self._began is None or now - self._began < self._joining:
            return True
        self._joining = LIVE_GAP_SECONDS
        return False
