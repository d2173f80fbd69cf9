"""Detects late reports. Reports that arrive faster than the device can send must have waited in a
buffer: they are true, but not live. So are bytes that may have been kept, for example by a device
server that delivers its buffer as soon as the link is opened
(:meth:`devices.codec.KeptBytesAware.kept`).

:class:`HandPace` is for a device paced by a person's hand. A shoe sends only when a card is drawn,
so silence before a card proves nothing; but of two cards that arrive closer together than a hand
can draw them, the second is late. The first card of such a burst cannot be recognised.

:class:`SteadyPace` is for a device that repeats itself at a steady pace, so that its silence means
something.

If this process was not scheduled for a while, the bytes that it reads then may have arrived at any
time since it last polled (:meth:`devices.codec.DelayAware.delayed`). Each report is then given the
earliest time at which it can have arrived at the device's own pace; it is late if there is no such
time.
"""

from __future__ import annotations

from common.readings import LinkLate
from devices.codec import MAX_LIVE_DELAY_SECONDS


class HandPace:
    """Pace of a device driven by hand. ``min_draw``: minimum seconds between two cards; an earlier
    card is late. 0: no card is ever late.
    """

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
        """Time after opening, in seconds, in which reports count as kept: no hand draws a card
        sooner.
        """
        return self._min_draw

    @property
    def deadline(self) -> float | None:
        """When the current burst is over, unless more of it arrives."""
        return self._report + self._min_draw if self._late and self._report is not None else None

    def delayed(self, since: float, now: float) -> None:
        """The reports at ``now`` may have arrived at any time from ``since`` on."""
        self._unseen = since, now

    def kept(self, now: float) -> None:
        """The reports at ``now``, and those immediately after, may have been kept for any time."""
        self._kept = now

    def is_late(self, now: float, card: bool) -> bool:
        """Return whether a report that arrives now is late. Reports immediately after a late card
        are late too. Cards that lay unread are late only if no hand can draw as many since the last
        poll.
        """
        before = self._card if card or self._late else None
        late = before is not None and now - before < self._min_draw
        if self._kept is not None:
            is_backlog = now == self._kept or now - self._kept < self._min_draw
            self._kept = self._kept if is_backlog else None
            late = late or is_backlog
        if not late:
            self._quiet = 0.0 if self._report is None else now - self._report
        self._late += late
        self._report = now
        if card:
            self._card = now if late else self._earliest(now)
        return late

    def _earliest(self, now: float) -> float:
        """Earliest time at which a card that is not late can have arrived."""
        if self._unseen is None or self._unseen[1] != now:
            return now
        since = self._unseen[0]
        return since if self._card is None else max(since, self._card + self._min_draw)

    def burst(self, now: float) -> list[LinkLate]:
        """Report a burst that has ended by now, once."""
        if self.deadline is None or now < self.deadline:
            return []
        frames, self._late = self._late, 0
        return [LinkLate(at=now, device=self._device, frames=frames, silence=round(self._quiet, 3))]


SILENCE_PERIODS = 1.5
"""Silence, in periods, after which the following frames are late."""
LIVE_GAP_PERIODS = 0.8
"""Minimum gap before a frame, in periods, which proves that it did not wait in a buffer: it is
live.
"""
BURST_REPORT_INTERVAL_SECONDS = 60.0
"""Interval at which a burst is reported before it is over. With a device that is faster than its
configured period a burst never ends, and staff must see why none of its frames counts.
"""
MAX_DRIFT = 0.1
"""Maximum relative drift of a device's pace while the port is not polled."""
MIN_PERIOD_SECONDS = 0.1
"""Minimum time between frames of a steady device, unless its period is shorter."""
MAX_LEAD_GAPS = 1.5
"""How far frames may be ahead of the fastest pace, in minimum gaps. A network may deliver two at
once; three had waited somewhere.
"""
MAX_DOUBT_SECONDS = 1.0
"""Upper limit of the time (otherwise twice ``LIVE_GAP_PERIODS``) without frames faster than the
fastest pace, after which a device whose frames may have been kept is live again.
"""


class BacklogDetector:
    """Judges by their rate whether frames may have been kept before they were delivered.
    ``shortest``: minimum seconds between two frames of the device; ``lasts``: seconds without
    faster frames after which it is no longer ``active``.
    """

    def __init__(self, shortest: float, lasts: float) -> None:
        self.active = False
        self.ahead = False
        """The last frame came sooner than the device can have sent it."""
        self._shortest = shortest
        self._lasts = lasts
        self._kept = False  # the next frame may have been kept
        self._since = 0.0  # when a frame was last suspicious
        # earliest time of the last frame, if each was sent as soon as possible
        self._due: float | None = None

    def kept(self) -> None:
        """The next frame may have been kept for any time."""
        self.active = self._kept = True

    def on_frame(self, since: float, now: float, *, in_backlog: bool = False) -> None:
        """Handle a frame that arrived at some time from ``since`` to ``now``. ``in_backlog``: it
        follows a silence, so it is late at any rate.
        """
        due = since
        if self._due is not None and self._due + self._shortest > since:
            due = self._due + self._shortest
        latest = now + MAX_LEAD_GAPS * self._shortest
        self.ahead = due > latest
        self._due = latest if self.ahead else due
        if self._kept or (self.ahead and (self.active or not in_backlog)):
            self.active, self._since = True, now
        elif now - self._since >= self._lasts:
            self.active = False
        self._kept = False

    def exhaust(self, now: float) -> None:
        """Allow no lead: the next frame is ahead if it comes sooner than ``shortest`` after
        ``now``.
        """
        self._due = now + MAX_LEAD_GAPS * self._shortest


class SteadyPace:
    """Pace of a device that repeats itself. ``period``: seconds between its frames, sent by itself
    or on request.
    """

    def __init__(self, device: str, period: float) -> None:
        self.late = False
        self._device = device
        self._period = period
        self._doubt = BacklogDetector(
            min(LIVE_GAP_PERIODS * period, MIN_PERIOD_SECONDS),
            min(2 * LIVE_GAP_PERIODS * period, MAX_DOUBT_SECONDS),
        )
        # a silence was seen, and frames kept during it may still be arriving
        self._backlog = False
        self._report = False  # the late frames are to be reported
        # when the last frame arrived: by the device's pace, and the latest possible time
        self._last: float | None = None
        self._read = 0.0
        self._unseen: tuple[float, float] | None = None
        self._slack = 0.0  # possible drift of its pace while the port was not polled
        self._reopened = False
        # while late: start of the period without silence or burst, and the frames since then
        self._even_from, self._even = 0.0, 0
        self._late_from = 0.0  # when it became late, or when that was last reported
        self._frames = 0
        self._silence = 0.0

    def on_reopened(self) -> None:
        """The link was reopened. Frames are late until the pace is normal again."""
        self._reopened = True

    def delayed(self, since: float, now: float) -> None:
        """The frames at ``now`` may have arrived at any time from ``since`` on."""
        self._unseen = since, now

    def was_unread(self, now: float) -> bool:
        """Return whether the frames at ``now`` may have arrived long before."""
        return self._unseen is not None and self._unseen[1] == now

    def kept(self) -> None:
        """The next frame may have been kept for any time."""
        self._doubt.kept()

    def on_frame(self, now: float) -> list[LinkLate]:
        """Handle a frame: update :attr:`late`, and report a burst that is over or does not end.

        Frames that lay unread are live if the frame before them was live and there was no silence
        before the port was last polled: then they were sent after that frame, and are hardly older
        than our own delay. If there are fewer than the device sends in that time, the silence shows
        at the next frame.

        More frames than any such device can send in that time were kept, however short the silence
        was: our own clock may have stopped.
        """
        bursts = []
        since, at = now, now
        if self._unseen is not None and not self.was_unread(now):
            self._unseen = None
        if self._unseen is not None:
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
        """Report the late frames so far; nothing if they only followed the opening of the link, at
        the device's pace.
        """
        frames, silence = self._frames, round(self._silence, 3)
        self._late_from, self._frames, self._silence = now, 0, 0.0
        if not self._report:
            return []
        return [LinkLate(at=now, device=self._device, frames=frames, silence=silence)]

    def _is_paced(self, since: float, now: float) -> bool:
        """Whether a frame after a late one cannot belong to the same burst: it came long enough
        after that one, or the frames before came so evenly that nothing of a burst can be left.
        """
        gap = now - self._read
        return gap >= LIVE_GAP_PERIODS * self._period and (
            gap <= SILENCE_PERIODS * self._period
            or since - self._read >= LIVE_GAP_PERIODS * self._period
            or self._was_even(now)
        )

    def _was_even(self, now: float) -> bool:
        """Whether frames read late arrived no faster than the device sends them."""
        if now - self._even_from > MAX_LIVE_DELAY_SECONDS:
            self._even_from, self._even = self._read, 0
        seconds = self._read - self._even_from
        return seconds >= self._period and 0 < self._even <= seconds / self._period + 1

    def is_other_late(self, now: float) -> bool:
        """Return whether a frame outside the steady sequence is late now: if the sequence is late
        or missing.
        """
        checked = self._unseen[0] if self._unseen is not None and self.was_unread(now) else now
        silent = self._last is not None and (
            self._reopened or checked - self._last > SILENCE_PERIODS * self._period + self._slack
        )
        late = self.late or self._doubt.active or silent
        self._frames += late
        return late
