"""Real clients at the broker of the simulated world: one end of a socket is the broker's, in any
event loop with ``add_reader``, ``call_at`` and ``time``, real or simulated.

How a client gets the other end: paho 2.2 has no public way to hand it a connected socket (its issue
873 and pull request 945 are open). ``transport="unix"`` is public, but needs a listener and a path,
and another address in every configuration; a proxy needs PySocks. ``socket.create_connection`` is
public too, but replacing it changes every connection of the process. So :func:`connect_in_memory`
replaces one method of ``paho.Client``, ``_create_socket_connection``, for as long as it lasts: all
clients use it, also those of aiomqtt, and no line of the program has to know.
"""

from __future__ import annotations

import asyncio
import errno
import math
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import Context
from typing import Any, Protocol
from unittest import mock

import paho.mqtt.client as paho

from tests.world.broker.faults import Fault
from tests.world.broker.wires import Wire, Wires

_RECEIVE_BYTES = 65_536


class _ClientEnd(socket.socket):
    """A local socket on which options of TCP can be set, which mean nothing here."""

    def setsockopt(self, level: int, *rest: Any) -> None:
        if level != socket.IPPROTO_TCP:
            super().setsockopt(level, *rest)


class Socket(Protocol):
    """What is used of a connected socket that does not block."""

    def fileno(self) -> int: ...
    def recv(self, size: int, /) -> bytes: ...
    def send(self, data: bytes | bytearray, /) -> int: ...
    def setblocking(self, flag: bool, /) -> None: ...
    def close(self) -> None: ...


def _local_pair() -> tuple[Socket, Socket]:
    ours, theirs = socket.socketpair()
    return ours, _ClientEnd(fileno=theirs.detach())


class Sockets:
    """Passes bytes between sockets and wires. Use it in the thread of the event loop. ``pair``
    makes the broker's and a client's end of a new connection.
    """

    def __init__(
        self,
        wires: Wires,
        loop: asyncio.AbstractEventLoop | None = None,
        pair: Callable[[], tuple[Socket, Socket]] = _local_pair,
    ) -> None:
        self.wires = wires
        self.loop = loop or asyncio.get_running_loop()
        self._pair = pair
        self._sockets: dict[Wire, Socket] = {}
        self._unsent: dict[Wire, bytearray] = {}
        self._timer: asyncio.TimerHandle | None = None

    def attach(self, end: Socket, peer: str) -> None:
        """Serve a connected socket. ``peer`` names the client for faults; empty if only its client
        id will.
        """
        end.setblocking(False)
        try:
            wire = self.wires.connect(peer, self.loop.time())
        except ConnectionRefusedError:
            end.close()
            return
        self._sockets[wire] = end
        self._unsent[wire] = bytearray()
        self.loop.add_reader(end, self._read, wire)

    def dial(self, peer: str) -> Socket:
        """A client's end of a new connection, from any thread. Raises ``ConnectionRefusedError`` in
        an outage.
        """
        if not self.wires.is_up:
            raise ConnectionRefusedError(errno.ECONNREFUSED, "the broker is down")
        ours, theirs = self._pair()
        # in a context of its own: what serves a client is no part of the client
        self.loop.call_soon_threadsafe(self.attach, ours, peer, context=Context())
        return theirs

    def begin(self, fault: Fault) -> None:
        """Begin a fault."""
        self.wires.begin(fault, self.loop.time())
        self._pass_on()

    def end(self, fault: Fault) -> None:
        """End a fault."""
        self.wires.end(fault, self.loop.time())
        self._pass_on()

    def close(self) -> None:
        """End all connections."""
        for wire in list(self._sockets):
            self._close(wire)
        if self._timer is not None:
            self._timer.cancel()

    def _read(self, wire: Wire) -> None:
        try:
            data = self._sockets[wire].recv(_RECEIVE_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        now = self.loop.time()
        if data:
            self.wires.send(wire, data, now)
        else:
            self.wires.close(wire, now)
            self._close(wire)
        self._write_arrived(now)  # all that is due was done

    def _pass_on(self) -> None:
        """Do all that is due, and pass on what has arrived at clients."""
        now = self.loop.time()
        self.wires.advance(now)
        self._write_arrived(now)

    def _write_arrived(self, now: float) -> None:
        """Write what has arrived at clients, and wait for what comes next."""
        for wire in self.wires.readable():
            data = self.wires.receive(wire, now)
            if wire in self._sockets:
                self._unsent[wire] += data
                self._write(wire)
        due = self.wires.deadline
        if self._timer is not None:
            if self._timer.when() == due:  # as mostly: a keepalive is far away
                return
            self._timer.cancel()
            self._timer = None
        if due < math.inf:
            self._timer = self.loop.call_at(due, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        self._pass_on()

    def _write(self, wire: Wire) -> None:
        end, unsent = self._sockets[wire], self._unsent[wire]
        try:
            del unsent[: end.send(unsent)]
        except BlockingIOError:
            pass
        except OSError:  # the client is gone: the reader finds it out
            unsent.clear()
        if unsent:
            self.loop.add_writer(end, self._write, wire)
            return
        self.loop.remove_writer(end)
        if not wire.open:
            self._close(wire)

    def _close(self, wire: Wire) -> None:
        end = self._sockets.pop(wire)
        del self._unsent[wire]
        self.loop.remove_reader(end)
        self.loop.remove_writer(end)
        end.close()


@contextmanager
def connect_in_memory(
    brokers: Mapping[tuple[str, int], Sockets],
    peer: Callable[[paho.Client], str] = lambda client: client._client_id.decode(),
) -> Iterator[None]:
    """While it lasts, MQTT clients of this process connect to these brokers, by host and port.
    Faults name them by ``peer``, or by their client ids. Another address is unreachable.
    """

    def create_connection(client: paho.Client) -> Socket:
        broker = brokers.get((client.host, client.port))
        if broker is None:
            raise OSError(errno.EHOSTUNREACH, f"no broker at {client.host}:{client.port}")
        return broker.dial(peer(client))

    with mock.patch.object(paho.Client, "_create_socket_connection", create_connection):
        yield
