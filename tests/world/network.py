"""The network of a simulated world: where ``socket.create_connection`` leads.

A client gets one end of a real socket pair, so aiomqtt and paho run as they are. What it writes
goes over the wires of the broker with that host name, and back, at the times that those say.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import Context
from typing import Any
from unittest import mock

import paho.mqtt.client

from devices import clock
from tests.world.broker.faults import Fault
from tests.world.broker.wires import Wire, Wires
from tests.world.loop import WorldLoop
from tests.world.process import PROCESS, Process

RECEIVE_BYTES = 65_536


class _ClientSocket(socket.socket):
    """The client's end. It is no TCP socket, so options of TCP are ignored."""

    def setsockopt(self, *arguments: Any) -> None:
        """See :class:`socket.socket`."""


class BrokerPort:
    """Carries bytes between socket pairs and the wires of one broker."""

    def __init__(self, loop: WorldLoop, wires: Wires) -> None:
        self.wires = wires
        self._loop = loop
        self._sockets: dict[Wire, socket.socket] = {}
        self._clients: dict[Wire, tuple[Callable[[bytes], None], Callable[[], None]]] = {}
        self._timer_at: float | None = None
        self._timer: Any = None

    def connect(self, process: Process) -> socket.socket:
        """Open a connection for a process. Raises ``ConnectionRefusedError``."""
        wire = self.wires.connect(process.name, self._loop.now)
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        client = _ClientSocket(fileno=theirs.detach())
        self._sockets[wire] = ours
        Context().run(self._loop.add_reader, ours.fileno(), self._on_client, wire)
        process.on_kill(client.close)
        self._pump()
        return client

    def open(
        self, peer: str, on_bytes: Callable[[bytes], None], on_end: Callable[[], None]
    ) -> Wire:
        """Open a connection for a client of the world itself. Raises ``ConnectionRefusedError``."""
        wire = self.wires.connect(peer, self._loop.now)
        self._clients[wire] = on_bytes, on_end
        return wire

    def send(self, wire: Wire, data: bytes) -> None:
        """Send bytes of a client that :meth:`open` has connected."""
        self.wires.send(wire, data, self._loop.now)
        self._pump_later()

    def begin(self, fault: Fault) -> None:
        """Begin a fault."""
        self.wires.begin(fault, self._loop.now)
        self._pump_later()

    def end(self, fault: Fault) -> None:
        """End a fault."""
        self.wires.end(fault, self._loop.now)
        self._pump_later()

    def _on_client(self, wire: Wire) -> None:
        ours = self._sockets[wire]
        try:
            data = ours.recv(RECEIVE_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self.wires.send(wire, data, self._loop.now)
        else:
            self._forget(wire)
            self.wires.close(wire, self._loop.now)
        self._pump()

    def _forget(self, wire: Wire) -> None:
        ours = self._sockets.pop(wire)
        self._loop.remove_reader(ours.fileno())
        ours.close()

    def _pump(self) -> None:
        now = self._loop.now
        self.wires.advance(now)
        for wire in self.wires.readable():
            data = self.wires.receive(wire, now)
            if (client := self._clients.get(wire)) is not None:
                on_bytes, on_end = client
                if data:
                    on_bytes(data)
                if not wire.open:
                    del self._clients[wire]
                    on_end()
            elif (ours := self._sockets.get(wire)) is not None:
                if data:
                    with suppress(OSError):  # the client has closed its end; it will be noticed
                        ours.sendall(data)
                if not wire.open:
                    self._forget(wire)
        due = self.wires.deadline
        if due == self._timer_at:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at = due
        self._timer = (
            None
            if due == float("inf")
            else self._loop.call_at(due, self._on_timer, context=Context())
        )

    def _on_timer(self) -> None:
        self._timer = self._timer_at = None
        self._pump()

    def _pump_later(self) -> None:
        """Pass on what is due, once the caller is done."""
        self._loop.call_soon(self._pump, context=Context())


class Network:
    """Host names and the ports behind them."""

    def __init__(self) -> None:
        self.hosts: dict[str, BrokerPort] = {}

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Let every ``socket.create_connection`` lead into this network."""

        def create_connection(address: tuple[str, int], *_: Any, **__: Any) -> socket.socket:
            process = PROCESS.get()
            assert process is not None, f"a connection to {address} by nobody"
            host = self.hosts.get(address[0])
            if host is None:
                raise OSError(f"no host {address[0]}")
            return host.connect(process)

        with (
            mock.patch.object(socket, "create_connection", create_connection),
            mock.patch.object(paho.mqtt.client, "time_func", clock.monotonic),
        ):
            yield
