"""The broker of the simulated world on a real port of the loopback, in a thread of its own: for
programs that are to be tested against it as against Mosquitto.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress

from tests.support.brokers.mosquitto import free_port
from tests.world.broker.broker import Broker
from tests.world.broker.faults import Fault, Outage
from tests.world.broker.sockets import Sockets
from tests.world.broker.wires import Wires


class ServedBroker:
    """Listens at ``port`` from :meth:`start` to :meth:`kill`. Both can be repeated."""

    def __init__(self, broker: Broker) -> None:
        self.port = free_port()
        self._outage: Outage | None = None
        self._listening: socket.socket | None = None
        self._thawed = threading.Event()
        self._end = asyncio.Event()
        self._running: Future[Sockets] = Future()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run(Wires(broker))))
        self._thread.start()
        self._sockets = self._running.result()

    def start(self) -> None:
        """Accept connections, again after a kill."""
        if self._outage is not None:
            self.end(self._outage)
            self._outage = None
        self._call(self._listen)

    def kill(self, outage: Outage | None = None) -> None:
        """End all connections, and refuse others."""
        self._call(self._refuse)
        self._outage = outage or Outage()
        self.begin(self._outage)

    def begin(self, fault: Fault) -> None:
        """Begin a fault."""
        self._call(lambda: self._sockets.begin(fault))

    def end(self, fault: Fault) -> None:
        """End a fault."""
        self._call(lambda: self._sockets.end(fault))

    def freeze(self) -> None:
        """Stand still, as a program that got SIGSTOP: the kernel still accepts connections."""
        self._thawed.clear()
        self._sockets.loop.call_soon_threadsafe(self._thawed.wait)

    def thaw(self) -> None:
        """Continue."""
        self._thawed.set()

    def close(self) -> None:
        """End for ever."""
        self.thaw()
        self._call(self._refuse)
        self._sockets.loop.call_soon_threadsafe(self._end.set)
        self._thread.join()

    async def _run(self, wires: Wires) -> None:
        self._running.set_result(sockets := Sockets(wires))
        await self._end.wait()
        sockets.close()

    def _call(self, action: Callable[[], None]) -> None:
        """Call something in the thread of the broker, and wait until it is done."""

        async def call() -> None:
            action()

        asyncio.run_coroutine_threadsafe(call(), self._sockets.loop).result()

    def _listen(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", self.port), backlog=100)
        self._listening.setblocking(False)
        self._sockets.loop.add_reader(self._listening, self._accept, self._listening)

    def _refuse(self) -> None:
        if self._listening is not None:
            self._sockets.loop.remove_reader(self._listening)
            self._listening.close()
            self._listening = None

    def _accept(self, listening: socket.socket) -> None:
        with suppress(BlockingIOError):
            end, _ = listening.accept()
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._sockets.attach(end, "")
