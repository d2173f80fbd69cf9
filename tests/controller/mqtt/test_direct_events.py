"""Events that the journal's writer sends itself: which ones, and what becomes of them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import cast

import pytest

from common.chain.schema import Entry
from controller.configuration.settings import BrokerConfig
from controller.mqtt.connection import PublisherConnection
from controller.mqtt.direct_events import MAX_DIRECT_EVENTS, DirectEvents
from controller.mqtt.outgoing import OutgoingMessage
from tests.support.brokers.mosquitto import Mosquitto
from tests.support.daemon.certificates import Authority
from tests.support.waiting import until_async

MESSAGES = 1500


class Writable:
    """Replaces a connection: sends whatever it is given, numbered from 1."""

    def __init__(self, *, v5: bool = True) -> None:
        self.v5 = v5
        self.sent: list[bytes] = []
        self.reserved = 0

    def reserve(self, count: int) -> bool:
        self.reserved = count
        return True

    def send_directly(self, messages: Sequence[OutgoingMessage]) -> Sequence[int]:
        self.sent += [message.payload for message in messages]
        return range(len(self.sent) - len(messages) + 1, len(self.sent) + 1)


def events(*positions: int) -> list[Entry]:
    return [Entry(at, "t1", "b1", "event", at, "", 0, b"%d" % at, b"", b"") for at in positions]


def message(event: Entry) -> OutgoingMessage | None:
    """Odd positions above 90 are special cases."""
    return None if event.position > 90 and event.position % 2 else OutgoingMessage("t", event.body)


def opened(connection: Writable, through: int = 0) -> DirectEvents:
    direct = DirectEvents(message)
    direct.open(cast("PublisherConnection", connection), through)
    return direct


def test_the_events_of_one_commit_are_sent_and_taken_once() -> None:
    connection = Writable()
    direct = opened(connection)
    direct.send(events(4, 5))
    direct.send(events(7))  # until the event loop has settled the first commit
    assert connection.sent == [b"4", b"5"]
    assert [direct.take(at) for at in (4, 5, 7, 4)] == [1, 2, None, None]


def test_nothing_overtakes_a_commit_that_the_event_loop_does_not_know_yet() -> None:
    connection = Writable()
    direct = opened(connection)
    direct.close()
    direct.send(events(4))
    direct.open(cast("PublisherConnection", connection), 3)
    direct.send(events(6))
    assert connection.sent == []
    direct.open(cast("PublisherConnection", connection), 6)
    direct.send(events(8))
    assert connection.sent == [b"8"]


@pytest.mark.parametrize(
    "commit", [events(92, 93), events(*range(1, MAX_DIRECT_EVENTS + 2))], ids=["special", "many"]
)
def test_a_special_case_is_left_to_the_event_loop(commit: list[Entry]) -> None:
    connection = Writable()
    direct = opened(connection)
    direct.send(commit)
    assert connection.sent == []
    assert direct.take(commit[0].position) is None


def test_nothing_is_sent_after_close_and_its_room_is_free_again() -> None:
    connection = Writable()
    direct = opened(connection)
    assert connection.reserved == MAX_DIRECT_EVENTS
    direct.close()
    direct.send(events(1))
    assert (connection.sent, connection.reserved) == ([], 0)


def test_what_was_sent_on_a_lost_connection_is_sent_again() -> None:
    direct = opened(Writable())
    direct.send(events(1))
    direct.forget()
    assert direct.take(1) is None


def test_with_mqtt_3_1_1_the_event_loop_sends_all_since_each_message_must_come_back() -> None:
    connection = Writable(v5=False)
    opened(connection).send(events(1))
    assert connection.sent == []


@pytest.fixture(params=["mqtt", "mqtts"])
def broker(
    programs: None, request: pytest.FixtureRequest, tmp_path: Path, ending: ExitStack
) -> BrokerConfig:
    """A real broker, with and without TLS."""
    secure = request.param == "mqtts"
    authority = Authority(tmp_path, "casino")
    certificate, key = authority.sign("broker")
    tls = (f"cafile {authority.file}", f"certfile {certificate}", f"keyfile {key}")
    settings = ("allow_anonymous true", "max_queued_messages 0", *(tls if secure else ()))
    mosquitto = Mosquitto(tmp_path / "broker", *settings)
    ending.callback(mosquitto.kill)
    mosquitto.start()
    return BrokerConfig(
        url=f"{request.param}://127.0.0.1:{mosquitto.port}",
        ca_file=str(authority.file) if secure else None,
    )


async def test_two_threads_write_whole_packets_and_each_is_acknowledged(
    broker: BrokerConfig,
) -> None:
    """Beside messages of the event loop, its subscriptions, and what the broker sends back."""
    received: dict[str, list[bytes]] = {"direct": [], "queued": []}
    acknowledged: dict[str, list[str | None]] = {"direct": [], "queued": []}
    offline = OutgoingMessage("status", b"")
    async with (
        PublisherConnection(broker, client_id="reader", will=offline) as reader,
        PublisherConnection(broker, client_id="writer", will=offline) as writer,
    ):
        await reader.subscribe_to(["direct", "queued"])

        async def read() -> None:
            async for each in reader.messages:
                received[str(each.topic)].append(bytes(each.payload))

        reading = asyncio.create_task(read())
        size = b"x" * 400
        with ThreadPoolExecutor(1) as thread:
            number = 0
            while number < MESSAGES:
                body = OutgoingMessage("direct", b"%06d" % number + size)
                writer.reserve(1)
                sending = thread.submit(writer.send_directly, [body])
                queued = OutgoingMessage("queued", b"%06d" % number + size)
                writer.post(queued, acknowledged["queued"].append)
                writer.flush()
                if number % 50 == 0:
                    await writer.subscribe_to([f"other/{number}"])
                for packet_id in await asyncio.wrap_future(sending):
                    await asyncio.sleep(0)  # the acknowledgement may come before
                    writer.adopt(packet_id, acknowledged["direct"].append)
                    number += 1
        await until_async(lambda: writer.pending == 0)
        await until_async(lambda: len(received["direct"]) == MESSAGES)
        await until_async(lambda: len(received["queued"]) == len(acknowledged["queued"]))
        reading.cancel()
    assert received["direct"] == [b"%06d" % number + size for number in range(MESSAGES)]
    assert received["queued"] == sorted(received["queued"])
    assert {*acknowledged["direct"], *acknowledged["queued"]} == {None}
    assert len(acknowledged["direct"]) == MESSAGES
