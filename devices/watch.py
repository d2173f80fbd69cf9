"""The watch over one device: whether it is heard, and the one place that decides it.

Pure: no clock, no I/O. Live, the supervisor feeds it what the reader stamped; in replay, a
recording with its own times; so both come to the same readings. Time must not go back.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Literal

from devices.babble import GarbageSummary
from devices.codec import Codec
from devices.errors import NovamasError
from devices.readings import AnyReading, LinkLost, LinkOpen, LinkStale, LinkUnintelligible, LinkUp

State = Literal["connecting", "up", "stale", "unintelligible", "lost"]
"""``connecting``: opened, nothing heard yet; ``up``: frames come; ``stale``: none for too long;
``unintelligible``: bytes come but no frame is among them; ``lost``: closed.
"""

NOISE = 64
"""Bytes without a frame that make a device unintelligible. Longer than any frame we know, so half a
frame is never enough.
"""


class CodecDefectError(NovamasError):
    """A codec raised an exception, which none may. It has been told to start afresh; the watch goes
    on.

    ``data``: the bytes it was given. ``readings``: what was read before, in the same call.
    """

    def __init__(self, data: bytes, error: Exception) -> None:
        super().__init__(f"{type(error).__name__}: {error}")
        self.data = data
        self.readings: list[AnyReading] = []


class Watch:
    """A codec, and what its frames say about the link. Every state is told once, when it begins.

    ``stale_after``: seconds without a valid frame. The silence of a device that is not steady is
    none, only noise is told.
    """

    def __init__(self, codec: Codec, device: str, stale_after: float) -> None:
        self.state: State = "connecting"
        self.last_frame: float | None = None
        self._codec = codec
        self._device = device
        self._stale_after = stale_after
        self._opened_before = False
        self._told: State | None = None
        self._latest = float(
            "-inf"
        )  # the last time that was seen: what is told never goes back behind it
        self._quiet_since: float | None = None  # the last frame, or the opening; None while closed
        self._noise = 0  # bytes since then
        self._noise_began = 0.0
        self._noise_ended = 0.0
        self._babble = GarbageSummary()

    @property
    def deadline(self) -> float | None:
        """The time at which :meth:`tick` wants to be called though no byte came, or None."""
        times = [
            time
            for time in (self._codec.deadline, self._verdict_due(), self._babble.due)
            if time is not None
        ]
        return min(times, default=None)

    def opened(self, now: float) -> list[AnyReading]:
        """The link is open. Of a steady device nothing is told before something is heard, or is
        not; of another it may be long until something is heard, and an open port is no proof that
        it lives, so that is what is told.
        """
        if self._opened_before:
            self._codec.reconnected(now)
        self._opened_before = True
        self._latest = max(self._latest, now)
        self.state = "connecting"
        self._quiet_from(now)
        if self._codec.steady or self._told == "connecting":
            return []
        self._told = "connecting"
        return [LinkOpen(at=now, device=self._device)]

    def feed(self, data: bytes, now: float) -> list[AnyReading]:
        """Take bytes that arrived at ``now``, after whatever was due before them. Raises
        :class:`CodecDefectError`.
        """
        readings = self.tick(now)
        if data:
            self._hear(data, now, readings)
        return readings

    def hear(self, data: bytes, now: float) -> list[AnyReading]:
        """Take bytes that arrived at ``now``; what was due before them was told by :meth:`tick`.
        Raises :class:`CodecDefectError`.
        """
        readings: list[AnyReading] = []
        if data:
            self._hear(data, now, readings)
        return readings

    def tick(self, now: float) -> list[AnyReading]:
        """Everything that was due until ``now``, each with the time at which it was due. Raises
        :class:`CodecDefectError`.
        """
        readings: list[AnyReading] = []
        while (due := self.deadline) is not None and due <= now:
            self._latest = max(self._latest, due)
            if due == self._verdict_due():
                readings += self._babble.pass_on([self._judge(self._latest)], self._latest)
                continue
            if due == self._babble.due:
                readings += self._babble.tell(self._latest)
                continue
            self._hear(b"", self._latest, readings)
            if self._codec.deadline is not None and self._codec.deadline <= due:
                break  # a codec that does not move on must not keep us here
        self._latest = max(self._latest, now)
        return readings

    def lost(self, now: float, reason: str) -> list[AnyReading]:
        """The link is closed, or could not be opened. Raises :class:`CodecDefectError`, as
        :meth:`tick` does.
        """
        readings = [*self.tick(now), *self._babble.tell(now)]
        self.state = "lost"
        self._quiet_since = None
        if self._told != "lost":
            self._told = "lost"
            readings.append(LinkLost(at=now, device=self._device, reason=reason))
        return readings

    def rest(self) -> list[AnyReading]:
        """At the end of a recording: garbage that waits to be told."""
        return self._babble.tell(self._latest)

    def _hear(self, data: bytes, now: float, readings: list[AnyReading]) -> None:
        frames = self._codec.counters.frames
        try:
            heard = self._codec.feed(data, now)
        except Exception as error:
            with suppress(Exception):
                self._codec.reconnected(now)
            defect = CodecDefectError(data, error)
            defect.readings = readings
            raise defect from error
        if self._codec.counters.frames > frames:
            self.last_frame = now
            self._quiet_from(now)
            self.state = "up"
            if self._told != "up":
                self._told = "up"
                heard = [LinkUp(at=now, device=self._device), *heard]
        elif data:
            if not self._noise:
                self._noise_began = now
            self._noise += len(data)
            self._noise_ended = now
        readings += self._babble.pass_on(heard, now)

    def _quiet_from(self, now: float) -> None:
        self._quiet_since = now
        self._noise = 0

    def _verdict_due(self) -> float | None:
        """When the silence, or the noise, has to be told if no frame comes before."""
        if self._quiet_since is None:
            return None
        if self._codec.steady and self.state in {"connecting", "up"}:
            return self._quiet_since + self._stale_after
        if self._codec.steady and self.state == "unintelligible":
            return self._noise_ended + self._stale_after
        if self._noise >= NOISE and self.state != "unintelligible":
            return max(self._noise_began + self._stale_after, self._noise_ended)
        return None

    def _judge(self, now: float) -> AnyReading:
        """No frame came in time: decide what that means."""
        assert self._quiet_since is not None
        if self.state != "unintelligible" and self._noise >= NOISE:
            self.state = self._told = "unintelligible"
            self._noise_ended = (
                now  # a full silence from here on, not from the last byte, makes it stale
            )
            return LinkUnintelligible(at=now, device=self._device, bytes=self._noise)
        self.state = self._told = "stale"
        self._noise = 0
        return LinkStale(at=now, device=self._device, age=now - self._quiet_since)
