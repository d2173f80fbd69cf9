"""A door before the broker: it passes a program's packets on, reads what the program asks for and
publishes, and can be closed.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from typing import NamedTuple

MAX_PACKET_BYTES = 1 << 20
"""A program that sends a larger packet is cut off."""
READ_BYTES = 1 << 16
CONNECT, PUBLISH, SUBSCRIBE = 1, 3, 8
MQTT_5 = 5


class Published(NamedTuple):
    """A message that the program published."""

    topic: str
    payload: bytes
    qos: int
    retain: bool


class ClientPackets:
    """The packets of one client connection (MQTT 3.1.1 and 5)."""

    def __init__(self) -> None:
        self.level = 0
        """Of the protocol: 4 is MQTT 3.1.1; 0 before the first packet."""
        self.filters: list[str] = []
        """The filters of its subscriptions."""
        self._pending = b""

    def feed(self, data: bytes) -> Iterator[Published]:
        """Read bytes of the client, and yield what it publishes. Raises ``ValueError`` if it does
        not speak MQTT.
        """
        self._pending += data
        while (packet := self._next()) is not None:
            head, body = packet
            try:
                if head >> 4 == CONNECT:
                    self.level = body[2 + int.from_bytes(body[:2], "big")]
                elif head >> 4 == SUBSCRIBE:
                    self.filters += self._subscribed(body[2:])
                elif head >> 4 == PUBLISH:
                    yield self._published(head, body)
            except (IndexError, UnicodeDecodeError):
                raise ValueError("a packet is cut off or not text") from None
        if not self.level and self._pending and self._pending[0] >> 4 != CONNECT:
            raise ValueError("the first packet is not CONNECT")

    def _next(self) -> tuple[int, bytes] | None:
        size, used = _varint(self._pending, 1)
        if size is None:
            return None
        if size > MAX_PACKET_BYTES:
            raise ValueError(f"a packet has {size} bytes")
        if len(self._pending) < used + size:
            return None
        head, body = self._pending[0], self._pending[used : used + size]
        self._pending = self._pending[used + size :]
        return head, body

    def _without_properties(self, body: bytes) -> bytes:
        if self.level != MQTT_5:
            return body
        size, used = _varint(body, 0)
        return body[used + (size or 0) :]

    def _subscribed(self, body: bytes) -> Iterator[str]:
        body = self._without_properties(body)
        while body:
            topic, body = _text(body)
            yield topic
            body = body[1:]

    def _published(self, head: int, body: bytes) -> Published:
        topic, body = _text(body)
        qos = head >> 1 & 3
        body = self._without_properties(body[2:] if qos else body)
        return Published(topic, body, qos, bool(head & 1))


def _text(body: bytes) -> tuple[str, bytes]:
    end = 2 + int.from_bytes(body[:2], "big")
    return body[2:end].decode(), body[end:]


def _varint(data: bytes, at: int) -> tuple[int | None, int]:
    """Read a length: it, and where the rest begins. None: not whole yet."""
    value = shift = 0
    for place in range(at, min(at + 4, len(data))):
        value |= (data[place] & 0x7F) << shift
        shift += 7
        if data[place] < 0x80:
            return value, place + 1
    if len(data) >= at + 4:
        raise ValueError("a length has more than four bytes")
    return None, at


class BrokerDoor:
    """Serves on a loopback port, and connects each client to the broker. ``on_published`` is called
    for each message of a client.
    """

    def __init__(self, host: str, port: int, on_published: Callable[[Published], None]) -> None:
        self.filters: list[str] = []
        """All filters that clients subscribed to."""
        self.level = 0
        """Of the protocol, as the last client spoke it; 0 if none has connected."""
        self.problem: str | None = None
        """Why a client was cut off."""
        self.port = 0
        self._broker, self._on_published = (host, port), on_published
        self._open = True
        self._clients: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        """Listen."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """End all connections, and listen no more."""
        assert self._server is not None
        self._server.close()
        await self.cut()

    async def cut(self) -> None:
        """End all connections, and accept none until :meth:`reopen`."""
        self._open = False
        for task in self._clients:
            task.cancel()
        await asyncio.gather(*self._clients, return_exceptions=True)

    def reopen(self) -> None:
        """Accept connections again."""
        self._open = True

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._clients.add(task)
        try:
            if self._open:
                await self._pass_on(reader, writer)
        except (OSError, asyncio.CancelledError):
            pass  # the client sees that the connection ends
        finally:
            self._clients.discard(task)
            writer.close()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        broker_reader, broker_writer = await asyncio.open_connection(*self._broker)
        answers = asyncio.ensure_future(_copy(broker_reader, writer))
        packets = ClientPackets()
        try:
            while data := await reader.read(READ_BYTES):
                known = len(packets.filters)
                for message in packets.feed(data):
                    self._on_published(message)
                self.level = packets.level
                self.filters += packets.filters[known:]
                broker_writer.write(data)
                await broker_writer.drain()
        except ValueError as error:
            self.problem = str(error)
        finally:
            answers.cancel()
            with contextlib.suppress(OSError, asyncio.CancelledError):
                await answers
            broker_writer.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(READ_BYTES):
        writer.write(data)
        await writer.drain()
    writer.close()
