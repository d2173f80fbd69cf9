"""The device during an acceptance: its driver without a table, and its bytes in a recording."""

from __future__ import annotations

import queue
import threading
import time
from typing import NamedTuple

from controller.commissioning.plan import result_of
from devices.codec import Codec, RequestingCodec
from devices.links import Link, LinkFailedError, open_link
from devices.readings import AnyReading, LinkLost
from devices.recording import ClockedWriter, RecordingWriter
from devices.recording_lines import LINK_OPENED
from devices.watch import CodecDefectError, Watch

LOOK = 0.05
"""Seconds of one read."""
AGAIN = 0.5
"""Seconds before a lost link is opened again."""


class Heard(NamedTuple):
    """A reading, and how long it took: milliseconds from the arrival of its bytes."""

    reading: AnyReading
    ms: float


class Listening:
    """Reads one device until it is closed. ``watch`` belongs to its thread."""

    def __init__(
        self, url: str, codec: Codec, device: str, stale_after: float, recorder: RecordingWriter
    ) -> None:
        self.facts: dict[str, str] = {}
        self.trouble: str | None = None
        self._url, self._codec, self._recorder = url, codec, recorder
        self._clocked = ClockedWriter(recorder)
        self._watch = Watch(codec, device, stale_after)
        self._gap = ""  # a remark for the recording: what comes next continues nothing
        self._device = device
        self._heard: queue.Queue[Heard] = queue.Queue()
        self._ended = threading.Event()
        self._link: Link | None = None
        self._thread = threading.Thread(target=self._run, name="commission", daemon=True)

    def start(self) -> None:
        """Open the device. Raises :class:`LinkFailedError`."""
        self._open()
        self._thread.start()

    def close(self) -> None:
        """Release the device and end the recording."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()
        if self._link is not None:
            self._link.close()
        self._recorder.close()

    def next(self, seconds: float) -> Heard | None:
        """The next reading, if one comes in time."""
        try:
            return self._heard.get(timeout=max(0.0, seconds)) if seconds else self._heard.get(False)
        except queue.Empty:
            return None

    def forget(self) -> None:
        """Drop what was said so far."""
        while self.next(0) is not None:
            pass

    def results(self, seconds: float) -> list[tuple[str, float]]:
        """The results told since the last call; waits so long for the first one."""
        found: list[tuple[str, float]] = []
        until = time.monotonic() + seconds
        while (
            heard := self.next(0 if found else max(0.001, until - time.monotonic()))
        ) is not None or (not found and time.monotonic() < until):
            if heard is not None and (told := result_of(heard.reading)) is not None:
                found.append((told, heard.ms))
        return found

    def _open(self) -> None:
        self._link = open_link(self._url)
        self.facts = self._link.describe()
        self._give(self._watch.opened(time.monotonic(), kept=True), time.monotonic())
        self._polls = [(time.monotonic(), every, data) for every, data in self._codec.polls()]

    def _run(self) -> None:
        while not self._ended.is_set():
            try:
                if self._link is None:
                    self._open()
                    self._gap = LINK_OPENED
                self._serve()
            except LinkFailedError as failure:
                if self._link is not None:
                    self._link.close()
                    self._link = None
                now = time.monotonic()
                self._give(self._watch.lost(now, str(failure)), now)
                self._ended.wait(AGAIN)
            except OSError as error:  # the recording cannot be written: nothing is proved any more
                self.trouble = f"the recording cannot be written: {error.strerror or error}"
                now = time.monotonic()
                self._give([LinkLost(at=now, device=self._device, reason=self.trouble)], now)
                return

    def _serve(self) -> None:
        assert self._link is not None
        now = time.monotonic()
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
            self._keep(data, time.monotonic(), sent=True)
        asks = isinstance(self._codec, RequestingCodec)
        data = self._link.read(LOOK / 10 if asks else LOOK)
        arrived = time.monotonic()
        if data:
            self._keep(data, arrived)
        readings: list[AnyReading] = []
        try:
            readings += self._watch.tick(arrived)
            readings += self._watch.receive(data, arrived)
        except CodecDefectError as defect:
            readings += defect.readings
            self.trouble = f"defect in the driver: {defect}"
        self._give(readings, arrived)

    def _keep(self, data: bytes, at: float, *, sent: bool = False) -> None:
        gap, self._gap = self._gap, ""
        self._clocked.write(at, time.time(), data, sent, gap)

    def _give(self, readings: list[AnyReading], arrived: float) -> None:
        for reading in readings:
            ms = round((time.monotonic() - arrived) * 1000, 3)
            self._heard.put(Heard(reading, ms))
