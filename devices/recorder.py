"""Records the bytes to and from devices. One thread writes all recordings, up to a second after the
bytes were processed.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress

import msgspec

from devices.recording_lines import MAX_RUN_PAUSE_SECONDS
from devices.recording_writer import MIN_CLOCK_STEP_SECONDS, ClockedWriter, RecordingWriter

WRITE_DELAY_SECONDS = 0.9
"""Time for which chunks are gathered before they are written, so that not every line wakes the
thread and is a write of its own. Documented is a second, which leaves a tenth for writing.
"""
MAX_QUEUED_CHUNKS = 1024
"""Maximum number of chunks of one recording that may wait for a slow disk. Later ones are not
recorded, and a remark in the recording gives their number.
"""
MAX_RUN_BYTES = 256
"""Maximum bytes in one line of the recording, unless they were read at once: a few frames."""
CLOSE_TIMEOUT_SECONDS = 2.0
"""Maximum time for which closing waits for the disk."""


class _QueuedChunk(msgspec.Struct, frozen=True, gc=False):
    """A chunk to be written. ``read``: when it was read, by a monotonic clock. ``gap``: a remark to
    write before it.
    """

    at: float
    read: float
    data: bytes
    sent: bool
    gap: str


class DeviceRecorder:
    """The recording of one device.

    A failed recording never disturbs the device: ``report`` gets one line (in any thread), and None
    once it works again; a remark in the recording gives the number of missing chunks.
    """

    def __init__(
        self, writer: RecordingWriter, report: Callable[[str | None], None] = lambda _: None
    ) -> None:
        writer.gathers = True
        self._writer = writer
        self._clocked = ClockedWriter(writer)
        self._report = report
        self._queue: deque[_QueuedChunk | int] = (
            deque()
        )  # a number: this many chunks are missing here
        self._dropped = 0  # chunks dropped since the last one that was queued
        self._missing = 0  # chunks lost since the last one that was written
        self._failing = False
        self._state_lock = threading.Lock()
        self._closing = False
        self._closed = threading.Event()
        THREAD.add(self)

    def enqueue(
        self,
        at: float,
        data: bytes,
        *,
        sent: bool = False,
        read: float | None = None,
        gap: str = "",
    ) -> None:
        """Queue a chunk. ``at``: seconds since 1970; ``read``: the same moment by a monotonic
        clock; ``gap``: a remark to write before it.
        """
        if len(self._queue) >= MAX_QUEUED_CHUNKS:
            self._dropped += 1
            self._report_state("the disk is too slow")
            return
        if self._dropped:
            self._queue.append(self._dropped)
            self._dropped = 0
        self._queue.append(_QueuedChunk(at, at if read is None else read, data, sent, gap))
        THREAD.wake(now=len(self._queue) >= MAX_QUEUED_CHUNKS // 2)

    def close(self) -> None:
        """Write the queued chunks and close the file; blocks for two seconds at most. If the disk
        takes longer, the thread writes the rest when it responds.
        """
        self._closing = True
        THREAD.wake(now=True)
        self._closed.wait(CLOSE_TIMEOUT_SECONDS)

    def write_queued(self) -> bool:
        """Write the queued chunks with one system call; return whether the recording is closed.
        Called by the thread only.
        """
        closing = self._closing
        if self._queue:
            self._write_all()
        if not closing:
            return False
        self._missing += self._dropped
        try:
            self._remark()
            self._writer.close()
        except OSError as error:
            self._report_state(str(error))
        self._closed.set()
        return True

    def _write_all(self) -> None:
        works = True
        while self._queue:
            item = self._queue.popleft()
            if isinstance(item, int):
                self._missing += item
            else:
                works &= self._write([item, *self._rest_of_run(item)])
        try:
            self._writer.release()
        except OSError as error:
            self._missing += self._writer.pop_lost()
            self._report_state(str(error))
        else:
            if works and not self._dropped:
                self._report_state(None)

    def _rest_of_run(self, first: _QueuedChunk) -> Iterator[_QueuedChunk]:
        """Take the queued chunks that belong to the same line."""
        last, size = first, len(first.data)
        while self._queue:
            item = self._queue[0]
            if isinstance(item, int) or not _continues(item, first, last):
                return
            if (size := size + len(item.data)) > MAX_RUN_BYTES:
                return
            yield item
            self._queue.popleft()
            last = item

    def _write(self, run: list[_QueuedChunk]) -> bool:
        """Give a run to the writer, which gathers it; return whether it could."""
        first = run[0]
        try:
            self._remark()
            if len(run) == 1:
                self._clocked.write(first.read, first.at, first.data, first.sent, first.gap)
            else:
                self._clocked.write_run(first.at, [(item.read, item.data) for item in run])
        except Exception as error:  # must not stop the other recordings
            self._missing += len(run) + self._writer.pop_lost()
            self._report_state(str(error))
            return False
        return True

    def _remark(self) -> None:
        if self._missing:
            self._writer.remark(f"{self._missing} chunks are missing here", self._missing)
            self._missing = 0

    def _report_state(self, failure: str | None) -> None:
        """Report the first failure, and the first success after it."""
        with self._state_lock:
            was_failing, self._failing = self._failing, failure is not None
        if self._failing != was_failing:
            with suppress(Exception):  # must not stop the other recordings
                self._report(None if failure is None else f"not recorded: {failure}")


def _continues(item: _QueuedChunk, first: _QueuedChunk, last: _QueuedChunk) -> bool:
    """Whether a chunk belongs to the line that begins with ``first`` and ends with ``last``."""
    return (
        not (item.sent or first.sent or item.gap or first.gap)
        and type(item.data) is type(first.data) is bytes
        and 0 <= item.read - last.read <= MAX_RUN_PAUSE_SECONDS
        and abs((item.at - item.read) - (first.at - first.read)) < MIN_CLOCK_STEP_SECONDS
    )


class RecordingThread:
    """The thread that writes all recordings. It runs while there is any."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._recorders: list[DeviceRecorder] = []
        self._has_chunks = threading.Event()
        self._write_now = threading.Event()

    def add(self, recorder: DeviceRecorder) -> None:
        """Add a recording; it is removed once it is closed."""
        with self._lock:
            self._recorders.append(recorder)
            if len(self._recorders) == 1:
                threading.Thread(target=self._run, name="recorder", daemon=True).start()

    def wake(self, *, now: bool) -> None:
        """Wake the thread because chunks are queued. ``now``: write them without gathering more."""
        if now:
            self._write_now.set()
        if not self._has_chunks.is_set():
            self._has_chunks.set()

    def _run(self) -> None:
        while True:
            self._has_chunks.wait()
            self._write_now.wait(WRITE_DELAY_SECONDS)
            self._has_chunks.clear()
            self._write_now.clear()
            closed = [recorder for recorder in list(self._recorders) if recorder.write_queued()]
            with self._lock:
                self._recorders = [
                    recorder for recorder in self._recorders if recorder not in closed
                ]
                if not self._recorders:
                    return


THREAD = RecordingThread()
