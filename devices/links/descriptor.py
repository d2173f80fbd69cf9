"""Base class of links that read a file descriptor: serial ports and sockets.

They need no thread. The event loop waits for the descriptor, and neither
:meth:`DescriptorLink.read` with a timeout of 0 nor :meth:`DescriptorLink.send` ever blocks.
"""

from __future__ import annotations

import os
import select
from abc import ABC, abstractmethod

from common import clock
from devices.links.link import WRITE_TIMEOUT_SECONDS, LinkFailedError

MAX_READ_BYTES = 4096
"""Maximum bytes per read, so that a flood leaves time for the other devices."""


class DescriptorLink(ABC):
    """A link on ``fd``, an open non-blocking descriptor."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self.drained = True
        """Whether the last read emptied the descriptor."""
        self.silent_at: float | None = None
        """As :class:`devices.links.link.SilenceAware` if a thread fills the descriptor; None: the
        event loop itself finds it empty.
        """
        self._readable, self._writable = select.poll(), select.poll()
        self._readable.register(fd, select.POLLIN)
        self._writable.register(fd, select.POLLOUT)

    def fileno(self) -> int:
        """The descriptor; it becomes readable when bytes have arrived or the link has ended."""
        return self._fd

    def read(self, timeout: float) -> bytes:
        """See :class:`devices.links.link.Link`."""
        try:
            if not self._readable.poll(timeout * 1000):
                self.drained = True
                return b""
        except OSError as error:
            raise self.unreadable(error) from error
        return self.read_ready()

    def read_ready(self) -> bytes:
        """Return received bytes once the descriptor has been found readable: if there are none, it
        has hung up. Raises :class:`LinkFailedError`.
        """
        try:
            data = os.read(self._fd, MAX_READ_BYTES)
        except BlockingIOError:
            return b""
        except OSError as error:
            raise self.unreadable(error) from error
        if not data:
            raise self.unreadable(None)
        self.drained = len(data) < MAX_READ_BYTES
        return data

    def is_readable(self) -> bool:
        """Return whether there are bytes to read, or the link has ended."""
        return bool(self._readable.poll(0))

    def hung_up(self) -> bool:
        """Return whether the other end of the descriptor is gone."""
        return any(
            events & (select.POLLHUP | select.POLLERR | select.POLLNVAL)
            for _, events in self._readable.poll(0)
        )

    def send(self, data: bytes) -> int:
        """Send what is accepted without waiting; return the number of bytes. Raises
        :class:`LinkFailedError`.
        """
        try:
            return os.write(self._fd, data)
        except BlockingIOError:
            return 0
        except OSError as error:
            raise self.unwritable(error) from error

    def write(self, data: bytes) -> None:
        """See :class:`devices.links.link.Link`."""
        until = clock.monotonic() + WRITE_TIMEOUT_SECONDS
        while data := data[self.send(data) :]:
            remaining = until - clock.monotonic()
            if remaining <= 0 or not self._writable.poll(remaining * 1000):
                raise self.timed_out()

    @abstractmethod
    def close(self) -> None:
        """See :class:`devices.links.link.Link`."""

    @abstractmethod
    def describe(self) -> dict[str, str]:
        """See :class:`devices.links.link.Link`."""

    @abstractmethod
    def timed_out(self) -> LinkFailedError:
        """Drop bytes that were not accepted in time, so that half a command is not sent before the
        next one. Return the exception to raise.
        """

    @abstractmethod
    def unreadable(self, error: OSError | None) -> LinkFailedError:
        """Return the exception for a failed read. ``error`` None: the other end closed the link."""

    @abstractmethod
    def unwritable(self, error: OSError) -> LinkFailedError:
        """Return the exception for a failed write."""
