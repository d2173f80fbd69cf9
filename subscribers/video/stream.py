"""Text to a receiver that listens at TCP, and whether its machine has it."""

from __future__ import annotations

import fcntl
import select
import socket
import struct
import termios
import time
from contextlib import suppress

from subscribers.video.errors import AwayError

PATIENCE = 5.0
"""Seconds for a connection, and for the receiver to take what was sent."""
LOOK = 0.002
"""Seconds between two looks whether it was taken."""
LONGEST = 4096
"""Bytes of an answer."""


class Stream:
    """A connection that is made when it is needed, and anew after it was lost."""

    def __init__(self, name: str, host: str, port: int) -> None:
        self._name, self._to = name, (host, port)
        self._socket: socket.socket | None = None
        self._heard = b""

    def send(self, data: bytes) -> None:
        """Return when the receiver's machine has acknowledged all of it. Raises
        :class:`AwayError`.
        """
        try:
            open_ = self._connected()
            open_.sendall(data)
            self._acknowledged(open_)
        except OSError as error:
            self.close()
            raise AwayError(f"{self._name}: {_why(error)}; see that it runs and listens") from None

    def answer(self, until: bytes) -> bytes:
        """What the receiver says next, up to and with ``until``. Raises :class:`AwayError`."""
        try:
            while until not in self._heard:
                if self._socket is None or len(self._heard) > LONGEST:
                    raise TimeoutError
                if not (heard := self._socket.recv(LONGEST)):
                    raise TimeoutError
                self._heard += heard
        except OSError:
            self.close()
            raise AwayError(
                f"{self._name}: it took the text and did not answer; compare `echo` with what its "
                "data source is set to"
            ) from None
        told, end, self._heard = self._heard.partition(until)
        return told + end

    def close(self) -> None:
        """End the connection; the next text makes another."""
        open_, self._socket, self._heard = self._socket, None, b""
        if open_ is not None:
            with suppress(OSError):
                open_.close()

    def _connected(self) -> socket.socket:
        if self._socket is not None and self._ended(self._socket):
            self.close()
        if self._socket is None:
            self._socket = socket.create_connection(self._to, timeout=PATIENCE)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return self._socket

    def _ended(self, open_: socket.socket) -> bool:
        """Whether the receiver ended the connection. What it said unasked is of no use to us."""
        while select.select([open_], [], [], 0)[0]:
            try:
                if not open_.recv(LONGEST):
                    return True
            except OSError:
                return True
        self._heard = b""
        return False

    def _acknowledged(self, open_: socket.socket) -> None:
        """TCP knows what the other machine has: nothing is left in the queue of the socket."""
        end = time.monotonic() + PATIENCE
        while struct.unpack("i", fcntl.ioctl(open_, termios.TIOCOUTQ, b"\0" * 4))[0]:
            if time.monotonic() > end:
                raise TimeoutError
            time.sleep(LOOK)
        if trouble := open_.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            raise OSError(trouble, "it ended the connection")


def _why(error: OSError) -> str:
    if isinstance(error, TimeoutError):
        return f"it did not take anything in {PATIENCE:g} s"
    return error.strerror or str(error) or type(error).__name__
