"""Reads links without a descriptor (USB, MQTT, RFC 2217, replay) in a thread, as their libraries
require.
"""

from __future__ import annotations

import os
import queue
import threading
from math import inf

import msgspec

from devices.links.link import Link, LinkFailedError, SilenceAware
from devices.loop_watch import running_seconds

READ_TIMEOUT_SECONDS = 0.1
"""Maximum time of one read, and so of closing."""

MAX_QUEUED_CHUNKS = 64
"""Maximum number of chunks that wait for the event loop. If it is slower than the link, the thread
waits, and the library or the operating system buffers.
"""
MIN_WAIT_SECONDS = 0.05
"""Minimum time of a read that waited for its bytes: a device that has bytes delivers them sooner,
since it is asked for them at least every 32 ms, as usual on USB.
"""


class _Chunk(msgspec.Struct, frozen=True):
    """Bytes, with :attr:`ThreadedLink.silent_at` and :attr:`ThreadedLink.waiting_since`."""

    data: bytes
    silent_at: float
    waiting_since: float | None


class ThreadedLink:
    """An open link with a descriptor that is readable while chunks wait."""

    def __init__(self, link: Link, name: str) -> None:
        self._link = link
        self._chunks: queue.Queue[_Chunk | LinkFailedError] = queue.Queue(MAX_QUEUED_CHUNKS)
        # counts the chunks that wait
        self._fd = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC | os.EFD_SEMAPHORE)
        self.drained = True
        """Whether the last read emptied the queue."""
        self.silent_at = -inf
        """As :class:`devices.links.link.SilenceAware`."""
        self.waiting_since: float | None = None
        """None if the link proves ``silent_at``. Else when the thread began to wait for the bytes
        last read: nothing had arrived by then, unless this process was stopped after that time.
        """
        self._idle_at = running_seconds()  # the codec judges what was kept before the opening
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
        idle_at = self._idle_at  # before the queue is found empty
        try:
            os.eventfd_read(self._fd)
        except BlockingIOError:
            self.silent_at = idle_at
            return b""
        chunk = self._chunks.get_nowait()
        self.drained = self._chunks.empty()
        if isinstance(chunk, LinkFailedError):
            raise chunk
        self.silent_at, self.waiting_since = chunk.silent_at, chunk.waiting_since
        return chunk.data

    def read_ready(self) -> bytes:
        """See :meth:`read`."""
        return self.read()

    def is_readable(self) -> bool:
        """Return whether chunks wait."""
        return not self._chunks.empty()

    def poll_every(self, seconds: float) -> None:
        """Let a link that knows its silence look this often for what has arrived."""
        if isinstance(self._link, SilenceAware):
            self._link.poll_seconds = seconds

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
        link = self._link
        try:
            while not self._stop.is_set():
                began = running_seconds()
                data = link.read(READ_TIMEOUT_SECONDS)
                waiting_since = None
                if isinstance(link, SilenceAware):
                    silent_at = link.silent_at
                else:
                    silent_at = self._idle_at if data else began
                    has_waited = running_seconds() - began >= MIN_WAIT_SECONDS
                    waiting_since = began if has_waited else silent_at
                if data:
                    self._put(_Chunk(data, silent_at, waiting_since))
                else:
                    self._idle_at = silent_at
        except LinkFailedError as failure:
            self._put(failure)
        except Exception as error:
            self._put(LinkFailedError(f"{type(error).__name__}: {error}"))

    def _put(self, item: _Chunk | LinkFailedError) -> None:
        while not self._stop.is_set():
            try:
                self._chunks.put(item, timeout=READ_TIMEOUT_SECONDS)
            except queue.Full:
                continue
            os.eventfd_write(self._fd, 1)
            return
