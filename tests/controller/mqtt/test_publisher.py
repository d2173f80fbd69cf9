"""Retry intervals of the publisher. Its published messages are tested with a real broker, in
tests/daemon and tests/chaos.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from threading import RLock
from typing import Any, cast

import aiomqtt
import paho.mqtt.client as paho
import pytest
from paho.mqtt.client import MQTTMessage

from common.broker.library import PublishingClient
from common.contract.topics import Topics
from controller.configuration.settings import BrokerConfig
from controller.journal.journal import Journal
from controller.journal.reader import JournalReader
from controller.mqtt.connection import (
    MAX_TOPICS_PER_SUBSCRIBE,
    MAX_UNANSWERED_SUBSCRIBES,
    PublisherConnection,
)
from controller.mqtt.embedded_broker import embedded_broker
from controller.mqtt.outbox import MAX_UNACKNOWLEDGED_EVENTS
from controller.mqtt.outgoing import Acknowledged, OutgoingMessage
from controller.mqtt.publisher import (
    MAX_REFUSED_RETRY_SECONDS,
    MAX_RETRY_SECONDS,
    MIN_REFUSED_RETRY_SECONDS,
    MIN_RETRY_SECONDS,
    Publisher,
    next_pause,
)
from controller.mqtt.served_table import ServedTable
from controller.mqtt.table_claims import TableClaims
from controller.mqtt.tables_api import TablesApi
from tests.controller.tables.test_runner import make_runner, session
from tests.support.journal.records import record
from tests.support.waiting import until_async


def pauses(lasted: float, *, in_vain: bool) -> list[float]:
    found = [0.0]
    for _ in range(12):
        found.append(next_pause(found[-1], lasted, in_vain=in_vain))
    return found[1:]


def test_the_first_attempt_comes_soon_and_each_failure_doubles_the_pause() -> None:
    assert pauses(0.0, in_vain=False)[:4] == [
        MIN_RETRY_SECONDS,
        2 * MIN_RETRY_SECONDS,
        4 * MIN_RETRY_SECONDS,
        8 * MIN_RETRY_SECONDS,
    ]
    assert pauses(0.0, in_vain=False)[-1] == MAX_RETRY_SECONDS
    assert (pauses(0.0, in_vain=True)[0], pauses(0.0, in_vain=True)[-1]) == (
        MIN_REFUSED_RETRY_SECONDS,
        MAX_REFUSED_RETRY_SECONDS,
    )


def test_a_connection_that_was_made_and_lost_at_once_is_no_success() -> None:
    assert pauses(1.0, in_vain=True)[-1] == MAX_REFUSED_RETRY_SECONDS
    assert pauses(1.0, in_vain=False)[-1] == MAX_RETRY_SECONDS


def test_a_connection_that_lasted_is_a_success() -> None:
    assert next_pause(MAX_RETRY_SECONDS, MAX_RETRY_SECONDS + 1, in_vain=False) == MIN_RETRY_SECONDS
    assert (
        next_pause(MAX_REFUSED_RETRY_SECONDS, MAX_REFUSED_RETRY_SECONDS + 1, in_vain=True)
        == MIN_REFUSED_RETRY_SECONDS
    )


class Slow:
    """Replaces a connection: it acknowledges a portion of messages at each turn of the event loop,
    and each takes long enough for something to happen meanwhile.
    """

    v5 = True
    window = MAX_UNACKNOWLEDGED_EVENTS

    def __init__(self, meanwhile: Callable[[], None]) -> None:
        self.topics: list[str] = []
        self._meanwhile = meanwhile
        self.waiting: list[Acknowledged] = []

    @property
    def pending(self) -> int:
        return len(self.waiting)

    def post(self, message: OutgoingMessage, acknowledged: Acknowledged) -> None:
        self.topics.append(message.topic)
        self.waiting.append(acknowledged)

    def reserve(self, count: int) -> bool:
        return count == 0

    def flush(self) -> None:
        asyncio.get_running_loop().call_soon(self._acknowledge)

    def acknowledgement_time_left(self) -> None:
        return None

    def _acknowledge(self) -> None:
        waiting, self.waiting = self.waiting, []
        for acknowledged in waiting:
            acknowledged(None)
        if waiting:
            self._meanwhile()

    async def deliver(self, messages: Sequence[OutgoingMessage]) -> list[str | None]:
        self.topics += [message.topic for message in messages]
        return [None] * len(messages)


class Silent(Slow):
    """It acknowledges nothing by itself."""

    def flush(self) -> None:
        pass


async def test_a_display_does_not_wait_for_the_backlog(tmp_path: Path) -> None:
    with closing(Journal(tmp_path / "journal.sqlite3")) as journal:
        for number in range(1, 301):
            stored = journal.append(record(number))
        await stored
        api = TablesApi("pit-1", "b1", Topics("palma"), {})
        publisher = Publisher(broker=BrokerConfig(), client_id="novamas", journal=journal, api=api)

        def meanwhile() -> None:
            if not api.node:
                api.node["health"] = b"now"
                publisher.wake()
            elif len(slow.topics) > 600:
                publisher.end()

        slow = Slow(meanwhile)
        await publisher._publish(cast("PublisherConnection", slow), journal.head())
        shown = slow.topics.index("novamas/v1/palma/node/pit-1/health")
        assert (
            MAX_UNACKNOWLEDGED_EVENTS <= shown <= 2 * MAX_UNACKNOWLEDGED_EVENTS
        )  # after the portion that was in flight
        assert slow.topics.count("novamas/v1/palma/t1/event") == 600


async def test_committed_events_are_sent_before_any_other_subscriber_is_notified(
    tmp_path: Path,
) -> None:
    with closing(Journal(tmp_path / "journal.sqlite3")) as journal:
        api = TablesApi("pit-1", "b1", Topics("palma"), {})
        publisher = Publisher(broker=BrokerConfig(), client_id="novamas", journal=journal, api=api)
        slow = Slow(lambda: None)
        publishing = asyncio.create_task(publisher._publish(cast("PublisherConnection", slow), 0))
        await asyncio.sleep(0)
        await journal.append(record(1), record(2))
        assert slow.topics == ["novamas/v1/palma/t1/event"] * 4
        await until_async(lambda: publisher.position == journal.head())
        publisher.end()
        await publishing
    with closing(JournalReader(tmp_path / "journal.sqlite3")) as reader:
        assert reader.cursors()["mqtt"] == publisher.position


async def test_the_cursor_waits_for_the_oldest_event_without_acknowledgement(
    tmp_path: Path,
) -> None:
    with closing(Journal(tmp_path / "journal.sqlite3")) as journal:
        await journal.append(record(1), record(2))
        publisher = Publisher(
            broker=BrokerConfig(),
            client_id="b",
            journal=journal,
            api=TablesApi("n", "b1", Topics("palma"), {}),
        )
        slow = Silent(lambda: None)
        publishing = asyncio.create_task(publisher._publish(cast("PublisherConnection", slow), 0))
        await until_async(lambda: slow.pending == 4)
        first, *others = slow.waiting
        for each in others:
            each(None)
        assert publisher.position == 0
        first(None)
        assert publisher.position > 0
        publishing.cancel()
        await asyncio.wait([publishing])


async def test_a_claim_that_is_repeated_changes_nothing_in_the_health(tmp_path: Path) -> None:
    """The health of a thousand tables is not made again for it."""
    changes: list[None] = []
    root = Topics("palma")
    with closing(Journal(tmp_path / "journal.sqlite3")) as journal:
        made = make_runner(journal)
        api = TablesApi("pit-1", "b1", root, {"r1": ServedTable(made, root, {}, 1.0)})
        publisher = Publisher(
            broker=BrokerConfig(),
            client_id="novamas",
            journal=journal,
            api=api,
            changed=lambda: changes.append(None),
        )
        slow, second = Slow(lambda: None), publisher._second_daemon
        second.begin(cast("PublisherConnection", slow))
        second.decide()
        assert len(changes) == 1
        await made.execute(session())
        for _ in range(3):
            second.republish()
        assert slow.topics == ["novamas/v1/palma/node/pit-1/claim"] * 4
        assert len(changes) == 1
        rival = TableClaims("pit-2", "a1", {"r1": root})
        rival.decide(0.0, "2026-01-01T00:00:00.000000Z")
        (claim,) = rival.messages()
        received = MQTTMessage(topic=claim.topic.encode())
        received.payload = claim.payload
        assert second.on_message(received)
        assert len(changes) == 2
        assert not api.claims.has("r1")


async def test_an_abandoned_connection_with_pending_writes_is_collected_without_errors() -> None:
    """The library no longer asks the event loop to watch its socket when it is collected."""
    async with embedded_broker("127.0.0.1", 0) as (host, port):
        broker = BrokerConfig(url=f"mqtt://{host}:{port}", protocol="3.1.1")
        connection = PublisherConnection(
            broker, client_id="pit-1", will=OutgoingMessage("offline", b"")
        )
        await connection.__aenter__()
        library = connection._client
        library._call_socket_register_write()
        await asyncio.sleep(0)
        connection.abandon()
        library._reset_sockets()
        assert library.socket() is None


async def test_subscribe_packets_wait_together_for_their_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waiting: set[str] = set()
    most = 0

    async def subscribe(_: PublisherConnection, topics: list[tuple[str, Any]]) -> list[int]:
        nonlocal most
        names = {topic for topic, _ in topics}
        waiting.update(names)
        most = max(most, len(waiting))
        await asyncio.sleep(0)
        waiting.difference_update(names)
        return [0x87 if topic.endswith("7") else 0 for topic, _ in topics]

    monkeypatch.setattr(PublisherConnection, "subscribe", subscribe)
    connection = PublisherConnection(
        BrokerConfig(url="mqtt://127.0.0.1"),
        client_id="pit-1",
        will=OutgoingMessage("offline", b""),
    )
    topics = [f"table-{number}" for number in range(1, 1001)]
    refused = await connection.subscribe_to(topics)
    assert refused == [topic for topic in topics if topic.endswith("7")]
    assert most == MAX_UNANSWERED_SUBSCRIBES * MAX_TOPICS_PER_SUBSCRIBE


async def test_a_connection_lost_in_the_reply_to_a_message_stops_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The library must not close its socket while it passes a message on: it holds the lock that
    it needs for that.
    """
    closed: list[str] = []
    doing = "other things"
    errors = iter([BlockingIOError, ConnectionResetError])

    def send(_client: paho.Client, _packets: bytes) -> int:
        raise next(errors)

    def close(_client: paho.Client) -> None:
        closed.append(doing)

    def reply(_message: MQTTMessage) -> bool:
        nonlocal doing
        doing = "reply"
        monkeypatch.setattr(PublishingClient, "_sock_send", send)
        monkeypatch.setattr(PublishingClient, "_sock_close", close)
        connection.send_unacknowledged([OutgoingMessage("reply", b"")])
        doing = "other things"
        return True

    async with embedded_broker("127.0.0.1", 0) as (host, port):
        broker = BrokerConfig(url=f"mqtt://{host}:{port}", protocol="3.1.1")
        connection = PublisherConnection(
            broker, client_id="pit-1", will=OutgoingMessage("offline", b""), intercept=reply
        )
        # a lock that its holder can take again, so that a failure is no standstill
        monkeypatch.setattr(connection.paho_client, "_in_callback_mutex", RLock())
        await connection.__aenter__()
        await connection.subscribe_to(["request"])
        async with aiomqtt.Client(host, port) as other:
            await other.publish("request", b"")
            await until_async(lambda: closed)
        connection.abandon()
    assert closed == ["other things"]
