"""Records any link: bytes are recorded before anything tries to decode them."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable

from devices.links.link import Link
from devices.recording import Chunk, RecordingWriter

MOST_WAITING = 1024
"""Chunks that may wait for a slow disk. Later ones are not recorded, and the recording says so."""


class RecordedLink:
    """A link whose chunks are recorded by a separate thread, so that a slow disk delays no byte.

    A failed recording never disturbs the link: ``report`` gets one line (in any thread), and None
    once it works again; a remark in the recording gives the number of missing chunks. ``clock``
    gives the times between chunks.
    """

    def __init__(
        self,
        link: Link,
        writer: RecordingWriter,
        report: Callable[[str | None], None] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._link = link
        self._writer = writer
        self._report = report
        self._clock = clock
        # Setting the system clock must not move chunks against each other.
        self._since_1970 = time.time() - clock()
        self._waiting: queue.Queue[Chunk | None] = queue.Queue(MOST_WAITING)
        self._missing = 0
        self._failing = False
        self._counting = threading.Lock()
        self._thread = threading.Thread(target=self._record, name="recorder", daemon=True)
        self._thread.start()

    def read(self, timeout: float) -> bytes:
        """See :class:`devices.links.link.Link`."""
        data = self._link.read(timeout)
        if data:
            self._keep(data, sent=False)
        return data

    def write(self, data: bytes) -> None:
        """See :class:`devices.links.link.Link`. Recorded even if it fails: part of it may have been
        sent.
        """
        self._keep(data, sent=True)
        self._link.write(data)

    def close(self) -> None:
        """See :class:`devices.links.link.Link`. First writes queued chunks, for at most two
        seconds.
        """
        self._link.close()
        try:
            self._waiting.put(None, timeout=1)
        except queue.Full:
            return  # the disk does not respond; the thread ends with the process
        self._thread.join(timeout=1)

    def describe(self) -> dict[str, str]:
        """See :class:`devices.links.link.Link`."""
        return self._link.describe()

    def _keep(self, data: bytes, *, sent: bool) -> None:
        try:
            self._waiting.put_nowait(Chunk(self._since_1970 + self._clock(), data, sent))
        except queue.Full:
            self._missed("the disk is too slow")

    def _record(self) -> None:
        while (chunk := self._waiting.get()) is not None:
            try:
                if self._missing:
                    self._writer.remark(f"{self._missing} chunks are missing here")
                self._writer.write(chunk.at, chunk.data, chunk.sent)
                self._worked()
            except (OSError, ValueError) as error:
                self._missed(str(error))

    def _missed(self, why: str) -> None:
        with self._counting:
            self._missing += 1
            already_failing, self._failing = self._failing, True
        if not already_failing:
            self._report(f"not recorded: {why}")

    def _worked(self) -> None:
        with self._counting:
            self._missing = 0
            already_failing, self._failing = self._failing, False
        if already_failing:
            self._report(None)
