"""What a broker had retained before a subscription, and sends after what was said since, is not
taken for the latest: NATS does that.
"""

from __future__ import annotations

import asyncio

import pytest

from controller.contract.topics import Topics
from subscribers.connection import Connection
from subscribers.feed import Said, table_feed
from tests.subscribers.scripted_broker import TOPIC, broker
from tests.support.brokers.mosquitto import PATIENCE

SAID = ((b"new", False), (b"old", True), (b"newer", False))


async def test_a_display_shows_the_latest() -> None:
    async with broker(SAID) as (_, login), asyncio.timeout(PATIENCE):
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
    async with broker(SAID) as (made, login), asyncio.timeout(PATIENCE):
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
