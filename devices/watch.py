"""The watch over one device: the only place that decides whether the device is alive.

Pure: no clock, no I/O. Live, the supervisor passes in the times of the reader; in replay, the times
come from the recording. Both give the same readings. Time must not go back.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import takewhile
from math import inf

from msgspec.structs import replace

from common.device_health import State
from common.errors import NovamasError
from common.readings import (
    AnyReading,
    LinkGarbage,
    LinkLost,
    LinkOpen,
    LinkStale,
    LinkUnintelligible,
    LinkUp,
    MaybeLate,
)
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
from devices.garbage import GarbageSummary

UNINTELLIGIBLE_BYTES = 64
"""Number of bytes without a valid frame that make a device unintelligible: more than the longest
known frame, so half a frame is never enough.
"""


UNINTELLIGIBLE_ADVICE = "bytes but no valid frame; check the baud rate and the driver"
"""Description of such a device, to follow the number of bytes."""


class CodecDefectError(NovamasError):
    """A codec raised an exception, which is a bug. The codec was reset, and the watch continues.

    ``data``: the bytes it was fed. ``readings``: those decoded earlier in the same call.
    """

    def __init__(self, data: bytes, error: Exception) -> None:
        super().__init__(f"{type(error).__name__}: {error}")
        self.data = data
        self.readings: list[AnyReading] = []


class Watch:
    """Combines a codec with the state of its link. Each state is reported once, when it begins.

    ``stale_after``: seconds without a valid frame after which the device is stale. For a device
    that is not steady, silence is normal and only noise is reported.
    """

    def __init__(self, codec: Codec, device: str, stale_after: float) -> None:
        self.state: State = "connecting"
        self.last_frame: float | None = None
        self._codec = codec
        self._requesting = codec if isinstance(codec, RequestingCodec) else None
        self._kept_aware = codec if isinstance(codec, KeptBytesAware) else None
        self._delay_aware = codec if isinstance(codec, DelayAware) else None
        self._request = b""
        self._device = device
        self._stale_after = stale_after
        self._opened_before = False
        self._opened_at: float | None = None  # None once a frame has arrived
        self._failing = False  # the latest connection ended before it was stable
        # until when bytes count as kept; None: they do not
        self._kept_until: float | None = None
        self._gap_end = float("-inf")  # end of the last period in which the port was not polled
        self._reported: State | None = None
        # the latest time seen; reported times are never earlier
        self._latest = float("-inf")
        self._quiet_since: float | None = (
            None  # the last valid frame, or the opening; None while closed
        )
        self._noise = 0  # bytes since then without a valid frame
        self._noise_began = 0.0
        self._noise_ended = 0.0
        self._garbage = GarbageSummary()
        # the deadline, once it is computed after a call that can have changed it
        self._due: float | None = None
        self._due_known = False

    @property
    def deadline(self) -> float | None:
        """When to call :meth:`tick` even if no byte arrives, or None."""
        if not self._due_known:
            self._due, self._due_known = self._soonest(self._codec.deadline), True
        return self._due

    def _soonest(self, codec_due: float | None) -> float | None:
        verdict_due, garbage_due = self._verdict_due(), self._garbage.due
        if codec_due is None and garbage_due is None and not self._failing:
            return verdict_due  # as at nearly every arrival
        times = (codec_due, verdict_due, garbage_due, self._open_due())
        return min((due for due in times if due is not None), default=None)

    def opened(self, now: float, *, kept: bool = False) -> list[AnyReading]:
        """Handle the opening of the link. A steady device is reported once it sends, or has been
        silent for too long. Any other device may be silent for a long time, and an open port does
        not prove that it works, so only the opening is reported; after a connection that ended at
        once, only when this one is stable.

        ``kept``: the first bytes may have been kept for any time, or be a device server's own text,
        as on every link that is really opened: they are not live. False for a link that was already
        open for an unknown time, and in journals of older releases.
        """
        self._due_known = False
        if self._opened_before:
            self._codec.reconnected(now)
        if kept and isinstance(self._codec, GreetingAware):
            self._codec.opened(now)
        self._opened_before = True
        self._opened_at = now if kept else None
        self._kept_until = self._kept_end(now) if kept else None
        self._latest = max(self._latest, now)
        self.state = "connecting"
        self._restart_silence(now)
        return [] if self._failing else self._report_open(now)

    def _report_open(self, now: float) -> list[AnyReading]:
        self._failing = False
        if self._codec.steady or self._reported == "connecting":
            return []
        self._reported = "connecting"
        return [LinkOpen(at=now, device=self._device)]

    def _open_due(self) -> float | None:
        """When the link will be stable, if that is still to be reported."""
        return (
            self._opened_at + STABLE_LINK_SECONDS
            if self._failing and self._opened_at is not None
            else None
        )

    def feed(self, data: bytes, now: float) -> list[AnyReading]:
        """Feed bytes that arrived at ``now``, after everything that was due before. Raises
        :class:`CodecDefectError`.
        """
        readings: list[AnyReading] = []
        # a recording has no delay of this process: requests that were due were sent in time
        while self._requesting is not None and (due := self.deadline) is not None and due < now:
            readings += self.tick(max(due, self._latest))
            if self.deadline is not None and self.deadline <= due:
                break
        readings += self.tick(now)
        self._due_known = False
        if data:
            self._decode(data, now, readings, kept=self._is_kept(now))
        return readings

    def receive(
        self, data: bytes, now: float, since: float | None = None, *, kept: bool = False
    ) -> list[AnyReading]:
        """Feed bytes that arrived at ``now``, or at an unknown time from ``since`` to ``now``; call
        :meth:`tick` with the earlier time first. ``kept``: they may have been kept for any time
        before. Raises :class:`CodecDefectError`.
        """
        self._due_known = False
        readings: list[AnyReading] = []
        if since is None:
            if now == self._gap_end and self._delay_aware is not None:
                # read within the same tick of the clock as bytes that waited; these did not wait
                self._delay_aware.delayed(now, now)
            self._gap_end = float("-inf")
        else:
            self._exclude_gap(since, now)
        if data:
            if self._kept_until is not None:
                kept = self._is_kept(now if since is None else since) or kept
            self._decode(data, now, readings, kept=kept)
        return readings

    def tick(self, now: float) -> list[AnyReading]:
        """Return everything that was due until ``now``, each with its due time. Raises
        :class:`CodecDefectError`.
        """
        readings: list[AnyReading] = []
        if self._requesting is None and ((due := self.deadline) is None or due > now):
            self._latest = max(self._latest, now)
            return readings  # as at nearly every arrival
        self._due_known = False
        closed = self._quiet_since is None
        # a requesting codec has nothing to wait for while the link is closed
        codec_due = None if closed and self._requesting is not None else self._codec.deadline
        while (due := self._soonest(codec_due)) is not None and due <= now:
            self._latest = max(self._latest, due)
            if due == self._verdict_due():
                readings += self._garbage.pass_on(
                    [self._report_verdict(self._latest)], self._latest
                )
                continue
            if due == self._garbage.due:
                readings += self._garbage.release(self._latest)
                continue
            if due == self._open_due():
                readings += self._report_open(self._latest)
                continue
            self._decode(b"", self._latest, readings)
            codec_due = self._codec.deadline
            if codec_due is not None and codec_due <= due:
                if self._requesting is None:
                    break  # a codec whose deadline does not advance must not loop here
                codec_due = None  # it will send its request below
        self._latest = max(self._latest, now)
        if self._requesting is not None and not closed:
            # one request only, however many were due: missed requests are not made up for
            self._request = self._requesting.ask(self._latest) or self._request
        return readings

    def take_request(self) -> bytes:
        """Return and clear the codec's request since the last call; empty: none."""
        request, self._request = self._request, b""
        return request

    def lost(self, now: float, reason: str) -> list[AnyReading]:
        """Handle a link that was closed or could not be opened. Raises :class:`CodecDefectError`,
        as :meth:`tick` does.
        """
        readings = [*self.tick(now), *self._garbage.release(now)]
        if self._quiet_since is not None:
            self._failing = (
                self._opened_at is not None and now - self._opened_at < STABLE_LINK_SECONDS
            )
            self._opened_at = None
        self._due_known = False
        self.state = "lost"
        self._quiet_since = None
        if self._reported != "lost":
            self._reported = "lost"
            readings.append(LinkLost(at=now, device=self._device, reason=reason))
        return readings

    def flush(self) -> list[AnyReading]:
        """Return held garbage at the end of a recording."""
        self._due_known = False
        return self._garbage.release(self._latest)

    def _kept_end(self, now: float) -> float:
        """Until when bytes on a link opened now count as kept. Infinity: until the first bytes."""
        opening = OPENING_SECONDS if self._kept_aware is None else self._kept_aware.opening
        return inf if opening is None else now + opening

    def _is_kept(self, now: float) -> bool:
        """Whether bytes that arrive now count as kept since the link was opened."""
        if self._kept_until is None:
            return False
        kept = now < self._kept_until
        if not kept or self._kept_until == inf:
            self._kept_until = None
        return kept

    def _decode(
        self, data: bytes, now: float, readings: list[AnyReading], *, kept: bool = False
    ) -> None:
        codec = self._codec
        frames = codec.counters.frames
        own_bytes = 0 if self._requesting is None else self._requesting.own
        try:
            if kept and self._kept_aware is not None:
                self._kept_aware.kept(now)
            decoded = feed(codec, data, now)
        except Exception as error:
            with suppress(Exception):
                codec.reconnected(now)
            defect = CodecDefectError(data, error)
            defect.readings = readings
            raise defect from error
        if kept:
            decoded = [_marked_late(reading) for reading in decoded]
        if codec.counters.frames > frames:
            self.last_frame = now
            self._restart_silence(now)
            self.state = "up"
            self._failing, self._opened_at = False, None
            if self._reported != "up":
                self._reported = "up"
                before = list(takewhile(lambda reading: isinstance(reading, LinkGarbage), decoded))
                decoded = [*before, LinkUp(at=now, device=self._device), *decoded[len(before) :]]
        elif data:
            if not self._noise:
                self._noise_began = now
            self._noise += len(data)
            if self._requesting is not None:
                self._noise -= self._requesting.own - own_bytes
            self._noise_ended = now
        readings += self._garbage.pass_on(decoded, now)

    def _exclude_gap(self, since: float, now: float) -> None:
        """Exclude a period in which the port was not polled from silence and noise. It is counted
        once, however many chunks were read after it.
        """
        self._latest = max(self._latest, now)
        length = max(0.0, now - max(since, self._gap_end))
        self._gap_end = max(self._gap_end, now)
        if self._quiet_since is not None:
            self._quiet_since += length
        self._noise_began += length
        self._noise_ended += length
        if self._delay_aware is not None:
            self._delay_aware.delayed(since, now)

    def _restart_silence(self, now: float) -> None:
        self._quiet_since = now
        self._noise, self._noise_began, self._noise_ended = 0, 0.0, 0.0

    def _verdict_due(self) -> float | None:
        """When silence or noise must be reported if no valid frame arrives before."""
        if self._quiet_since is None:
            return None
        if self._codec.steady and self.state in {"connecting", "up"}:
            return self._quiet_since + self._stale_after
        if self._codec.steady and self.state == "unintelligible":
            return self._noise_ended + self._stale_after
        if self._noise >= UNINTELLIGIBLE_BYTES and self.state != "unintelligible":
            return max(self._noise_began + self._stale_after, self._noise_ended)
        return None

    def _report_verdict(self, now: float) -> AnyReading:
        """Decide, if no valid frame arrived in time, whether that is silence or noise."""
        assert self._quiet_since is not None
        if self.state != "unintelligible" and self._noise >= UNINTELLIGIBLE_BYTES:
            self.state = self._reported = "unintelligible"
            # only a full silence from now on makes it stale, not one counted from the last byte
            self._noise_ended = now
            return LinkUnintelligible(at=now, device=self._device, bytes=self._noise)
        self.state = self._reported = "stale"
        self._noise = 0
        return LinkStale(at=now, device=self._device, age=now - self._quiet_since)


def _marked_late(reading: AnyReading) -> AnyReading:
    """Mark a reading as late, if it has that field."""
    return replace(reading, late=True) if isinstance(reading, MaybeLate) else reading
