"""What a broker had retained before a subscription, and sends after what was said since, is not
taken for the latest: NATS does that.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from controller.contract.topics import Topics
from subscribers.connection import Connection
from subscribers.feed import BrokerLogin, Said, table_feed
from tests.daemon.mosquitto import PATIENCE

TOPIC = "novamas/v1/casino-mayor/ruleta-1/state"
CONNECT, PUBLISH, PUBACK, SUBSCRIBE = 0x10, 0x30, 0x40, 0x80
SAID = ((b"new", False), (b"old", True), (b"newer", False))
"""What comes, and whether it was retained."""


class Broker:
    """Takes one client, and answers its first subscription with messages out of order, of QoS 1."""

    def __init__(self) -> None:
        self.acknowledged: set[int] = set()
        self.has_all = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                kind = (await reader.readexactly(1))[0] & 0xF0
                body = await reader.readexactly(await _length(reader))
                if kind == CONNECT:
                    writer.write(bytes((0x20, 2, 0, 0)))
                elif kind == SUBSCRIBE:
                    count = body.count(b"novamas/")
                    writer.write(bytes((0x90, 2 + count)) + body[:2] + bytes(count))
                    for number, (payload, retained) in enumerate(SAID, 1):
                        writer.write(_publish(number, payload, retained))
                elif kind == PUBACK:
                    self.acknowledged.add(int.from_bytes(body, "big"))
                    if len(self.acknowledged) == len(SAID):
                        self.has_all.set()
        writer.close()


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
async def broker() -> AsyncIterator[tuple[Broker, BrokerLogin]]:
    made = Broker()
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        yield made, BrokerLogin(url=f"mqtt://127.0.0.1:{port}")
    finally:
        server.close()


async def test_a_display_shows_the_latest() -> None:
    async with broker() as (_, login), asyncio.timeout(PATIENCE):
        heard = []
        feed = table_feed(login, Topics("casino-mayor"), ["ruleta-1"])
        async for each in feed:
            heard += [each.body] if isinstance(each, Said) else []
            if heard[-1:] == [b"newer"]:
                break
        await feed.aclose()
        assert heard == [b"new", b"newer"]


@pytest.mark.parametrize("session", [None, "surveillance"])
async def test_a_service_hears_the_latest_and_acknowledges_all(session: str | None) -> None:
    async with broker() as (made, login), asyncio.timeout(PATIENCE):
        heard: list[bytes] = []
        all_heard = asyncio.Event()

        def hear(topic: str, body: bytes, retained: bool) -> None:
            heard.append(body)
            if body == b"newer":
                all_heard.set()

        will = (TOPIC.replace("state", "status"), b"offline")
        connection = Connection(login, [TOPIC], will, hear, lambda _: None, session)
        running = asyncio.create_task(connection.run())
        await all_heard.wait()
        assert heard == [b"new", b"newer"]
        connection.acknowledge(2)
        await made.has_all.wait()
        connection.end()
        running.cancel()
        await asyncio.wait([running])
