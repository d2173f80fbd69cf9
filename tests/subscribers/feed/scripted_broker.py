"""A broker for one client that sends a script of messages."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing, suppress

from subscribers.feed.tables import BrokerLogin

TOPIC = "novamas/v1/casino-mayor/ruleta-1/state"
CONNECT, PUBLISH, PUBACK, SUBSCRIBE = 0x10, 0x30, 0x40, 0x80
ScriptedMessage = tuple[bytes, bool]
"""Body of a message on :data:`TOPIC`, and its retain flag."""


class Broker:
    """Reply to the first SUBSCRIBE with these messages at QoS 1, in one write; with ``resumes`` to
    CONNECT already, as in a session that continues. Before it, refuse ``refuses`` subscriptions,
    and accept ``misses`` of them without sending any message.

    ``has_all`` is set when the client has acknowledged every message. ``received``: bodies that the
    client published, by topic.
    """

    def __init__(
        self,
        messages: Sequence[ScriptedMessage],
        refuses: int = 0,
        misses: int = 0,
        resumes: bool = False,
    ) -> None:
        self._messages, self._refuses, self._misses = messages, refuses, misses
        self._resumes = resumes
        self._count = len(messages)
        self.acknowledged: set[int] = set()
        self.has_all = asyncio.Event()
        self.received: dict[str, list[bytes]] = defaultdict(list)
        self._more = asyncio.Event()

    async def until_published(self, topic: str, count: int) -> None:
        """Wait until the client has published ``count`` messages on a topic."""
        while len(self.received[topic]) < count:
            self._more.clear()
            await self._more.wait()

    def _take_messages(self) -> bytes:
        messages, self._messages = self._messages, ()
        return b"".join(
            _publish(number, payload, retained)
            for number, (payload, retained) in enumerate(messages, 1)
        )

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with closing(writer), suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                kind = (await reader.readexactly(1))[0] & 0xF0
                body = await reader.readexactly(await _length(reader))
                if kind == CONNECT:
                    reply = bytes((0x20, 2, self._resumes, 0))
                    writer.write(reply + self._take_messages() if self._resumes else reply)
                elif kind == SUBSCRIBE:
                    count = body.count(b"novamas/")
                    if self._refuses:
                        self._refuses -= 1
                        writer.write(bytes((0x90, 2 + count)) + body[:2] + b"\x80" * count)
                        continue
                    reply = bytes((0x90, 2 + count)) + body[:2] + bytes(count)
                    if self._misses:
                        self._misses -= 1
                        writer.write(reply)
                        continue
                    writer.write(reply + self._take_messages())
                elif kind == PUBLISH:
                    topic = body[2 : 2 + int.from_bytes(body[:2], "big")]
                    mid = body[2 + len(topic) :][:2]
                    self.received[topic.decode()].append(body[4 + len(topic) :])
                    self._more.set()
                    writer.write(bytes((PUBACK, 2)) + mid)
                elif kind == PUBACK:
                    self.acknowledged.add(int.from_bytes(body, "big"))
                    if len(self.acknowledged) == self._count:
                        self.has_all.set()


async def _length(reader: asyncio.StreamReader) -> int:
    length = shift = 0
    while True:
        byte = (await reader.readexactly(1))[0]
        length |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return length


def _publish(number: int, payload: bytes, retained: bool) -> bytes:
    topic = TOPIC.encode()
    body = len(topic).to_bytes(2, "big") + topic + number.to_bytes(2, "big") + payload
    return bytes((PUBLISH | 0b10 | retained, len(body))) + body


@asynccontextmanager
async def broker(
    messages: Sequence[ScriptedMessage] = (),
    refuses: int = 0,
    misses: int = 0,
    resumes: bool = False,
) -> AsyncIterator[tuple[Broker, BrokerLogin]]:
    scripted = Broker(messages, refuses, misses, resumes)
    server = await asyncio.start_server(scripted.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        yield scripted, BrokerLogin(url=f"mqtt://127.0.0.1:{port}")
    finally:
        server.close()
