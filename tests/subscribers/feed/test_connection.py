"""The MQTT connection of a service."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import msgspec
import pytest

from subscribers.feed import connection as module
from subscribers.feed.connection import ServiceConnection
from subscribers.feed.tables import BrokerLogin
from tests.subscribers.feed.scripted_broker import TOPIC, Broker, broker
from tests.support.waiting import TIMEOUT_SECONDS

MESSAGES = [(b"%d" % number, False) for number in range(30)]


async def test_messages_read_at_once_are_handled_in_one_iteration_of_the_event_loop() -> None:
    async with broker(MESSAGES) as (_, login), asyncio.timeout(TIMEOUT_SECONDS):
        received: list[bytes] = []
        in_one_iteration: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        def on_message(topic: str, body: bytes, retained: bool) -> None:
            if not received:
                loop = asyncio.get_running_loop()
                loop.call_soon(lambda: in_one_iteration.set_result(len(received)))
            received.append(body)

        will = (TOPIC.replace("state", "status"), b"offline")
        connection = ServiceConnection(login, [TOPIC], will, on_message, lambda _: None)
        running = asyncio.create_task(connection.run())
        assert await in_one_iteration == len(MESSAGES)
        assert received == [body for body, _ in MESSAGES]
        connection.end()
        running.cancel()
        await asyncio.wait([running])


async def test_the_messages_of_a_continued_session_come_after_the_news_of_the_connection() -> None:
    """Even if they arrive with CONNACK: a service that counts them by connection would otherwise
    leave them unacknowledged, and the broker sends nothing more once its window is full.
    """
    async with broker(MESSAGES, resumes=True) as (server, login), asyncio.timeout(TIMEOUT_SECONDS):
        happened: list[object] = []

        def on_message(topic: str, body: bytes, retained: bool) -> None:
            happened.append(body)
            connection.acknowledge(1)

        will = (TOPIC.replace("state", "status"), b"offline")
        connection = ServiceConnection(
            login, [TOPIC], will, on_message, happened.append, session="recorder"
        )
        running = asyncio.create_task(connection.run())
        await server.has_all.wait()
        connection.end()
        running.cancel()
        await asyncio.wait([running])
        assert happened == [True, *(body for body, _ in MESSAGES)]


async def receive_one(login: BrokerLogin) -> None:
    """Stay connected until a message is received."""
    received = asyncio.Event()
    will = (TOPIC.replace("state", "status"), b"offline")
    connection = ServiceConnection(login, [TOPIC], will, lambda *_: received.set(), lambda _: None)
    running = asyncio.create_task(connection.run())
    await received.wait()
    connection.end()
    running.cancel()
    await asyncio.wait([running])


async def test_a_refused_subscription_is_requested_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RESUBSCRIBE_DELAY_SECONDS", 0.01)
    async with broker(MESSAGES[:1], refuses=2) as (_, login), asyncio.timeout(TIMEOUT_SECONDS):
        await receive_one(login)


async def test_a_message_published_during_the_subscription_is_received() -> None:
    async with broker([(b"live", True)], misses=1) as (_, login), asyncio.timeout(TIMEOUT_SECONDS):
        await receive_one(login)


ALERT, ENDED, STATE, STATUS = (TOPIC.replace("state", f"{letter}-1") for letter in "abcd")


@asynccontextmanager
async def connected(
    *, wildcards_retained: bool, up: Callable[[ServiceConnection], None]
) -> AsyncIterator[tuple[Broker, ServiceConnection]]:
    """Yield a broker and a connection to it, on which ``up`` was called once it was made."""
    async with broker() as (server, login), asyncio.timeout(TIMEOUT_SECONDS):
        login = msgspec.structs.replace(login, wildcards_retained=wildcards_retained)
        linked = asyncio.Event()
        will = (STATUS, b"offline")
        connection = ServiceConnection(
            login, [TOPIC], will, lambda *_: None, lambda _: linked.set()
        )
        running = asyncio.create_task(connection.run())
        await linked.wait()
        up(connection)
        yield server, connection
        connection.end()
        running.cancel()
        await asyncio.wait([running])


def publish_three(connection: ServiceConnection) -> None:
    connection.retain(ALERT, b"first")
    connection.retain(ENDED, b"raised")
    connection.retain(STATE, b"state", republished=False)


async def test_retained_messages_are_republished_if_wildcards_do_not_get_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "REPUBLISH_INTERVAL_SECONDS", 0.01)
    async with connected(wildcards_retained=False, up=publish_three) as (server, connection):
        await server.until_published(ALERT, 3)
        await server.until_published(ENDED, 3)
        connection.retain(ALERT, b"second")
        connection.retain(ENDED, b"")
        known = len(server.received[ALERT])
        await server.until_published(ALERT, known + 5)
        assert set(server.received[ALERT][known + 2 :]) == {b"second"}
        assert server.received[ENDED][-1] == b""
        assert server.received[ENDED].count(b"") == 1
        assert server.received[STATE] == [b"state"]
        await connection.flush({STATUS: b"offline"})
        connection.send(STATE, b"last")
        await server.until_published(STATE, 2)
        assert server.received[STATUS] == [b"offline"]


async def test_retained_messages_are_published_once_if_wildcards_get_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "REPUBLISH_INTERVAL_SECONDS", 0.0)
    async with connected(wildcards_retained=True, up=publish_three) as (server, connection):
        await server.until_published(ALERT, 1)
        for number in range(20):
            connection.send(STATE, b"%d" % number)
            await server.until_published(STATE, number + 2)
        assert server.received[ALERT] == [b"first"]
