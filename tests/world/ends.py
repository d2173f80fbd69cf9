"""Connections in memory: what programs use of non-blocking sockets, without the kernel."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.world.loop import WorldLoop
    from tests.world.process import Process

BUFFER_BYTES = 65_536
"""What can wait at one end to be read."""


class End:
    """One end of a connection. ``owner``: the process that holds it; None: the world itself."""

    def __init__(self, loop: WorldLoop, number: int, owner: Process | None) -> None:
        self.owner = owner
        self.peer: End
        self.open = True
        self.received = bytearray()
        self._loop, self._number = loop, number

    @property
    def is_readable(self) -> bool:
        """Whether ``recv`` would return at once: there are bytes, or the connection has ended."""
        return bool(self.received) or not self.peer.open or not self.open

    @property
    def is_writable(self) -> bool:
        """Whether ``send`` would return at once."""
        return not self.open or not self.peer.open or len(self.peer.received) < BUFFER_BYTES

    def fileno(self) -> int:
        """The number by which an event loop of the world knows it; -1 once it is closed."""
        return self._number if self.open else -1

    def recv(self, size: int) -> bytes:
        """Return bytes that have arrived, empty at the end of the connection. Raises
        ``BlockingIOError`` if there are none yet.
        """
        if not self.open:
            raise OSError(errno.EBADF, "closed")
        received = self.received
        if received:
            data = bytes(received[:size])
            del received[:size]
            if not received and self.peer.open:
                self._loop.on_emptied(self._number)
            return data
        if not self.peer.open:
            return b""
        raise BlockingIOError(errno.EAGAIN, "nothing has arrived")

    def send(self, data: bytes | bytearray | memoryview) -> int:
        """Send what the other end has room for; return the number of bytes. Raises
        ``BlockingIOError`` if there is no room, ``BrokenPipeError`` if the other end is closed.
        """
        if not self.open:
            raise OSError(errno.EBADF, "closed")
        peer = self.peer
        if not peer.open:
            raise BrokenPipeError(errno.EPIPE, "the other end is closed")
        room = BUFFER_BYTES - len(peer.received)
        if room <= 0:
            raise BlockingIOError(errno.EAGAIN, "the other end reads nothing")
        if (size := len(data)) > room:
            data, size = data[:room], room
        peer.received += data
        self._loop.on_arrival(peer)
        return size

    def close(self) -> None:
        """Close this end; the other reads what it was sent, and then the end."""
        if self.open:
            self.open = False
            self._loop.forget(self._number)
            self._loop.on_arrival(self.peer)

    def setblocking(self, flag: bool) -> None:
        """It never blocks."""

    def setsockopt(self, *option: Any) -> None:
        """Options of TCP mean nothing here."""
