"""The embedded broker: MQTT 3.1.1 in this process, for a laptop, a test bench or ``novamas demo``.

It accepts every client without a password, so it listens on a loopback address only, out of reach
of other machines. It stores nothing. Packets, connections, the time for a first packet and the
memory for clients (``embedded_limits.py``) are limited, because flooding the broker would flood the
daemon's process.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import msgspec

from common.broker.loopback import NotLoopbackError as NotLoopbackError
from common.broker.loopback import loopback as loopback
from common.tasks import CANCEL_RETRY_SECONDS
from controller.configuration.settings import BrokerConfig
from controller.mqtt.embedded_limits import BrokerLimits

MAX_PACKET_BYTES = 65_536
"""Maximum size of a packet after its fixed header; the daemon requires the same of every broker."""
MAX_CLIENTS = 256
"""Further clients are disconnected."""
CONNECT_TIMEOUT_SECONDS = 10.0
"""Maximum time for a client to send its first packet."""


class _PacketReader:
    """The reader of one connection, which ends at a packet that is too large. amqtt accepts any
    announced length up to 256 MiB, and loses synchronisation after some damaged packets: a read
    beyond the end of a packet ends the connection too.
    """

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader
        self._header = b""
        self._left = 0
        self._refused = False
        self.connected = False
        """True once a whole packet was received."""
        self.has_room: Callable[[], Awaitable[None]] | None = None
        """Waits until another packet may be read, once the client has sent its first one."""

    async def readexactly(self, count: int) -> bytes:
        """Read like ``asyncio.StreamReader``. The library calls only this: for the fixed header
        byte by byte, then for the rest of the packet.
        """
        if self.has_room is not None and not self._left and not self._header:
            await self.has_room()
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
                self._refused |= self._left > MAX_PACKET_BYTES
        return read

    def feed_eof(self) -> None:
        """Behave like ``asyncio.StreamReader``."""
        self._reader.feed_eof()


class _SnapshotDict(dict[str, Any]):
    """A dictionary that may change during iteration: each iteration sees its initial state."""

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(super().__iter__()))

    def items(self) -> Any:
        return tuple(super().items())


@contextlib.asynccontextmanager
async def embedded_broker(host: str, port: int) -> AsyncIterator[tuple[str, int]]:
    """Serve on ``host:port`` and yield the address; port 0 picks a free port. Raises ``OSError`` if
    the port is in use.
    """
    from amqtt.broker import Broker
    from amqtt.contexts import BrokerConfig, ListenerConfig, ListenerType
    from amqtt.errors import BrokerError

    host = loopback(host)
    for library in ("amqtt", "transitions"):  # the publisher logs all that matters
        logging.getLogger(library).setLevel(logging.CRITICAL + 1)
    with contextlib.closing(
        socket.create_server((host, port))
    ) as probe:  # fails here, with a plain error, if the port is in use
        port = probe.getsockname()[1]
    listener = ListenerConfig(type=ListenerType.TCP, bind=f"{host}:{port}")
    broker = Broker(
        BrokerConfig(
            listeners={"default": listener},
            plugins={"amqtt.plugins.authentication.AnonymousAuthPlugin": {"allow_anonymous": True}},
        )
    )
    broker._subscriptions = _SnapshotDict()  # noqa: SLF001 - the library awaits while it iterates over them
    vars(broker)["_publish_retained_messages_for_subscription"] = functools.partial(
        _send_retained, broker
    )
    limits = BrokerLimits(broker)
    serve: Any = broker.stream_connected
    handle: Any = broker._handle_client_session  # noqa: SLF001

    async def handle_session(
        reader: Any, writer: Any, session: Any, handler: Any, *more: Any
    ) -> None:
        """Serve a client that has sent its first packet."""
        packets, stream = reader._reader, writer._writer  # noqa: SLF001
        packets.has_room = limits.add(session, handler, stream)
        try:
            await handle(reader, writer, session, handler, *more)
        finally:
            limits.remove(session)

    vars(broker)["_handle_client_session"] = handle_session
    writers: set[asyncio.StreamWriter] = set()

    async def bounded(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter, listener_name: str
    ) -> None:
        """Serve a client within the limits."""
        if len(writers) >= MAX_CLIENTS:
            writer.close()
            return
        writers.add(writer)
        packets = _PacketReader(reader)

        def hang_up() -> None:
            if not packets.connected:
                writer.close()

        late = asyncio.get_running_loop().call_later(CONNECT_TIMEOUT_SECONDS, hang_up)
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


@contextlib.asynccontextmanager
async def broker_to_publish_to(broker: BrokerConfig) -> AsyncIterator[BrokerConfig]:
    """Yield the broker to publish to. An embedded one runs until the context ends."""
    address = urlsplit(broker.url)
    if address.scheme != "embedded":
        yield broker
        return
    async with embedded_broker(address.hostname or "127.0.0.1", address.port or 0) as (host, port):
        yield msgspec.structs.replace(broker, url=f"mqtt://{host}:{port}", protocol="3.1.1")


async def _send_retained(broker: Any, subscription: tuple[str, int], session: Any) -> None:
    """Send retained messages to the subscriber, in batches. The library would send those of other
    subscriptions too, and all at once.
    """
    topic_filter, qos = subscription
    subscribed = broker.subscriptions.get(topic_filter, ())
    handler = broker._get_handler(session)  # noqa: SLF001
    if handler is None or all(each.client_id != session.client_id for each, _ in subscribed):
        return
    retained = [
        message
        for topic, message in broker.retained_messages.items()
        if broker._matches(topic, topic_filter)  # noqa: SLF001
    ]
    retained.reverse()
    while retained:
        batch = [retained.pop()]
        while retained and sum(len(each.data) for each in batch) < MAX_PACKET_BYTES:
            batch.append(retained.pop())
        sending = (
            handler.mqtt_publish(each.topic, each.data, min(qos, each.qos or qos), retain=True)
            for each in batch
        )
        await asyncio.gather(*sending, return_exceptions=True)


async def _shut_down(broker: Any) -> None:
    """Shut down the broker and all its tasks. The library would wait forever for a task that has
    lost its cancellation (see :func:`common.tasks.end_tasks`), so it is cancelled again.
    """
    ending = asyncio.create_task(broker.shutdown())
    while not (await asyncio.wait({ending}, timeout=CANCEL_RETRY_SECONDS))[0]:
        for task in asyncio.all_tasks() - {ending, asyncio.current_task()}:
            if task.cancelling():
                task.cancel()
    await ending
