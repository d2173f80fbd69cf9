"""The embedded broker: MQTT 3.1.1 in this process, for a laptop, a test bench or ``novamas demo``.

It accepts every client without a password, so it listens on a loopback address only, out of reach
of other machines. It stores nothing. Packets, connections and the time for a first packet have
limits, as whoever floods it floods the daemon's process.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import socket
from collections.abc import AsyncIterator, Iterator
from typing import Any

from controller.broker.loopback import NotLoopbackError as NotLoopbackError
from controller.broker.loopback import loopback as loopback

PATIENCE = 0.5
"""Seconds before a cancelled task that still runs is cancelled again."""


PACKET = 65_536
"""Bytes of a packet behind its fixed header; as much as the daemon asks of every broker."""
CONNECTIONS = 256
"""Clients at once. A further one is hung up on."""
CONNECT_WITHIN = 10.0
"""Seconds within which a client must have sent its first packet."""


class _Packets:
    """The reader of one connection, which ends at a packet that is too large. The library takes
    what a packet announces, up to 256 MiB, and loses its place after some damaged packets: what
    would read beyond a packet ends the connection too.
    """

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader
        self._header = b""
        self._left = 0
        self._refused = False
        self.connected = False
        """Whether a whole packet has come."""

    async def readexactly(self, count: int) -> bytes:
        """As that of ``asyncio.StreamReader``, which the library calls alone: a fixed header byte
        by byte, and then the rest of the packet.
        """
        self._refused |= count > (self._left or 1) or len(self._header) > 4
        if self._refused:
            raise asyncio.IncompleteReadError(b"", count)
        read = await self._reader.readexactly(count)
        if self._left:
            self._left -= len(read)
            self.connected |= not self._left
        else:
            self._header += read
            if len(self._header) > 1 and self._header[-1] < 0x80:
                digits = self._header[:0:-1]
                self._left = functools.reduce(
                    lambda sum_, digit: sum_ << 7 | digit & 0x7F, digits, 0
                )
                self._header = b""
                self._refused |= self._left > PACKET
        return read

    def feed_eof(self) -> None:
        """As that of ``asyncio.StreamReader``."""
        self._reader.feed_eof()


class _Snapshots(dict[str, Any]):
    """A dictionary that may change during iteration: each iteration sees its initial state."""

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(super().__iter__()))

    def items(self) -> Any:
        return tuple(super().items())


@contextlib.asynccontextmanager
async def embedded_broker(host: str, port: int) -> AsyncIterator[tuple[str, int]]:
    """Serve on ``host:port`` and yield the address; port 0 picks a free port. Raises ``OSError`` if
    the port is taken.
    """
    from amqtt.broker import Broker
    from amqtt.contexts import BrokerConfig, ListenerConfig, ListenerType
    from amqtt.errors import BrokerError

    host = loopback(host)
    for library in ("amqtt", "transitions"):  # the publisher logs all that matters
        logging.getLogger(library).setLevel(logging.CRITICAL + 1)
    with contextlib.closing(
        socket.create_server((host, port))
    ) as taken:  # a taken port fails here, with a plain error
        port = taken.getsockname()[1]
    listener = ListenerConfig(type=ListenerType.TCP, bind=f"{host}:{port}")
    broker = Broker(
        BrokerConfig(
            listeners={"default": listener},
            plugins={"amqtt.plugins.authentication.AnonymousAuthPlugin": {"allow_anonymous": True}},
        )
    )
    broker._subscriptions = _Snapshots()  # noqa: SLF001 - it awaits in its loops over them, and clients that come meanwhile end it
    send_retained = broker._publish_retained_messages_for_subscription  # noqa: SLF001

    async def send_to_subscribers(subscription: tuple[str, int], session: Any) -> None:
        """Send retained messages only to the subscriber: the library sends every new client those
        of other subscriptions too.
        """
        subscribed = broker._subscriptions.get(subscription[0], ())  # noqa: SLF001
        if any(each.client_id == session.client_id for each, _ in subscribed):
            await send_retained(subscription, session)

    broker._publish_retained_messages_for_subscription = send_to_subscribers  # noqa: SLF001
    serve: Any = broker.stream_connected
    writers: set[asyncio.StreamWriter] = set()

    async def bounded(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter, listener_name: str
    ) -> None:
        """Serve a client within the limits."""
        if len(writers) >= CONNECTIONS:
            writer.close()
            return
        writers.add(writer)
        packets = _Packets(reader)

        def hang_up() -> None:
            if not packets.connected:
                writer.close()

        late = asyncio.get_running_loop().call_later(CONNECT_WITHIN, hang_up)
        try:
            await serve(packets, writer, listener_name=listener_name)
        finally:
            late.cancel()
            writers.discard(writer)
            writer.close()

    vars(broker)["stream_connected"] = bounded
    try:
        await broker.start()
    except BrokerError as error:
        raise OSError(f"the embedded broker cannot listen on {host}:{port}: {error}") from error
    try:
        yield host, port
    finally:
        await _shut_down(broker)


async def _shut_down(broker: Any) -> None:
    """Shut down the broker and all its tasks. In CPython 3.11 ``asyncio.wait_for`` can lose a
    cancellation, and the library would then wait for that task forever; so a cancelled task that
    still runs is cancelled again.
    """
    ending = asyncio.create_task(broker.shutdown())
    while not (await asyncio.wait({ending}, timeout=PATIENCE))[0]:
        for task in asyncio.all_tasks() - {ending, asyncio.current_task()}:
            if task.cancelling():
                task.cancel()
    await ending
