"""Text to a receiver over TCP, with confirmation that its machine has received it."""

from __future__ import annotations

import fcntl
import select
import socket
import struct
import termios
from contextlib import suppress

from common import clock
from subscribers.webhooks.errors import ReceiverAwayError

STREAM_TIMEOUT_SECONDS = 5.0
"""Timeout for connecting, and for the receiver to acknowledge data."""
ACK_POLL_SECONDS = 0.002
"""Interval at which the send queue is checked."""
MAX_REPLY_BYTES = 4096
"""Maximum length of a reply."""


class TextConnection:
    """A connection that is opened when needed, and again after a loss."""

    def __init__(self, name: str, host: str, port: int) -> None:
        self._name, self._address = name, (host, port)
        self._socket: socket.socket | None = None
        self._buffer = b""

    def send(self, data: bytes) -> None:
        """Return when the receiver's machine has acknowledged all data. Raises
        :class:`ReceiverAwayError`.
        """
        try:
            open_ = self._connected()
            open_.sendall(data)
            self._acknowledged(open_)
        except OSError as error:
            self.close()
            raise ReceiverAwayError(
                f"{self._name}: {_why(error)}; check that it is running and listening"
            ) from None

    def read_reply(self, until: bytes) -> bytes:
        """Return the receiver's reply, through ``until``. Raises :class:`ReceiverAwayError`."""
        try:
            while until not in self._buffer:
                if self._socket is None or len(self._buffer) > MAX_REPLY_BYTES:
                    raise TimeoutError
                if not (received := self._socket.recv(MAX_REPLY_BYTES)):
                    raise TimeoutError
                self._buffer += received
        except OSError:
            self.close()
            raise ReceiverAwayError(
                f"{self._name}: it received the text and did not reply; compare `echo` with the "
                "setting of its data source"
            ) from None
        reply, end, self._buffer = self._buffer.partition(until)
        return reply + end

    def close(self) -> None:
        """Close the connection; the next text opens another."""
        open_, self._socket, self._buffer = self._socket, None, b""
        if open_ is not None:
            with suppress(OSError):
                open_.close()

    def _connected(self) -> socket.socket:
        if self._socket is not None and self._ended(self._socket):
            self.close()
        if self._socket is None:
            self._socket = socket.create_connection(self._address, timeout=STREAM_TIMEOUT_SECONDS)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return self._socket

    def _ended(self, open_: socket.socket) -> bool:
        """Return whether the receiver closed the connection. Unsolicited data is discarded."""
        while select.select([open_], [], [], 0)[0]:
            try:
                if not open_.recv(MAX_REPLY_BYTES):
                    return True
            except OSError:
                return True
        self._buffer = b""
        return False

    def _acknowledged(self, open_: socket.socket) -> None:
        """Wait until the socket's send queue is empty: the other machine then has all data."""
        end = clock.monotonic() + STREAM_TIMEOUT_SECONDS
        while struct.unpack("i", fcntl.ioctl(open_, termios.TIOCOUTQ, b"\0" * 4))[0]:
            if clock.monotonic() > end:
                raise TimeoutError
            clock.block(ACK_POLL_SECONDS)
        if trouble := open_.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            raise OSError(trouble, "it closed the connection")


def _why(error: OSError) -> str:
    if isinstance(error, TimeoutError):
        return f"it accepted no data in {STREAM_TIMEOUT_SECONDS:g} s"
    return error.strerror or str(error) or type(error).__name__
