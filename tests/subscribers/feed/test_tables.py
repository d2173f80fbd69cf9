"""The feed of many tables, from a broker with a short queue per client."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import paho.mqtt.client as paho
import pytest
from paho.mqtt.enums import CallbackAPIVersion

from common.contract.topics import Topics
from subscribers.feed.tables import MAX_TOPICS_PER_SUBSCRIBE, BrokerLogin, FeedMessage, table_feed
from tests.subscribers.feed.scripted_broker import broker
from tests.support.brokers.mosquitto import Mosquitto
from tests.support.waiting import TIMEOUT_SECONDS

TABLES = [f"ruleta-{number}" for number in range(1, 61)]
RETAINED = ("info", "state", "result", "history", "shoe")
LARGE = b"x" * 60_000
"""The retained messages exceed the socket buffers between broker and client by far."""


@pytest.fixture
def few(programs: None, tmp_path: Path) -> Iterator[Mosquitto]:
    broker = Mosquitto(
        tmp_path, "allow_anonymous true", f"max_queued_messages {MAX_TOPICS_PER_SUBSCRIBE}"
    )
    broker.start()
    yield broker
    broker.kill()


async def test_no_retained_message_of_many_tables_is_dropped(few: Mosquitto) -> None:
    topics = Topics("casino-mayor")
    wanted = {(table, leaf) for table in TABLES for leaf in RETAINED}
    publisher = paho.Client(CallbackAPIVersion.VERSION2)
    publisher.connect("127.0.0.1", few.port)
    publisher.loop_start()
    for table, leaf in sorted(wanted):
        publication = publisher.publish(topics.table(table, leaf), LARGE, 1, retain=True)
        publication.wait_for_publish(TIMEOUT_SECONDS)
    publisher.disconnect()
    publisher.loop_stop()
    received = set()
    feed = table_feed(BrokerLogin(url=f"mqtt://127.0.0.1:{few.port}"), topics, TABLES)
    async with asyncio.timeout(TIMEOUT_SECONDS):
        async for message in feed:
            if isinstance(message, FeedMessage) and message.table is not None:
                received.add((message.table, message.path))
            if received == wanted:
                break
    await feed.aclose()
    assert "being dropped" not in few.log()


async def test_a_message_published_during_the_subscription_is_received() -> None:
    async with broker([(b"live", True)], misses=1) as (_, login), asyncio.timeout(TIMEOUT_SECONDS):
        feed = table_feed(login, Topics("casino-mayor"), ["ruleta-1"])
        async for message in feed:
            if isinstance(message, FeedMessage):
                assert message.body == b"live"
                break
        await feed.aclose()
