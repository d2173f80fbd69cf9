"""The feed of many tables, from a broker that keeps few messages for one client."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import paho.mqtt.client as paho
import pytest
from paho.mqtt.enums import CallbackAPIVersion

from controller.contract.topics import Topics
from subscribers.feed import AT_ONCE, BrokerLogin, Said, table_feed
from tests.subscribers.scripted_broker import broker
from tests.support.brokers.mosquitto import PATIENCE, Mosquitto

TABLES = [f"ruleta-{number}" for number in range(1, 61)]
RETAINED = ("info", "state", "result", "history", "shoe")
LARGE = b"x" * 60_000
"""Much more of it is retained than fits into the sockets between broker and client."""


@pytest.fixture
def few(programs: None, tmp_path: Path) -> Iterator[Mosquitto]:
    broker = Mosquitto(tmp_path, "allow_anonymous true", f"max_queued_messages {AT_ONCE}")
    broker.start()
    yield broker
    broker.kill()


async def test_nothing_that_is_retained_of_many_tables_is_dropped(few: Mosquitto) -> None:
    topics = Topics("casino-mayor")
    wanted = {(table, leaf) for table in TABLES for leaf in RETAINED}
    publisher = paho.Client(CallbackAPIVersion.VERSION2)
    publisher.connect("127.0.0.1", few.port)
    publisher.loop_start()
    for table, leaf in sorted(wanted):
        told = publisher.publish(topics.table(table, leaf), LARGE, 1, retain=True)
        told.wait_for_publish(PATIENCE)
    publisher.disconnect()
    publisher.loop_stop()
    heard = set()
    feed = table_feed(BrokerLogin(url=f"mqtt://127.0.0.1:{few.port}"), topics, TABLES)
    async with asyncio.timeout(PATIENCE):
        async for each in feed:
            if isinstance(each, Said) and each.table is not None:
                heard.add((each.table, each.what))
            if heard == wanted:
                break
    await feed.aclose()
    assert "being dropped" not in few.log()


async def test_what_is_said_while_the_broker_makes_the_subscription_is_heard() -> None:
    async with broker([(b"said", True)], misses=1) as (_, login), asyncio.timeout(PATIENCE):
        feed = table_feed(login, Topics("casino-mayor"), ["ruleta-1"])
        async for each in feed:
            if isinstance(each, Said):
                assert each.body == b"said"
                break
        await feed.aclose()
