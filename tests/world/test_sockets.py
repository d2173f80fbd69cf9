"""Real clients at the broker of the simulated world: ours in memory, and any at a port."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Literal

import pytest

from common.broker.failures import Disconnected
from controller.configuration.settings import BrokerConfig
from controller.mqtt.connection import PublisherConnection
from controller.mqtt.outgoing import OutgoingMessage
from tests.support.waiting import until_async
from tests.world.broker.broker import Broker, Limits
from tests.world.broker.faults import Fault, ForcedDisconnect, Outage, Partition, RefusePublish
from tests.world.broker.packets import V311, Connect, Subscribe, Subscription, encode
from tests.world.broker.served import ServedBroker
from tests.world.broker.sockets import Sockets, connect_in_memory
from tests.world.broker.wires import Wires
from tests.world.conversations import InMemory, SocketServer, run
from tests.world.test_against_mosquitto import LIMITS, SCRIPTS

PROTOCOLS = ("5", "3.1.1")
WILL = OutgoingMessage("gone", b"{}", retain=True)


@pytest.fixture
async def broker() -> Sockets:
    return Sockets(Wires(Broker(Limits(max_payload_bytes=10_000))))


@pytest.fixture
def memory(broker: Sockets) -> Iterator[None]:
    with connect_in_memory({("broker", 1883): broker}):
        yield
    broker.close()


def client(
    name: str, protocol: Literal["5", "3.1.1"] = "5", keepalive: int = 10
) -> PublisherConnection:
    config = BrokerConfig(url="mqtt://broker:1883", protocol=protocol, keepalive=keepalive)
    return PublisherConnection(config, client_id=name, will=WILL)


async def received(connection: PublisherConnection, count: int) -> list[bytes]:
    found = []
    async for message in connection.messages:
        assert isinstance(message.payload, bytes)
        found.append(message.payload)
        if len(found) == count:
            break
    return found


@pytest.mark.usefixtures("memory")
@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_our_client_publishes_and_receives(protocol: Literal["5", "3.1.1"]) -> None:
    async with client("reader", protocol) as reader, client("writer", protocol) as writer:
        assert await reader.subscribe_to(["x/#", "gone"]) == []
        messages = [OutgoingMessage("x/y", b"%d" % number) for number in range(200)]
        assert await writer.deliver(messages) == [None] * 200
        assert await received(reader, 200) == [message.payload for message in messages]
        writer.abandon()
        assert await received(reader, 1) == [b"{}"]


@pytest.mark.usefixtures("memory")
async def test_our_client_is_told_of_a_refusal(broker: Sockets) -> None:
    async with client("writer") as writer:
        large = OutgoingMessage("x", b"." * 20_000)
        assert await writer.deliver([large]) == ["Packet too large"]
        broker.begin(RefusePublish("x"))
        assert await writer.deliver([OutgoingMessage("x", b"1")]) == ["Quota exceeded"]


@pytest.mark.usefixtures("memory")
@pytest.mark.parametrize("fault", [Outage(), ForcedDisconnect("writer")], ids=["outage", "forced"])
async def test_our_client_notices_that_its_connection_ends(broker: Sockets, fault: Fault) -> None:
    async def lose_connection() -> None:
        async with client("writer") as writer:
            broker.begin(fault)
            await received(writer, 1)

    with pytest.raises(Disconnected):
        await lose_connection()
    if isinstance(fault, Outage):
        with pytest.raises(Disconnected, match="the broker is down"):
            await client("writer").__aenter__()
        broker.end(fault)
    async with client("writer") as writer:
        assert await writer.deliver([OutgoingMessage("x", b"1")]) == [None]


@pytest.mark.usefixtures("memory")
async def test_our_client_gives_up_in_a_partition_and_its_will_is_published_after_it(
    broker: Sockets,
) -> None:
    async with client("reader") as reader:
        await reader.subscribe_to(["gone"])
        fault = Partition(frozenset({"writer"}))

        async def lose_connection() -> None:
            async with client("writer", keepalive=1) as writer:
                broker.begin(fault)
                await writer.deliver([OutgoingMessage("x", b"1")])

        with pytest.raises(Disconnected, match="no acknowledgement"):
            await lose_connection()
        broker.end(fault)
        async with asyncio.timeout(60), client("writer", keepalive=1) as writer:
            assert await writer.deliver([OutgoingMessage("x", b"2")]) == [None]


@pytest.mark.usefixtures("memory")
async def test_a_client_that_does_not_read_gets_all_of_it_later(broker: Sockets) -> None:
    async with client("writer") as writer:
        end = broker.dial("raw")
        end.setblocking(False)
        end.send(encode(Connect("raw", V311), V311))
        end.send(encode(Subscribe(1, (Subscription("x"),)), V311))
        session = broker.wires.broker.sessions
        await until_async(lambda: "raw" in session and session["raw"].subscriptions)
        payload = b"." * 9_000
        for _ in range(10):
            await writer.deliver([OutgoingMessage("x", payload)] * 20)
        found = bytearray()

        def whole() -> bool:
            try:
                found.extend(end.recv(1_000_000))
            except BlockingIOError:
                return False
            return found.count(b"." * 9_000) == 200

        await until_async(whole)
        end.close()


def test_a_served_broker_answers_as_the_one_in_memory() -> None:
    with ExitStack() as stack:
        for name, script in SCRIPTS.items():
            served = ServedBroker(Broker(LIMITS))
            stack.callback(served.close)
            served.start()
            expected = run(InMemory(Broker(LIMITS)), script)
            assert run(SocketServer(served.port), script) == expected, name
            stack.pop_all().close()


def test_a_served_broker_is_killed_frozen_and_started_again() -> None:
    served = ServedBroker(Broker())
    with ExitStack() as stack:
        stack.callback(served.close)
        served.start()
        line = SocketServer(served.port).open()
        served.freeze()
        other = SocketServer(served.port).open()
        served.thaw()
        served.kill()
        assert line.receive() == other.receive() == b""
        line.drop()
        other.drop()
        with pytest.raises(ConnectionRefusedError):
            SocketServer(served.port).open()
        served.start()
        SocketServer(served.port).open().drop()
