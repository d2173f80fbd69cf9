"""A TCP port as the simulator's port, like a serial device server."""

from __future__ import annotations

import contextlib
import socket


class TcpPort:
    """A listening socket on ``host:port``; port 0 selects a free one. Every client gets the same
    bytes.
    """

    def __init__(self, host: str, port: int) -> None:
        self._host, self._port = host, port
        self._listener: socket.socket | None = None
        self._clients: list[socket.socket] = []
        self.plug()

    @property
    def address(self) -> str:
        """``tcp://host:port``, as a host opens it."""
        return f"tcp://{self._host}:{self._port}"

    @property
    def readers(self) -> list[int]:
        """File descriptors to wait on."""
        return (
            []
            if self._listener is None
            else [self._listener.fileno(), *(client.fileno() for client in self._clients)]
        )

    def plug(self) -> None:
        """Listen."""
        self._listener = socket.create_server((self._host, self._port))
        self._listener.setblocking(False)
        self._port = self._listener.getsockname()[1]

    def unplug(self) -> None:
        """Close all connections and stop listening."""
        for client in self._clients:
            client.close()
        self._clients.clear()
        if self._listener is not None:
            self._listener.close()
            self._listener = None

    close = unplug

    def write(self, data: bytes) -> None:
        """Send to all clients; drop one that is gone or does not read."""
        for client in list(self._clients):
            try:
                client.sendall(data)
            except OSError:
                self._drop(client)

    def read(self) -> bytes:
        """Accept new clients; return the bytes from all clients."""
        self._accept()
        received = b""
        for client in list(self._clients):
            try:
                data = client.recv(4096)
            except BlockingIOError:
                continue
            except OSError:
                data = b""
            if not data:
                self._drop(client)
            received += data
        return received

    def _accept(self) -> None:
        if self._listener is None:
            return
        with contextlib.suppress(BlockingIOError):
            client, _ = self._listener.accept()
            client.setblocking(False)
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._clients.append(client)

    def _drop(self, client: socket.socket) -> None:
        client.close()
        self._clients.remove(client)
