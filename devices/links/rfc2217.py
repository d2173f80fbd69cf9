"""``rfc2217://host:port?baud=9600``: a port of a device server whose line settings are set by the
client (RFC 2217), through pyserial.

pyserial reads the socket in its own thread into a queue, one entry per byte. This link reads that
queue directly: pyserial's ``read`` loses the last bytes before the connection ends, and its queue
is unbounded unless limited here.
"""

from __future__ import annotations

import select
import socket
import threading
from contextlib import suppress
from math import inf
from queue import Empty, Queue
from typing import Any

import serial.rfc2217

from common import clock
from common.line import LINE_ERRORS
from devices.codec import STABLE_LINK_SECONDS
from devices.links.link import (
    MAX_SHOWN_GREETING_BYTES,
    Address,
    Link,
    LinkFailedError,
    host_and_port,
)
from devices.links.serial_port import LineSettings, apply_settings, line_settings
from devices.links.tcp import enable_keepalive
from devices.loop_watch import TICK_SECONDS, running_seconds

MAX_READ_BYTES = 4096
MAX_QUEUED_BYTES = 65536
LAST_WORDS_SECONDS = 0.5
"""Time to read the last bytes of a server whose port cannot be opened."""


class _PolledSocket:
    """A socket whose :meth:`recv` notes when nothing waited."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self._readable = select.poll()
        self._readable.register(connection, select.POLLIN)
        self.silent_at = -inf
        self.poll_seconds = TICK_SECONDS

    def __getattr__(self, name: str) -> Any:
        return getattr(self.socket, name)

    def recv(self, size: int) -> bytes:
        """Receive bytes that arrived after ``silent_at``. Raises ``TimeoutError``."""
        before = running_seconds()
        if not self._readable.poll(0):
            self.silent_at = before
            if not self._readable.poll(self.poll_seconds * 1000):
                raise TimeoutError
        return self.socket.recv(size)


class _TimedQueue(Queue[tuple[bytes | None, float]]):
    """Stores with each item when the socket was last silent before it."""

    def __init__(self, connection: _PolledSocket) -> None:
        super().__init__()
        self._connection = connection

    def _put(self, item: Any) -> None:
        super()._put((item, self._connection.silent_at))


class _Rfc2217Client(serial.rfc2217.Serial):
    """pyserial's client. Its thread reads to the end even if the server hangs up during
    negotiation, so that the server's last bytes are not lost.
    """

    _thread: threading.Thread | None = None
    _opening = False

    def open(self) -> None:
        """Connect and set the line."""
        self._opening = True
        super().open()
        self._opening = False

    def close(self) -> None:
        """Close the connection."""
        connection: socket.socket | None = vars(self)["_socket"]
        if self._opening and self._thread is not None:
            self._thread.join(LAST_WORDS_SECONDS)
        super().close()
        if connection is not None:  # pyserial does not close it if the server has hung up
            connection.close()

    def received(self) -> Queue[tuple[bytes | None, float]]:
        """Return the queue of received bytes, one entry each, with the time after which it arrived;
        None marks the end of the connection.
        """
        queue = vars(self).get("_read_buffer")
        return queue if isinstance(queue, _TimedQueue) else Queue()

    def polled(self) -> _PolledSocket:
        """Return the socket of an open connection."""
        connection: _PolledSocket = vars(self)["_socket"]
        return connection

    def _telnet_read_loop(self) -> None:
        connection = _PolledSocket(vars(self)["_socket"])
        vars(self).update(_socket=connection, _read_buffer=_TimedQueue(connection))
        vars(serial.rfc2217.Serial)["_telnet_read_loop"](self)

    def _internal_raw_write(self, data: bytes) -> None:
        lock: threading.Lock = vars(self)["_write_lock"]
        connection: socket.socket = vars(self)["_socket"]
        try:
            with lock:
                connection.sendall(data)
        except OSError:
            if threading.current_thread() is not self._thread:
                raise


class _Rfc2217ClientWithoutRts(_Rfc2217Client):
    """A client that leaves RTS alone; pyserial would assert it on opening."""

    def _update_rts_state(self) -> None:
        pass


def check(address: Address) -> None:
    """Raise ``ValueError`` if the address is invalid."""
    host_and_port(address)
    line_settings(address, LineSettings)


def connect(address: Address) -> Link:
    """Connect and set the line. Raises :class:`LinkFailedError`."""
    return Rfc2217Link(*host_and_port(address), line_settings(address, LineSettings))


class Rfc2217Link:
    """An open port of a device server."""

    def __init__(self, host: str, port: int, settings: LineSettings) -> None:
        self._name = f"{host}:{port}"
        self._port = _Rfc2217Client() if settings.rts is not None else _Rfc2217ClientWithoutRts()
        apply_settings(self._port, settings)
        self._port.port = (
            f"rfc2217://[{host}]:{port}" if ":" in host else f"rfc2217://{host}:{port}"
        )
        try:
            self._port.open()
        except LINE_ERRORS as error:
            received = [byte for byte, _ in self._port.received().queue]
            hung_up = "the device server closed the connection" if None in received else error
            raise LinkFailedError(
                f"{self._name}: cannot open the port: {hung_up}",
                b"".join(byte or b"" for byte in received),
            ) from error
        self._bytes = self._port.received()
        # when full, the thread waits, the socket fills up, and the other end waits too
        self._bytes.maxsize = MAX_QUEUED_BYTES
        self._client: threading.Thread = vars(self._port)["_thread"]
        self._connection = self._port.polled()
        with suppress(OSError):
            enable_keepalive(self._connection.socket)
        self._ended = False
        self._opened = clock.monotonic()
        self._first = b""
        self.silent_at = -inf
        """See :class:`devices.links.link.SilenceAware`."""

    @property
    def poll_seconds(self) -> float:
        """See :class:`devices.links.link.SilenceAware`."""
        return self._connection.poll_seconds

    @poll_seconds.setter
    def poll_seconds(self, seconds: float) -> None:
        self._connection.poll_seconds = seconds

    def read(self, timeout: float) -> bytes:
        """See :class:`devices.links.link.Link`."""
        data = bytearray()
        self.silent_at = self._connection.silent_at  # before the queue is found empty
        try:
            while not self._ended and len(data) < MAX_READ_BYTES:
                byte, silent_at = self._bytes.get(not data, timeout)
                if not data:
                    self.silent_at = silent_at
                self._ended = byte is None
                data += byte or b""
        except Empty:
            self._ended = not data and not self._client.is_alive()
        if self._ended and not data:
            at_once = clock.monotonic() - self._opened < STABLE_LINK_SECONDS
            raise LinkFailedError(
                f"{self._name}: the connection ended", self._first if at_once else b""
            )
        self._first += data[: MAX_SHOWN_GREETING_BYTES - len(self._first)]
        return bytes(data)

    def write(self, data: bytes) -> None:
        """See :class:`devices.links.link.Link`. Limited by the timeout of pyserial's socket, 5
        seconds.
        """
        try:
            self._port.write(data)
        except LINE_ERRORS as error:
            raise LinkFailedError(f"{self._name}: cannot write: {error}") from error

    def close(self) -> None:
        """See :class:`devices.links.link.Link`."""
        # the thread may be waiting for room in the queue
        self._bytes.maxsize = 2**62
        with suppress(Empty):
            self._bytes.get_nowait()
        with suppress(*LINE_ERRORS):
            self._port.close()

    def describe(self) -> dict[str, str]:
        """See :class:`devices.links.link.Link`."""
        return {"peer": self._name}
