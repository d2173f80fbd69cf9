"""A service's connection to the broker."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import msgspec
import pytest

from subscribers import connection as module
from subscribers.connection import Connection
from subscribers.feed import BrokerLogin
from tests.subscribers.scripted_broker import TOPIC, Broker, broker
from tests.support.brokers.mosquitto import PATIENCE

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


ALERT, ENDED, STATE, STATUS = (TOPIC.replace("state", f"{each}-1") for each in "abcd")


@asynccontextmanager
async def told(
    *, wildcards_retained: bool, up: Callable[[Connection], None]
) -> AsyncIterator[tuple[Broker, Connection]]:
    """A connection that says something as soon as it is made, and who hears it."""
    async with broker() as (heard, login), asyncio.timeout(PATIENCE):
        login = msgspec.structs.replace(login, wildcards_retained=wildcards_retained)
        made = asyncio.Event()
        will = (STATUS, b"offline")
        connection = Connection(login, [TOPIC], will, lambda *_: None, lambda _: made.set())
        running = asyncio.create_task(connection.run())
        await made.wait()
        up(connection)
        yield heard, connection
        connection.end()
        running.cancel()
        await asyncio.wait([running])


def says(connection: Connection) -> None:
    connection.retain(ALERT, b"first")
    connection.retain(ENDED, b"raised")
    connection.retain(STATE, b"state", renewed=False)


async def test_what_stands_is_said_again_where_wildcards_get_nothing_retained(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "RENEWED", 0.01)
    async with told(wildcards_retained=False, up=says) as (heard, connection):
        await heard.until_heard(ALERT, 3)
        await heard.until_heard(ENDED, 3)
        connection.retain(ALERT, b"second")
        connection.retain(ENDED, b"")
        known = len(heard.heard[ALERT])
        await heard.until_heard(ALERT, known + 5)
        assert set(heard.heard[ALERT][known + 2 :]) == {b"second"}
        assert heard.heard[ENDED][-1] == b""
        assert heard.heard[ENDED].count(b"") == 1
        assert heard.heard[STATE] == [b"state"]
        await connection.flush({STATUS: b"offline"})
        connection.send(STATE, b"last")
        await heard.until_heard(STATE, 2)
        assert heard.heard[STATUS] == [b"offline"]


async def test_where_wildcards_get_what_is_retained_it_is_said_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "RENEWED", 0.0)
    async with told(wildcards_retained=True, up=says) as (heard, connection):
        await heard.until_heard(ALERT, 1)
        for number in range(20):
            connection.send(STATE, b"%d" % number)
            await heard.until_heard(STATE, number + 2)
        assert heard.heard[ALERT] == [b"first"]
