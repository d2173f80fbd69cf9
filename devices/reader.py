"""Reads and writes one open link in the event loop: no queue and no other thread between the
descriptor and the consumer of the bytes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from math import inf

from common.blocking import in_thread
from devices.links import LinkFailedError, connect
from devices.links.descriptor import DescriptorLink
from devices.links.link import WRITE_TIMEOUT_SECONDS
from devices.links.threaded import ThreadedLink
from devices.loop_watch import loop_watch, tick

MIN_TIMER_SECONDS, MAX_TIMER_SECONDS = 0.005, 5.0
"""Limits for the timer of a deadline, in seconds of the event loop. The minimum makes a deadline
that does not advance cheap; the maximum exists because the deadline is on another clock.
"""
MAX_READS_AFTER_RESUME = 256
"""Maximum number of reads of what the kernel kept while the machine was suspended: a megabyte."""

OpenLink = DescriptorLink | ThreadedLink


def open_to_read(url: str, name: str) -> OpenLink:
    """Open the link of an address; the port watch looks for other programs. Blocks. Raises
    :class:`LinkFailedError`.
    """
    # a bug in a link counts as a failed link
    try:
        link = connect(url)
        return link if isinstance(link, DescriptorLink) else ThreadedLink(link, name)
    except LinkFailedError:
        raise
    except Exception as error:
        raise LinkFailedError(f"{type(error).__name__}: {error}") from error


class LinkReader:
    """Reads a link until it ends. Create and use it in a running event loop.

    ``on_data`` is called with each chunk immediately after it was read, and with the seconds for
    which the chunk may have waited to be read, including time in which the machine was suspended.
    It is called with no bytes if nothing arrived, and with the seconds for which that is not known.
    It returns the seconds after which it must be called (with no bytes) even if nothing arrives, or
    None; ``wait`` is the first such time. ``ended`` gets the reason why the link ended, or an
    exception of ``on_data``. A suspension of the machine ends the link. ``speed``: speed of the
    table's clock.
    """

    def __init__(
        self,
        link: OpenLink,
        on_data: Callable[[bytes, float], float | None],
        wait: float | None,
        speed: float = 1.0,
    ) -> None:
        self._link = link
        self._on_data = on_data
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._due = -inf  # loop time of the deadline, if there is one
        self._tick = tick(speed)
        self._loop_watch = loop_watch()
        self._loop_watch.begin(self._tick, self._resumed)
        if isinstance(link, ThreadedLink):
            link.poll_every(self._tick)
        self._opened = self._now()
        # when the descriptor was last known to be empty; -inf: bytes may have waited from before
        self._empty = -inf if link.is_readable() else self._opened
        self._silent = -inf  # when the thread of the link last knew it to be empty
        self._drained = True
        self.ended: asyncio.Future[str] = self._loop.create_future()
        self.failure: LinkFailedError | None = None
        """Why the link failed, if it did."""
        self._loop.add_reader(link.fileno(), self._read, link.read_ready)
        self._wake_after(wait)

    def end(self, reason: str) -> None:
        """Stop reading."""
        self._stop()
        if not self.ended.done():
            self.ended.set_result(reason)

    def fail(self, failure: LinkFailedError) -> None:
        """Stop reading because the link failed."""
        self.failure = self.failure or failure
        self.end(failure.reason)

    async def write(self, data: bytes) -> None:
        """Write all bytes, with a time limit. Raises :class:`LinkFailedError`."""
        try:
            if isinstance(self._link, DescriptorLink):
                await self._send(self._link, data)
            else:
                await in_thread(lambda: self._link.write(data), "link: write")
        except LinkFailedError:
            raise
        except Exception as error:
            raise LinkFailedError(f"{type(error).__name__}: {error}") from error

    async def _send(self, link: DescriptorLink, data: bytes) -> None:
        if not (data := data[link.send(data) :]):
            return
        try:
            async with asyncio.timeout(WRITE_TIMEOUT_SECONDS):
                while data:
                    await self._writable(link.fileno())
                    data = data[link.send(data) :]
        except TimeoutError:
            raise link.timed_out() from None

    async def _writable(self, fd: int) -> None:
        writable = asyncio.Event()
        self._loop.add_writer(fd, writable.set)
        try:
            await writable.wait()
        finally:
            self._loop.remove_writer(fd)

    def _read(self, read: Callable[[], bytes]) -> None:
        """Pass on one chunk, or silence if the descriptor is empty."""
        try:
            data = read()
        except LinkFailedError as failure:
            self.fail(failure)
            return
        except Exception as error:
            self.end(f"{type(error).__name__}: {error}")
            return
        try:
            wait = self._on_data(data, self._waited() if data else self._unknown())
        except Exception as error:
            self._stop()
            if not self.ended.done():
                self.ended.set_exception(error)
        else:
            self._wake_after(wait)

    def _waited(self) -> float:
        """Maximum number of seconds for which the chunk just read may have waited."""
        now = self._now()
        if self._drained:
            polled = self._loop_watch.polled()
            if polled > self._empty and polled > self._opened:
                self._empty = polled
        waited = now - self._empty
        self._drained = self._link.drained
        if self._drained:
            self._empty = now
        silent = self._silent_before()
        return waited if silent is None else now - silent

    def _silent_before(self) -> float | None:
        """When a thread last knew that the bytes just read had not arrived; None if the event loop
        knows it.
        """
        link, watch = self._link, self._loop_watch
        if link.silent_at is None:
            return None
        if watch.is_suspension_new():
            return min(link.silent_at, watch.polled())
        if not isinstance(link, ThreadedLink) or link.waiting_since is None:
            return link.silent_at
        self._silent = max(self._silent, link.silent_at)
        if link.waiting_since > self._silent and not watch.has_stalled_since(link.waiting_since):
            self._silent = link.waiting_since
        return self._silent if watch.has_stalled_since(self._silent) else None

    def _unknown(self) -> float:
        """Seconds for which a thread, after a stall, has not yet looked for bytes."""
        silent = self._link.silent_at
        if silent is None or not self._loop_watch.has_stalled_since(silent):
            return 0.0
        return self._now() - silent

    def _now(self) -> float:
        """Loop time plus the time that the machine was suspended."""
        return self._loop.time() + self._loop_watch.suspended()

    def _resumed(self, slept: float) -> None:
        """Read what the kernel kept while the machine was suspended, and end the link: data sent
        meanwhile may be lost, and data that arrives now may have been kept elsewhere.
        """
        for _ in range(MAX_READS_AFTER_RESUME):
            self._read(self._read_any)
            if self.ended.done() or self._drained:
                break
        self.end(f"this machine was suspended for {slept:.0f} s; the link is opened again")

    def _wake_after(self, wait: float | None) -> None:
        """Set the timer. Each line postpones the deadline, so a timer that is early enough is
        kept.
        """
        if wait is None:
            self._due = -inf
            return
        self._due = self._loop.time() + min(max(wait, MIN_TIMER_SECONDS), MAX_TIMER_SECONDS)
        if self._timer is not None:
            if self._timer.when() <= self._due:
                return
            self._timer.cancel()
        if not self.ended.done():
            self._timer = self._loop.call_at(self._due, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        if self._due > self._loop.time() + MIN_TIMER_SECONDS:  # postponed meanwhile
            self._timer = self._loop.call_at(self._due, self._on_timer)
        else:
            self._read(self._read_any)

    def _read_any(self) -> bytes:
        return self._link.read(0)

    def _stop(self) -> None:
        if self._loop.remove_reader(self._link.fileno()):
            self._loop_watch.end(self._tick, self._resumed)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
