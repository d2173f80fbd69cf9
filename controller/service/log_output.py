"""Where log lines go: a file descriptor, behind which may be a full disk, a closed pipe, or a pipe
that nobody reads.

A thread writes the lines, so that no table waits for a slow reader. Lines that cannot be written
are dropped and counted.
"""

from __future__ import annotations

import os
import select
import threading
from queue import SimpleQueue

from devices.log import structlog

CAPACITY = 1000
"""Lines that may wait to be written."""


class LogOutput:
    """The output file of a logger. ``lost``: lines that could not be written; ``trouble``: the
    present reason, or None.
    """

    def __init__(self, descriptor: int, capacity: int = CAPACITY) -> None:
        self.lost = 0
        self.trouble: str | None = None
        self._descriptor = descriptor
        self._capacity = capacity
        self._untold = 0  # lost since the log last reported it
        self._cut = False
        self._counting = threading.Lock()
        self._waiting: SimpleQueue[bytes | threading.Event] = SimpleQueue()
        threading.Thread(target=self._work, name="log", daemon=True).start()

    def write(self, text: str) -> None:
        """Queue whole lines. Never blocks, never raises."""
        if self._waiting.qsize() >= self._capacity:
            self._lose(f"nobody reads the log: {self._capacity} lines are waiting")
        else:
            self._waiting.put(text.encode("utf-8", "backslashreplace"))

    def flush(self) -> None:
        """Do nothing: no line is held back."""

    def drain(self, seconds: float) -> None:
        """Wait until every queued line is written, at most this many seconds."""
        done = threading.Event()
        self._waiting.put(done)
        done.wait(seconds)

    def _lose(self, trouble: str) -> None:
        with self._counting:
            self.lost += 1
            self._untold += 1
            self.trouble = trouble

    def _work(self) -> None:
        while True:
            next_one = self._waiting.get()
            if isinstance(next_one, threading.Event):
                next_one.set()
                continue
            try:
                self._put(next_one)
            except OSError as error:
                self._lose(error.strerror or str(error))
            else:
                self._recover()

    def _put(self, line: bytes) -> None:
        rest = memoryview(b"\n" + line if self._cut else line)
        while rest:
            try:
                written = os.write(self._descriptor, rest)
            except (
                BlockingIOError
            ):  # another process that shares the descriptor made it non-blocking
                select.select([], [self._descriptor], [])
                continue
            self._cut = True  # after a partial line, the next one starts on a line of its own
            rest = rest[written:]
        self._cut = False

    def _recover(self) -> None:
        if self._untold == 0 or self._waiting.qsize() >= self._capacity:
            return
        with self._counting:
            untold, self._untold, self.trouble = self._untold, 0, None
        structlog.get_logger().warning("log lines were lost", count=untold)
