"""Reads the device during an acceptance, without a table, and records its bytes."""

from __future__ import annotations

import queue
import threading
from typing import NamedTuple

from common import clock
from common.readings import AnyReading, LinkLost
from controller.commissioning.plan import result_of
from devices.codec import Codec, RequestingCodec
from devices.links import Link, LinkFailedError, open_link
from devices.recording_lines import LINK_OPENED
from devices.recording_writer import ClockedWriter, RecordingWriter
from devices.watch import CodecDefectError, Watch

READ_SECONDS = 0.05
"""Maximum seconds of one read."""
REOPEN_DELAY_SECONDS = 0.5
"""Seconds before a lost link is reopened."""


class TimedReading(NamedTuple):
    """A reading, and the milliseconds from the arrival of its bytes to the reading."""

    reading: AnyReading
    ms: float


class DeviceListener:
    """Reads one device in a thread until closed. Only that thread uses ``_watch``."""

    def __init__(
        self, url: str, codec: Codec, device: str, stale_after: float, recorder: RecordingWriter
    ) -> None:
        self.facts: dict[str, str] = {}
        self.trouble: str | None = None
        self._url, self._codec, self._recorder = url, codec, recorder
        self._clocked = ClockedWriter(recorder)
        self._watch = Watch(codec, device, stale_after)
        self._gap = ""  # a remark for the recording: the next bytes do not continue the last ones
        self._device = device
        self._readings: queue.Queue[TimedReading] = queue.Queue()
        self._closed = threading.Event()
        self._link: Link | None = None
        self._thread = threading.Thread(target=self._run, name="commission", daemon=True)

    def start(self) -> None:
        """Open the device. Raises :class:`LinkFailedError`."""
        self._open()
        self._thread.start()

    def close(self) -> None:
        """Release the device and close the recording."""
        self._closed.set()
        if self._thread.is_alive():
            self._thread.join()
        if self._link is not None:
            self._link.close()
        self._recorder.close()

    def next(self, seconds: float) -> TimedReading | None:
        """Return the next reading, or None after a timeout."""
        try:
            return (
                self._readings.get(timeout=max(0.0, seconds))
                if seconds
                else self._readings.get(False)
            )
        except queue.Empty:
            return None

    def forget(self) -> None:
        """Drop all readings received so far."""
        while self.next(0) is not None:
            pass

    def results(self, seconds: float) -> list[tuple[str, float]]:
        """Return the results since the last call; wait up to ``seconds`` for the first one."""
        results: list[tuple[str, float]] = []
        until = clock.monotonic() + seconds
        while (
            received := self.next(0 if results else max(0.001, until - clock.monotonic()))
        ) is not None or (not results and clock.monotonic() < until):
            if received is not None and (value := result_of(received.reading)) is not None:
                results.append((value, received.ms))
        return results

    def _open(self) -> None:
        self._link = open_link(self._url)
        self.facts = self._link.describe()
        self._queue(self._watch.opened(clock.monotonic(), kept=True), clock.monotonic())
        self._polls = [(clock.monotonic(), every, data) for every, data in self._codec.polls()]

    def _run(self) -> None:
        while not self._closed.is_set():
            try:
                if self._link is None:
                    self._open()
                    self._gap = LINK_OPENED
                self._serve()
            except LinkFailedError as failure:
                if self._link is not None:
                    self._link.close()
                    self._link = None
                now = clock.monotonic()
                self._queue(self._watch.lost(now, str(failure)), now)
                self._closed.wait(REOPEN_DELAY_SECONDS)
            except OSError as error:  # without a recording the acceptance proves nothing
                self.trouble = f"the recording cannot be written: {error.strerror or error}"
                now = clock.monotonic()
                self._queue([LinkLost(at=now, device=self._device, reason=self.trouble)], now)
                return

    def _serve(self) -> None:
        assert self._link is not None
        now = clock.monotonic()
        due = [data for at, _, data in self._polls if at <= now]
        self._polls = [
            (now + every if at <= now else at, every, data)
            for at, every, data in self._polls
            if at > now or every > 0
        ]
        if request := self._watch.take_request():
            due.append(request)
        for data in due:
            self._link.write(data)
            self._record(data, clock.monotonic(), sent=True)
        asks = isinstance(self._codec, RequestingCodec)
        data = self._link.read(READ_SECONDS / 10 if asks else READ_SECONDS)
        arrived = clock.monotonic()
        if data:
            self._record(data, arrived)
        readings: list[AnyReading] = []
        try:
            readings += self._watch.tick(arrived)
            readings += self._watch.receive(data, arrived)
        except CodecDefectError as defect:
            readings += defect.readings
            self.trouble = f"bug in the driver: {defect}"
        self._queue(readings, arrived)

    def _record(self, data: bytes, at: float, *, sent: bool = False) -> None:
        gap, self._gap = self._gap, ""
        self._clocked.write(at, clock.wall(), data, sent, gap)

    def _queue(self, readings: list[AnyReading], arrived: float) -> None:
        for reading in readings:
            ms = round((clock.monotonic() - arrived) * 1000, 3)
            self._readings.put(TimedReading(reading, ms))
