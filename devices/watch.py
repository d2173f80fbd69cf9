"""The watch over one device: the only place that decides whether it is alive.

Pure: no clock, no I/O. Live, the supervisor passes in what the reader timestamped; in replay, the
times come from the recording. Both give the same readings. Time must not go back.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import takewhile
from math import inf
from typing import Literal

from msgspec.structs import replace

from devices.codec import (
    OPENING_SECONDS,
    STABLE_LINK_SECONDS,
    Codec,
    DelayAware,
    GreetingAware,
    KeptBytesAware,
    RequestingCodec,
    feed,
)
from devices.errors import NovamasError
from devices.garbage import GarbageSummary
from devices.readings import (
    AnyReading,
    LinkGarbage,
    LinkLost,
    LinkOpen,
    LinkStale,
    LinkUnintelligible,
    LinkUp,
    MaybeLate,
)

State = Literal["connecting", "up", "stale", "unintelligible", "lost"]
"""``connecting``: open, nothing received yet; ``up``: valid frames arrive; ``stale``: none for too
long; ``unintelligible``: bytes arrive, but no valid frame; ``lost``: closed.
"""

UNINTELLIGIBLE_BYTES = 64
"""Bytes without a valid frame that make a device unintelligible. More than the longest known frame,
so half a frame is never enough.
"""


UNINTELLIGIBLE_ADVICE = "bytes but no valid frame; check the baud rate and the driver"
"""What to say of such a device, behind the number of bytes."""


class CodecDefectError(NovamasError):
    """A codec raised an exception, which it must not. It has been reset; the watch goes on.

    ``data``: the bytes it was given. ``readings``: what was decoded before, in the same call.
    """

    def __init__(self, data: bytes, error: Exception) -> None:
        super().__init__(f"{type(error).__name__}: {error}")
        self.data = data
        self.readings: list[AnyReading] = []


class Watch:
    """Combines a codec with the state of its link. Each state is reported once, when it begins.

    ``stale_after``: seconds without a valid frame. For a device that is not steady, silence is
    normal; only noise is reported.
    """

    def __init__(self, codec: Codec, device: str, stale_after: float) -> None:
        self.state: State = "connecting"
        self.last_frame: float | None = None
        self._codec = codec
        self._asks = codec if isinstance(codec, RequestingCodec) else None
        self._judges_kept = codec if isinstance(codec, KeptBytesAware) else None
        self._request = b""
        self._device = device
        self._stale_after = stale_after
        self._opened_before = False
        self._opened_at: float | None = None  # until a frame arrives
        self._failing = False  # the latest connection ended before it had lasted
        # until when what arrives counts as kept; None: it does not
        self._kept_until: float | None = None
        self._overlooked = float("-inf")  # the end of the last time in which nobody looked
        self._reported: State | None = None
        # the latest time seen; reported times never go back behind it
        self._latest = float("-inf")
        self._quiet_since: float | None = (
            None  # the last valid frame, or the opening; None while closed
        )
        self._noise = 0  # bytes since then
        self._noise_began = 0.0
        self._noise_ended = 0.0
        self._garbage = GarbageSummary()

    @property
    def deadline(self) -> float | None:
        """When to call :meth:`tick` even if no byte has arrived, or None."""
        return self._soonest(self._codec.deadline)

    def _soonest(self, soonest: float | None) -> float | None:
        for due in (self._verdict_due(), self._garbage.due, self._open_due()):
            if due is not None and (soonest is None or due < soonest):
                soonest = due
        return soonest

    def opened(self, now: float, *, kept: bool = False) -> list[AnyReading]:
        """The link is open. A steady device is reported once it is heard, or has been silent too
        long. Any other may stay silent for a long time, and an open port does not prove that it
        works, so only the opening is reported; after a connection that ended at once, when this one
        has lasted.

        ``kept``: what arrives first may have been kept for any time, or be a device server's own
        words, as on every link that is opened now: none of it is live. Not so where the link had
        been open before, nobody knows for how long, and in journals of older releases.
        """
        if self._opened_before:
            self._codec.reconnected(now)
        if kept and isinstance(self._codec, GreetingAware):
            self._codec.opened(now)
        self._opened_before = True
        self._opened_at = now if kept else None
        self._kept_until = self._opening_ends(now) if kept else None
        self._latest = max(self._latest, now)
        self.state = "connecting"
        self._quiet_from(now)
        return [] if self._failing else self._report_open(now)

    def _report_open(self, now: float) -> list[AnyReading]:
        self._failing = False
        if self._codec.steady or self._reported == "connecting":
            return []
        self._reported = "connecting"
        return [LinkOpen(at=now, device=self._device)]

    def _open_due(self) -> float | None:
        """When the link will have lasted, if that is still to be reported."""
        return (
            self._opened_at + STABLE_LINK_SECONDS
            if self._failing and self._opened_at is not None
            else None
        )

    def feed(self, data: bytes, now: float) -> list[AnyReading]:
        """Take bytes that arrived at ``now``, after everything that was due before. Raises
        :class:`CodecDefectError`.
        """
        readings: list[AnyReading] = []
        # a recording knows no delay of ours: what was due was asked in time
        while self._asks is not None and (due := self.deadline) is not None and due < now:
            readings += self.tick(max(due, self._latest))
            if self.deadline is not None and self.deadline <= due:
                break
        readings += self.tick(now)
        if data:
            self._hear(data, now, readings, kept=self._is_kept(now))
        return readings

    def hear(
        self, data: bytes, now: float, since: float | None = None, *, kept: bool = False
    ) -> list[AnyReading]:
        """Take bytes that arrived at ``now``, or at any time from ``since`` to ``now``; first call
        :meth:`tick` with the earlier of them. ``kept``: they may have been kept for any time
        before. Raises :class:`CodecDefectError`.
        """
        readings: list[AnyReading] = []
        if since is None:
            if now == self._overlooked and isinstance(self._codec, DelayAware):
                # Read within the same tick of the clock as bytes that waited; these did not.
                self._codec.delayed(now, now)
            self._overlooked = float("-inf")
        else:
            self._overlook(since, now)
        if data:
            kept = self._is_kept(now if since is None else since) or kept
            self._hear(data, now, readings, kept=kept)
        return readings

    def tick(self, now: float) -> list[AnyReading]:
        """Everything that was due until ``now``, each with the time when it was due. Raises
        :class:`CodecDefectError`.
        """
        readings: list[AnyReading] = []
        closed = self._quiet_since is None
        # who asks has nothing to wait for while the link is closed
        codec_due = None if closed and self._asks is not None else self._codec.deadline
        while (due := self._soonest(codec_due)) is not None and due <= now:
            self._latest = max(self._latest, due)
            if due == self._verdict_due():
                readings += self._garbage.pass_on([self._judge(self._latest)], self._latest)
                continue
            if due == self._garbage.due:
                readings += self._garbage.release(self._latest)
                continue
            if due == self._open_due():
                readings += self._report_open(self._latest)
                continue
            self._hear(b"", self._latest, readings)
            codec_due = self._codec.deadline
            if codec_due is not None and codec_due <= due:
                if self._asks is None:
                    break  # a codec whose deadline does not advance must not loop here
                codec_due = None  # it waits to ask
        self._latest = max(self._latest, now)
        if self._asks is not None and not closed:
            # one only, however much was due: what was not sent in time is not made up for
            self._request = self._asks.ask(self._latest) or self._request
        return readings

    def request(self) -> bytes:
        """What the codec asks of the device since the last call; empty: nothing."""
        request, self._request = self._request, b""
        return request

    def lost(self, now: float, reason: str) -> list[AnyReading]:
        """The link was closed, or could not be opened. Raises :class:`CodecDefectError`, as
        :meth:`tick` does.
        """
        readings = [*self.tick(now), *self._garbage.release(now)]
        if self._quiet_since is not None:
            self._failing = (
                self._opened_at is not None and now - self._opened_at < STABLE_LINK_SECONDS
            )
            self._opened_at = None
        self.state = "lost"
        self._quiet_since = None
        if self._reported != "lost":
            self._reported = "lost"
            readings.append(LinkLost(at=now, device=self._device, reason=reason))
        return readings

    def rest(self) -> list[AnyReading]:
        """Held garbage at the end of a recording."""
        return self._garbage.release(self._latest)

    def _opening_ends(self, now: float) -> float:
        """Until when what arrives on a link opened now counts as kept. Infinity: until something
        arrives.
        """
        opening = OPENING_SECONDS if self._judges_kept is None else self._judges_kept.opening
        return inf if opening is None else now + opening

    def _is_kept(self, now: float) -> bool:
        """Whether bytes that arrive now are those of a link's first moments."""
        if self._kept_until is None:
            return False
        kept = now < self._kept_until
        if not kept or self._kept_until == inf:
            self._kept_until = None
        return kept

    def _hear(
        self, data: bytes, now: float, readings: list[AnyReading], *, kept: bool = False
    ) -> None:
        frames = self._codec.counters.frames
        own = self._own()
        try:
            if kept and self._judges_kept is not None:
                self._judges_kept.kept(now)
            heard = feed(self._codec, data, now)
        except Exception as error:
            with suppress(Exception):
                self._codec.reconnected(now)
            defect = CodecDefectError(data, error)
            defect.readings = readings
            raise defect from error
        if kept:
            heard = [_marked_late(reading) for reading in heard]
        if self._codec.counters.frames > frames:
            self.last_frame = now
            self._quiet_from(now)
            self.state = "up"
            self._failing, self._opened_at = False, None
            if self._reported != "up":
                self._reported = "up"
                before = list(takewhile(lambda reading: isinstance(reading, LinkGarbage), heard))
                heard = [*before, LinkUp(at=now, device=self._device), *heard[len(before) :]]
        elif data:
            if not self._noise:
                self._noise_began = now
            self._noise += len(data) - (self._own() - own)
            self._noise_ended = now
        readings += self._garbage.pass_on(heard, now)

    def _own(self) -> int:
        return 0 if self._asks is None else self._asks.own

    def _overlook(self, since: float, now: float) -> None:
        """Time in which nobody looked is neither silence nor noise. Counted once, however many
        chunks were read after it.
        """
        self._latest = max(self._latest, now)
        length = max(0.0, now - max(since, self._overlooked))
        self._overlooked = max(self._overlooked, now)
        if self._quiet_since is not None:
            self._quiet_since += length
        self._noise_began += length
        self._noise_ended += length
        if isinstance(self._codec, DelayAware):
            self._codec.delayed(since, now)

    def _quiet_from(self, now: float) -> None:
        self._quiet_since = now
        self._noise, self._noise_began, self._noise_ended = 0, 0.0, 0.0

    def _verdict_due(self) -> float | None:
        """When silence or noise has to be reported if no valid frame arrives before."""
        if self._quiet_since is None:
            return None
        if self._codec.steady and self.state in {"connecting", "up"}:
            return self._quiet_since + self._stale_after
        if self._codec.steady and self.state == "unintelligible":
            return self._noise_ended + self._stale_after
        if self._noise >= UNINTELLIGIBLE_BYTES and self.state != "unintelligible":
            return max(self._noise_began + self._stale_after, self._noise_ended)
        return None

    def _judge(self, now: float) -> AnyReading:
        """No valid frame arrived in time: decide whether that is silence or noise."""
        assert self._quiet_since is not None
        if self.state != "unintelligible" and self._noise >= UNINTELLIGIBLE_BYTES:
            self.state = self._reported = "unintelligible"
            # Only a full silence from here on makes it stale, not one counted from the last byte.
            self._noise_ended = now
            return LinkUnintelligible(at=now, device=self._device, bytes=self._noise)
        self.state = self._reported = "stale"
        self._noise = 0
        return LinkStale(at=now, device=self._device, age=now - self._quiet_since)


def _marked_late(reading: AnyReading) -> AnyReading:
    """The reading marked as late, if it is of a kind that can be."""
    return replace(reading, late=True) if isinstance(reading, MaybeLate) else reading
