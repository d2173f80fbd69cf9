"""Detects late reports: those that arrive faster than the device can send had waited in a buffer.
They are true, but not live. So are those that somebody may have kept, such as a device server that
delivers what it had as soon as the link is opened (:meth:`devices.codec.JudgesKept.kept`).

:class:`HandPace` is for a device paced by a person's hand. A shoe sends only when a card is drawn,
so silence before a card proves nothing; but of two cards that arrive closer together than a hand
can draw them, the second is late. The first card of such a burst cannot be recognised.

:class:`SteadyPace` is for a device that repeats itself at a steady pace, so that its silence means
something.

If we were not scheduled for a while, what we read then may have arrived at any time since we last
looked (:meth:`devices.codec.JudgesDelay.delayed`). Each report is then given the earliest time at
which it can have arrived at the device's own pace; it is late if there is no such time.
"""

from __future__ import annotations

from devices.codec import MAX_LIVE_DELAY_SECONDS
from devices.readings import LinkLate


class HandPace:
    """``min_draw``: minimum seconds between two cards; an earlier card is late. 0 disables."""

    def __init__(self, device: str, min_draw: float) -> None:
        self._device = device
        self._min_draw = min_draw
        self._card: float | None = None  # when the last card arrived
        self._report: float | None = None  # when anything last arrived
        self._quiet = 0.0  # the silence before the last live report
        self._late = 0
        self._unseen: tuple[float, float] | None = None
        self._kept: float | None = None  # when bytes arrived last that may have been kept

    @property
    def opening(self) -> float:
        """Seconds after opening in which reports count as kept: a hand draws no card sooner."""
        return self._min_draw

    @property
    def deadline(self) -> float | None:
        """When the current burst is over, unless more of it arrives."""
        return self._report + self._min_draw if self._late and self._report is not None else None

    def delayed(self, since: float, now: float) -> None:
        """What arrives at ``now`` may have arrived at any time from ``since`` on."""
        self._unseen = since, now

    def kept(self, now: float) -> None:
        """What arrives at ``now`` may have been kept for any time, and what follows immediately."""
        self._kept = now

    def is_late(self, now: float, card: bool) -> bool:
        """Whether a report that arrives now is late. What follows immediately after a late card is
        late too. Cards that lay unread are late only if no hand draws so many since we last looked.
        """
        before = self._card if card or self._late else None
        late = before is not None and now - before < self._min_draw
        if self._kept is not None:
            kept = now == self._kept or now - self._kept < self._min_draw
            self._kept = self._kept if kept else None
            late = late or kept
        if not late:
            self._quiet = 0.0 if self._report is None else now - self._report
        self._late += late
        self._report = now
        if card:
            self._card = now if late else self._earliest(now)
        return late

    def _earliest(self, now: float) -> float:
        """When a card that is not late arrived, at the earliest."""
        if self._unseen is None or self._unseen[1] != now:
            return now
        since = self._unseen[0]
        return since if self._card is None else max(since, self._card + self._min_draw)

    def burst(self, now: float) -> list[LinkLate]:
        """A burst that has ended by now; reported once."""
        if self.deadline is None or now < self.deadline:
            return []
        frames, self._late = self._late, 0
        return [LinkLate(at=now, device=self._device, frames=frames, silence=round(self._quiet, 3))]


SILENCE_PERIODS = 1.5
"""In periods: after a longer silence, what follows is late."""
LIVE_GAP_PERIODS = 0.8
"""In periods: a frame that follows another after at least this time cannot have waited in a buffer;
it is live.
"""
BURST_REPORT_INTERVAL_SECONDS = 60.0
"""Seconds after which a burst is reported though it is not over, and again after as many: a device
that is faster than its period says never is, and somebody has to know why nothing of it counts.
"""
MAX_DRIFT = 0.1
"""How far a device's pace may differ from its nominal one while nobody looks."""
MIN_PERIOD_SECONDS = 0.1
"""Seconds: no device that repeats itself does so more often, unless its period is shorter."""
MAX_LEAD_GAPS = 1.5
"""In shortest gaps: how far frames may be ahead of the fastest pace. A network may deliver two at
once; three had waited somewhere.
"""
MAX_DOUBT_SECONDS = 1.0
"""Maximum seconds, else twice ``LIVE_GAP_PERIODS``, in which no frame may come faster than the
fastest pace before a device whose frames may have been kept is live again.
"""


class BacklogDetector:
    """Whether frames may have been kept before they were delivered, judged by how many come in how
    much time. ``shortest``: minimum seconds between two frames of the device; ``lasts``: seconds
    without faster ones after which the doubt ends.
    """

    def __init__(self, shortest: float, lasts: float) -> None:
        self.active = False
        self.ahead = False
        """The last frame came sooner than the device can have sent it."""
        self._shortest = shortest
        self._lasts = lasts
        self._kept = False  # the next frame may have been kept
        self._since = 0.0  # when a frame last gave rise to doubt
        # the earliest time for the last frame, if each came as soon as possible
        self._due: float | None = None

    def kept(self) -> None:
        """The next frame may have been kept for any time."""
        self.active = self._kept = True

    def on_frame(self, since: float, now: float, *, in_backlog: bool = False) -> None:
        """A frame arrived, at any time from ``since`` to ``now``. ``in_backlog``: a silence was
        seen before it, so that it is late however fast it comes.
        """
        due = since if self._due is None else max(since, self._due + self._shortest)
        latest = now + MAX_LEAD_GAPS * self._shortest
        self.ahead, self._due = due > latest, min(due, latest)
        if self._kept or (self.ahead and (self.active or not in_backlog)):
            self.active, self._since = True, now
        elif now - self._since >= self._lasts:
            self.active = False
        self._kept = False

    def exhaust(self, now: float) -> None:
        """The next frame is ahead if it comes sooner than ``shortest`` after now."""
        self._due = now + MAX_LEAD_GAPS * self._shortest


class SteadyPace:
    """``period``: seconds between the frames that the device sends by itself or is polled for."""

    def __init__(self, device: str, period: float) -> None:
        self.late = False
        self._device = device
        self._period = period
        self._doubt = BacklogDetector(
            min(LIVE_GAP_PERIODS * period, MIN_PERIOD_SECONDS),
            min(2 * LIVE_GAP_PERIODS * period, MAX_DOUBT_SECONDS),
        )
        # a silence was seen and what the wire kept meanwhile is not known to be over
        self._backlog = False
        self._report = False  # what is late now is worth a report
        # when the last frame arrived: at the pace of the device, and at the latest
        self._last: float | None = None
        self._read = 0.0
        self._unseen: tuple[float, float] | None = None
        self._slack = 0.0  # by how much its pace may have drifted while nobody looked
        self._reopened = False
        # while late: since when there was neither a silence nor a burst, and the frames since then
        self._even_from, self._even = 0.0, 0
        self._late_from = 0.0  # since when it is late, or when that was last reported
        self._frames = 0
        self._silence = 0.0

    def on_reopened(self) -> None:
        """The link was closed. What arrives next is late until the pace is normal again."""
        self._reopened = True

    def delayed(self, since: float, now: float) -> None:
        """What arrives at ``now`` may have arrived at any time from ``since`` on."""
        self._unseen = since, now

    def was_unread(self, now: float) -> bool:
        """Whether what arrives now may have arrived long before."""
        return self._unseen is not None and self._unseen[1] == now

    def kept(self) -> None:
        """What arrives next may have been kept for any time."""
        self._doubt.kept()

    def on_frame(self, now: float) -> list[LinkLate]:
        """A frame arrived: update :attr:`late`, and report a burst that is over or does not end.

        Frames that lay unread are live if the last one before them was, and no silence was seen
        until we looked away: then they were sent after that one, and are hardly older than our own
        delay. If fewer came than the device sends in that time, the silence shows at the next
        frame.

        More frames than any such device sends in that time were kept, however short the silence
        was: our own clock may have stood still.
        """
        bursts = []
        since, at = now, now
        self._unseen = self._unseen if self.was_unread(now) else None
        if self._unseen is not None and self.was_unread(now):
            since = self._unseen[0]
            at = since if self._last is None else max(since, self._last + self._period)
            at = min(at, now)
            self._slack = MAX_DRIFT * (now - since)
        gap = 0.0 if self._last is None else at - self._last
        silent = self._last is not None and (
            self._reopened
            or gap > SILENCE_PERIODS * self._period + (self._slack if since == now else 0.0)
        )
        was_late = self.late
        if silent:
            self._backlog = self._report = True
            self._silence = max(self._silence, gap)
            self._even_from, self._even = now, 0
        elif self._backlog and self._is_paced(since, now):
            self._backlog = False
        self._doubt.on_frame(since, now, in_backlog=self._backlog)
        self._report = self._report or self._doubt.ahead
        self.late = self._backlog or self._doubt.active
        if self.late and not was_late:
            self._late_from = now
        elif was_late and not self.late:
            bursts = self._burst(now)
            self._even_from, self._even = 0.0, 0
            self._report = False
            self._doubt.exhaust(now)
        elif self.late and not silent and now - self._late_from >= BURST_REPORT_INTERVAL_SECONDS:
            bursts = self._burst(now)
        self._even += self.late and self._even_from < now
        self._last, self._read = since if self.late else at, now
        self._slack = self._slack if since < now else 0.0
        self._reopened = False
        self._frames += self.late
        return bursts

    def _burst(self, now: float) -> list[LinkLate]:
        """Report what was late up to now; nothing if it only began with the link, at the pace of
        the device.
        """
        frames, silence = self._frames, round(self._silence, 3)
        self._late_from, self._frames, self._silence = now, 0, 0.0
        if not self._report:
            return []
        return [LinkLate(at=now, device=self._device, frames=frames, silence=silence)]

    def _is_paced(self, since: float, now: float) -> bool:
        """Whether a frame after a late one cannot be of the same burst: it came long enough after
        that one, or what was read before had come evenly, so that nothing of a burst can be left.
        """
        gap = now - self._read
        return gap >= LIVE_GAP_PERIODS * self._period and (
            gap <= SILENCE_PERIODS * self._period
            or since - self._read >= LIVE_GAP_PERIODS * self._period
            or self._was_even(now)
        )

    def _was_even(self, now: float) -> bool:
        """Whether the frames read so far, while late, were not more than the device sends."""
        if now - self._even_from > MAX_LIVE_DELAY_SECONDS:
            self._even_from, self._even = self._read, 0
        seen = self._read - self._even_from
        return seen >= self._period and 0 < self._even <= seen / self._period + 1

    def is_other_late(self, now: float) -> bool:
        """Whether a frame outside the steady sequence is late now: if the sequence is late or
        missing.
        """
        looked = self._unseen[0] if self._unseen is not None and self.was_unread(now) else now
        silent = self._last is not None and (
            self._reopened or looked - self._last > SILENCE_PERIODS * self._period + self._slack
        )
        late = self.late or self._doubt.active or silent
        self._frames += late
        return late
