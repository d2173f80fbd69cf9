"""The reader: one thread that opens a link, stamps what arrives on arrival, hands it to the event
loop, and does nothing else.

Silence is handed over too, as an empty arrival with its time. So whoever listens gets all times
from one clock and in their order, and says "stale" only when no byte is still on its way to him.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress

import msgspec

from devices.links import Link, LinkFailedError

READ_TIMEOUT = 0.05
"""Seconds: how late a deadline may be noticed, and how long an end may take."""

ROOM = 64
"""Chunks on their way to the event loop. When it is slower than the line, the reader waits and the
system buffers.
"""


class Opened(msgspec.Struct, frozen=True):
    """The link is open; ``facts`` describe it."""

    at: float
    facts: dict[str, str]


class Arrived(msgspec.Struct, frozen=True):
    """Bytes, or none: a silence."""

    at: float
    data: bytes


class Ended(msgspec.Struct, frozen=True):
    """The link could not be opened, or is closed. Nothing comes after it."""

    at: float
    reason: str


class Reader:
    """One link from its opening to its end. Made and used in a running event loop."""

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
        """What happened next."""
        event = await self._handed.get()
        self._room.release()
        return event

    async def write(self, data: bytes) -> None:
        """Write, in another thread. Raises :class:`LinkFailedError`."""
        await asyncio.to_thread(self._write, data)

    def give_up(self, reason: str) -> None:
        """End the link, though it can still be read."""
        self._stop_reason = reason
        self._stop.set()

    async def close(self) -> None:
        """End the link and wait until the port is given back and the thread is done."""
        self._stop.set()
        await self._gone.wait()

    def _write(self, data: bytes) -> None:
        with self._writing:
            if self._link is None:
                raise LinkFailedError("the link is closed")
            try:
                self._link.write(data)
            except LinkFailedError:
                raise
            except Exception as error:  # a defect of a link is a link that failed
                raise LinkFailedError(f"{type(error).__name__}: {error}") from error

    def _run(self) -> None:
        try:
            reason = self._serve()
        except LinkFailedError as failure:
            reason = failure.reason
        except (
            Exception
        ) as error:  # a defect of a link must not leave the supervisor waiting for ever
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
                if data or self._handed.empty():  # one silence on its way is enough
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
        with suppress(RuntimeError):  # the loop is closed: nobody listens any more
            self._loop.call_soon_threadsafe(callback)
