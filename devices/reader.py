"""The reader: a thread that opens a link, timestamps what arrives and passes it to the event loop.

Silence is passed on too, as an empty arrival with its time. So all times come from one clock and in
order, and the listener reports "stale" only when no byte is still on the way to it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress

import msgspec

from devices.links import Link, LinkFailedError

READ_TIMEOUT = 0.05
"""Seconds: how late a deadline may be noticed, and how long closing may take."""

ROOM = 64
"""Chunks queued for the event loop. When it is slower than the line, the reader waits and the
operating system buffers.
"""


class Opened(msgspec.Struct, frozen=True):
    """The link is open; ``facts`` describe it."""

    at: float
    facts: dict[str, str]


class Arrived(msgspec.Struct, frozen=True):
    """Bytes, or none: silence."""

    at: float
    data: bytes


class Ended(msgspec.Struct, frozen=True):
    """The link could not be opened, or was closed. Always the last event."""

    at: float
    reason: str


class Reader:
    """Reads one link from opening to end. Create and use it in a running event loop."""

    def __init__(self, open_one: Callable[[], Link], clock: Callable[[], float], name: str) -> None:
        self._open = open_one
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._handed: asyncio.Queue[Opened | Arrived | Ended] = asyncio.Queue()
        self._room = threading.Semaphore(ROOM)
        self._stop = threading.Event()
        self._stop_reason = "closed"
        self._gone = asyncio.Event()
        self._writing = threading.Lock()
        self._link: Link | None = None
        threading.Thread(target=self._run, name=f"reader {name}", daemon=True).start()

    async def next(self) -> Opened | Arrived | Ended:
        """The next event."""
        event = await self._handed.get()
        self._room.release()
        return event

    async def write(self, data: bytes) -> None:
        """Write in another thread. Raises :class:`LinkFailedError`."""
        await asyncio.to_thread(self._write, data)

    def give_up(self, reason: str) -> None:
        """End the link although it can still be read."""
        self._stop_reason = reason
        self._stop.set()

    async def close(self) -> None:
        """End the link; wait until the port is released and the thread has ended."""
        self._stop.set()
        await self._gone.wait()

    def _write(self, data: bytes) -> None:
        with self._writing:
            if self._link is None:
                raise LinkFailedError("the link is closed")
            # A defect in a link counts as a failed link.
            try:
                self._link.write(data)
            except LinkFailedError:
                raise
            except Exception as error:
                raise LinkFailedError(f"{type(error).__name__}: {error}") from error

    def _run(self) -> None:
        # A defect in a link must not leave the supervisor waiting forever.
        try:
            reason = self._serve()
        except LinkFailedError as failure:
            reason = failure.reason
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
        ended = Ended(self._clock(), reason)
        self._post(lambda: self._handed.put_nowait(ended))
        self._post(self._gone.set)

    def _serve(self) -> str:
        link = self._open()
        try:
            self._link = link
            self._hand(Opened(self._clock(), link.describe()))
            while not self._stop.is_set():
                data = link.read(READ_TIMEOUT)
                now = self._clock()
                if data or self._handed.empty():  # one queued silence is enough
                    self._hand(Arrived(now, data))
        finally:
            with self._writing:
                self._link = None
                link.close()
        return self._stop_reason

    def _hand(self, event: Opened | Arrived) -> None:
        while not self._room.acquire(timeout=READ_TIMEOUT):
            if self._stop.is_set():
                return
        self._post(lambda: self._handed.put_nowait(event))

    def _post(self, callback: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the loop is closed; nobody is listening
            self._loop.call_soon_threadsafe(callback)
