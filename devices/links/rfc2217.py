"""``rfc2217://host:port?baud=9600``: a port of a device server whose line settings are set by the
client (RFC 2217), through pyserial.

pyserial reads the socket in its own thread into a queue, one entry per byte. This link reads that
queue directly: pyserial's ``read`` loses the last bytes before the connection ends, and its queue
is unbounded unless limited here.
"""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from queue import Empty, Queue

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

MAX_READ_BYTES = 4096
MAX_QUEUED_BYTES = 65536
LAST_WORDS_SECONDS = 0.5
"""Time to read the last bytes of a server whose port cannot be opened."""


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

    def received(self) -> Queue[bytes | None]:
        """Return the queue of received bytes, one entry each; None marks the end of the
        connection.
        """
        queue: Queue[bytes | None] | None = vars(self).get("_read_buffer")
        return Queue() if queue is None else queue

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
            received = list(self._port.received().queue)
            hung_up = "the device server closed the connection" if None in received else error
            raise LinkFailedError(
                f"{self._name}: cannot open the port: {hung_up}",
                b"".join(byte or b"" for byte in received),
            ) from error
        self._bytes = self._port.received()
        # when full, the thread waits, the socket fills up, and the other end waits too
        self._bytes.maxsize = MAX_QUEUED_BYTES
        self._client: threading.Thread = vars(self._port)["_thread"]
        connection: socket.socket = vars(self._port)["_socket"]
        with suppress(OSError):
            enable_keepalive(connection)
        self._ended = False
        self._opened = clock.monotonic()
        self._first = b""

    def read(self, timeout: float) -> bytes:
        """See :class:`devices.links.link.Link`."""
        data = bytearray()
        try:
            while not self._ended and len(data) < MAX_READ_BYTES:
                byte = self._bytes.get(not data, timeout)
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
