"""A gate on the way of one client to one server, which can be shut, or hold what comes."""

from __future__ import annotations

import selectors
import socket
import threading
from contextlib import suppress

from tests.support.brokers.mosquitto import free_port

LOOK = 0.05


class Gate:
    """Listens at ``port``, and passes everything on to ``to`` and back. :meth:`shut`: connections
    end, and none is taken; :meth:`hold`: they stay, and nothing passes.
    """

    def __init__(self, to: int) -> None:
        self.port, self._to = free_port(), to
        self._state = "open"
        self._change = threading.RLock()
        self._pairs: dict[socket.socket, socket.socket] = {}
        self._listening: socket.socket | None = None
        self._ending = threading.Event()
        self._selector = selectors.DefaultSelector()
        self._listen()
        self._thread = threading.Thread(target=self._pass)
        self._thread.start()

    def shut(self) -> None:
        with self._change:
            self._state = "shut"
            if self._listening is not None:
                self._selector.unregister(self._listening)
                self._listening.close()
                self._listening = None
            for one in list(self._pairs):
                self._drop(one)

    def hold(self) -> None:
        with self._change:
            self._state = "held"

    def open(self) -> None:
        """Messages held back are lost with their connection."""
        with self._change:
            if self._state == "held":
                self.shut()
            self._state = "open"
            if self._listening is None:
                self._listen()

    def close(self) -> None:
        self._ending.set()
        self._thread.join()
        self.shut()
        self._selector.close()

    def _listen(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", self.port))
        self._selector.register(self._listening, selectors.EVENT_READ)

    def _pass(self) -> None:
        while not self._ending.is_set():
            if self._state == "held":
                self._ending.wait(LOOK)
                continue
            for key, _ in self._selector.select(LOOK):
                with self._change:
                    if isinstance(key.fileobj, socket.socket):
                        self._ready(key.fileobj)

    def _ready(self, one: socket.socket) -> None:
        if self._state != "open":
            return
        if one is self._listening:
            with suppress(OSError):
                self._take()
            return
        other = self._pairs.get(one)
        if other is None:
            return
        try:
            data = one.recv(65536)
            if data:
                other.sendall(data)
        except OSError:
            data = b""
        if not data:
            self._drop(one)

    def _take(self) -> None:
        assert self._listening is not None
        client, _ = self._listening.accept()
        try:
            server = socket.create_connection(("127.0.0.1", self._to), 1)
        except OSError:
            client.close()
            raise
        self._pairs |= {client: server, server: client}
        for each in (client, server):
            self._selector.register(each, selectors.EVENT_READ)

    def _drop(self, one: socket.socket) -> None:
        other = self._pairs.pop(one, None)
        if other is None:
            return
        del self._pairs[other]
        for each in (one, other):
            self._selector.unregister(each)
            each.close()
