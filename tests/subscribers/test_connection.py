"""A service's connection to the broker."""

from __future__ import annotations

import asyncio

import pytest

from subscribers import connection as module
from subscribers.connection import Connection
from subscribers.feed import BrokerLogin
from tests.daemon.mosquitto import PATIENCE
from tests.subscribers.scripted_broker import TOPIC, broker

SAID = [(b"%d" % number, False) for number in range(30)]


async def test_what_came_in_one_piece_is_heard_in_one_turn_of_the_event_loop() -> None:
    async with broker(SAID) as (_, login), asyncio.timeout(PATIENCE):
        heard: list[bytes] = []
        in_one_turn: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        def hear(topic: str, body: bytes, retained: bool) -> None:
            if not heard:
                loop = asyncio.get_running_loop()
                loop.call_soon(lambda: in_one_turn.set_result(len(heard)))
            heard.append(body)

        will = (TOPIC.replace("state", "status"), b"offline")
        connection = Connection(login, [TOPIC], will, hear, lambda _: None)
        running = asyncio.create_task(connection.run())
        assert await in_one_turn == len(SAID)
        assert heard == [body for body, _ in SAID]
        connection.end()
        running.cancel()
        await asyncio.wait([running])


async def hear(login: BrokerLogin) -> None:
    """Be connected until something is heard."""
    heard = asyncio.Event()
    will = (TOPIC.replace("state", "status"), b"offline")
    connection = Connection(login, [TOPIC], will, lambda *_: heard.set(), lambda _: None)
    running = asyncio.create_task(connection.run())
    await heard.wait()
    connection.end()
    running.cancel()
    await asyncio.wait([running])


async def test_what_the_broker_refused_is_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REFUSED", 0.01)
    async with broker(SAID[:1], refuses=2) as (_, login), asyncio.timeout(PATIENCE):
        await hear(login)


async def test_what_is_said_while_the_broker_makes_the_subscription_is_heard() -> None:
    async with broker([(b"said", True)], misses=1) as (_, login), asyncio.timeout(PATIENCE):
        await hear(login)
