"""Browsers without manners: bare sockets that ask as no browser would, or that read nothing."""

from __future__ import annotations

import json
import selectors
import socket
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from tests.support.waiting import TIMEOUT_SECONDS
from tests.support.web.server import WebServer


def ask(
    server: WebServer, target: str, host: str = "127.0.0.1", method: str = "GET", more: str = ""
) -> tuple[int, bytes]:
    """The status and all of the answer to one request."""
    with socket.create_connection(("127.0.0.1", server.port), TIMEOUT_SECONDS) as made:
        made.sendall(
            f"{method} {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{more}\r\n".encode(
                "latin-1"
            )
        )
        answer = b""
        while got := made.recv(1 << 16):
            answer += got
    return int(answer.split(b" ", 2)[1]), answer


def stream(
    server: WebServer, query: str = "", buffer: int | None = None, more: str = ""
) -> socket.socket:
    """A stream of pictures that was asked for. ``buffer``: bytes that the kernel takes for it."""
    made = socket.socket()
    if buffer is not None:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    made.settimeout(TIMEOUT_SECONDS)
    made.connect(("127.0.0.1", server.port))
    made.sendall(f"GET /stream{query} HTTP/1.1\r\nHost: 127.0.0.1\r\n{more}\r\n".encode())
    return made


def read_all(
    streams: Sequence[socket.socket], done: Callable[[bytes], bool], keep: int = 1 << 16
) -> int:
    """Read all streams until each is ``done``, which sees the last ``keep`` bytes of it. Returns
    how many are not within the timeout.
    """
    end, waiting = time.monotonic() + TIMEOUT_SECONDS, len(streams)
    with selectors.DefaultSelector() as selector:
        read = dict.fromkeys(streams, b"")
        for stream in streams:
            selector.register(stream, selectors.EVENT_READ)
        while waiting and time.monotonic() < end:
            for key, _ in selector.select(0.5):
                made = key.fileobj
                assert isinstance(made, socket.socket)
                read[made] = (read[made] + made.recv(1 << 16))[-keep:]
                if done(read[made]):
                    selector.unregister(made)
                    waiting -= 1
    return waiting


class Reader:
    """A stream that is read all the time, whatever the test does meanwhile. ``pictures``: the last
    one of each table. ``over``: set once the server has ended the stream.
    """

    def __init__(self, made: socket.socket) -> None:
        self.pictures: dict[str, Any] = {}
        self.over = threading.Event()
        made.settimeout(None)
        self._made = made
        self._reading = threading.Thread(target=self._read)
        self._reading.start()

    def _read(self) -> None:
        with suppress(OSError), self._made.makefile("rb") as lines:
            event = b""
            for line in lines:
                if line.startswith(b"event: "):
                    event = line
                elif line == b"\n":
                    event = b""
                elif line.startswith(b"data: {") and event != b"event: motion\n":
                    picture = json.loads(line.removeprefix(b"data: "))
                    self.pictures[picture["table"]] = picture
        self.over.set()

    def close(self) -> None:
        """Leave."""
        with suppress(OSError):  # the server may have ended it
            self._made.shutdown(socket.SHUT_RDWR)
        self._reading.join()
        self._made.close()
