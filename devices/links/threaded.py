"""Reads links without a descriptor (USB, MQTT, RFC 2217, replay) in a thread, as their libraries
require.
"""

from __future__ import annotations

import os
import queue
import threading

from devices.links.link import Link, LinkFailedError

READ_TIMEOUT_SECONDS = 0.1
"""Maximum time of one read, and so of closing."""

MAX_QUEUED_CHUNKS = 64
"""Maximum number of chunks that wait for the event loop. If it is slower than the link, the thread
waits, and the library or the operating system buffers.
"""


class ThreadedLink:
    """An open link with a descriptor that is readable while chunks wait."""

    def __init__(self, link: Link, name: str) -> None:
        self._link = link
        self._chunks: queue.Queue[bytes | LinkFailedError] = queue.Queue(MAX_QUEUED_CHUNKS)
        # counts the chunks that wait
        self._fd = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC | os.EFD_SEMAPHORE)
        self.drained = True
        """Whether the last read emptied the queue."""
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"reader {name}", daemon=True)
        self._thread.start()

    def fileno(self) -> int:
        """The descriptor; it becomes readable when bytes have arrived or the link has ended."""
        return self._fd

    def read(self, timeout: float = 0) -> bytes:  # noqa: ARG002
        """Return the next chunk, or nothing; never waits. Raises :class:`LinkFailedError` after the
        last chunk.
        """
        try:
            os.eventfd_read(self._fd)
        except BlockingIOError:
            return b""
        chunk = self._chunks.get_nowait()
        self.drained = self._chunks.empty()
        if isinstance(chunk, LinkFailedError):
            raise chunk
        return chunk

    def read_ready(self) -> bytes:
        """See :meth:`read`."""
        return self.read()

    def is_readable(self) -> bool:
        """Return whether chunks wait."""
        return not self._chunks.empty()

    def write(self, data: bytes) -> None:
        """See :class:`devices.links.link.Link`. Blocks."""
        self._link.write(data)

    def close(self) -> None:
        """See :class:`devices.links.link.Link`. Blocks until the thread has ended."""
        self._stop.set()
        self._thread.join()
        self._link.close()
        os.close(self._fd)

    def describe(self) -> dict[str, str]:
        """See :class:`devices.links.link.Link`."""
        return self._link.describe()

    def _run(self) -> None:
        # a bug in a link counts as a failed link
        try:
            while not self._stop.is_set():
                if data := self._link.read(READ_TIMEOUT_SECONDS):
                    self._put(data)
        except LinkFailedError as failure:
            self._put(failure)
        except Exception as error:
            self._put(LinkFailedError(f"{type(error).__name__}: {error}"))

    def _put(self, item: bytes | LinkFailedError) -> None:
        while not self._stop.is_set():
            try:
                self._chunks.put(item, timeout=READ_TIMEOUT_SECONDS)
            except queue.Full:
                continue
            os.eventfd_write(self._fd, 1)
            return
