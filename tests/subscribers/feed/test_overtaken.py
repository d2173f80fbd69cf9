"""A retained message that arrives after a newer live one is not taken for the latest. NATS sends
them in this order.
"""

from __future__ import annotations

import asyncio

import pytest

from common.contract.topics import Topics
from subscribers.feed.connection import ServiceConnection
from subscribers.feed.tables import FeedMessage, table_feed
from tests.subscribers.feed.scripted_broker import TOPIC, broker
from tests.support.waiting import TIMEOUT_SECONDS

MESSAGES = ((b"new", False), (b"old", True), (b"newer", False))


async def test_a_display_shows_the_latest_message() -> None:
    async with broker(MESSAGES) as (_, login), asyncio.timeout(TIMEOUT_SECONDS):
        received = []
        feed = table_feed(login, Topics("casino-mayor"), ["ruleta-1"])
        async for message in feed:
            received += [message.body] if isinstance(message, FeedMessage) else []
            if received[-1:] == [b"newer"]:
                break
        await feed.aclose()
        assert received == [b"new", b"newer"]


@pytest.mark.parametrize("session", [None, "surveillance"])
async def test_a_service_receives_the_latest_message_and_acknowledges_all(
    session: str | None,
) -> None:
    async with broker(MESSAGES) as (server, login), asyncio.timeout(TIMEOUT_SECONDS):
        received: list[bytes] = []
        received_all = asyncio.Event()

        def on_message(topic: str, body: bytes, retained: bool) -> None:
            received.append(body)
            if body == b"newer":
                received_all.set()

        will = (TOPIC.replace("state", "status"), b"offline")
        connection = ServiceConnection(login, [TOPIC], will, on_message, lambda _: None, session)
        running = asyncio.create_task(connection.run())
        await received_all.wait()
        assert received == [b"new", b"newer"]
        connection.acknowledge(2)
        await server.has_all.wait()
        connection.end()
        running.cancel()
        await asyncio.wait([running])
