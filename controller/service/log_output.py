"""Writes log lines to a file descriptor, whose disk may be full and whose pipe may be closed or not
be read.

A thread writes the lines, so that no table waits for a slow reader. Lines that cannot be written
are dropped and counted.
"""

from __future__ import annotations

import os
import select
import threading
from queue import SimpleQueue

from common.log import structlog

MAX_QUEUED_LINES = 1000
"""Maximum number of queued lines."""


class LogOutput:
    """Output file of a logger. ``lost``: number of lines that could not be written; ``trouble``:
    the present reason, or None.
    """

    def __init__(self, descriptor: int, capacity: int = MAX_QUEUED_LINES) -> None:
        self.lost = 0
        self.trouble: str | None = None
        self._descriptor = descriptor
        self._capacity = capacity
        self._unreported = 0  # lost lines not yet reported in the log
        self._cut = False
        self._counting = threading.Lock()
        self._waiting: SimpleQueue[bytes | threading.Event] = SimpleQueue()
        threading.Thread(target=self._work, name="log", daemon=True).start()

    def write(self, text: str) -> None:
        """Queue whole lines. Never blocks, never raises."""
        if self._waiting.qsize() >= self._capacity:
            self._drop(f"the log is not read: {self._capacity} lines are waiting")
        else:
            self._waiting.put(text.encode("utf-8", "backslashreplace"))

    def flush(self) -> None:
        """Do nothing: no line is held back."""

    def drain(self, seconds: float) -> None:
        """Wait until every queued line is written, but no longer than this many seconds."""
        done = threading.Event()
        self._waiting.put(done)
        done.wait(seconds)

    def _drop(self, trouble: str) -> None:
        with self._counting:
            self.lost += 1
            self._unreported += 1
            self.trouble = trouble

    def _work(self) -> None:
        while True:
            item = self._waiting.get()
            if isinstance(item, threading.Event):
                item.set()
                continue
            try:
                self._write(item)
            except OSError as error:
                self._drop(error.strerror or str(error))
            else:
                self._recover()

    def _write(self, line: bytes) -> None:
        rest = memoryview(b"\n" + line if self._cut else line)
        while rest:
            try:
                written = os.write(self._descriptor, rest)
            except BlockingIOError:  # another process made the shared descriptor non-blocking
                select.select([], [self._descriptor], [])
                continue
            self._cut = True  # after a partial line, the next one starts on a new line
            rest = rest[written:]
        self._cut = False

    def _recover(self) -> None:
        if self._unreported == 0 or self._waiting.qsize() >= self._capacity:
            return
        with self._counting:
            untold, self._unreported, self.trouble = self._unreported, 0, None
        structlog.get_logger().warning("log lines were lost", count=untold)
