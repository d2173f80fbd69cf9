"""The embedded broker."""

from __future__ import annotations

import asyncio
import contextlib
import socket

import aiomqtt
import pytest

from controller.mqtt import embedded_broker as embedded
from controller.mqtt.embedded_broker import NotLoopbackError, embedded_broker, loopback


async def test_it_serves_a_free_port_of_this_machine_and_ends_cleanly() -> None:
    async with embedded_broker("127.0.0.1", 0) as (host, port):
        async with aiomqtt.Client(host, port) as client:
            await client.publish("a/b", b"kept", qos=1, retain=True)
        async with aiomqtt.Client(host, port) as client:
            await client.subscribe("a/#", qos=1)
            message = await anext(aiter(client.messages))
            assert (message.payload, message.retain) == (b"kept", True)
    with pytest.raises(aiomqtt.MqttError):
        async with aiomqtt.Client(host, port):
            pass


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::", "pit.example"])
async def test_it_serves_no_other_machine(host: str) -> None:
    with pytest.raises(NotLoopbackError, match="of your own"):
        async with embedded_broker(host, 0):
            pass


def test_this_machine_has_a_name() -> None:
    assert (loopback("localhost"), loopback("127.0.0.2")) == ("127.0.0.1", "127.0.0.2")


async def test_a_port_in_use_is_a_plain_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other, pytest.raises(OSError, match="in use"):
        async with embedded_broker("127.0.0.1", other.getsockname()[1]):
            pass


async def test_clients_that_come_while_others_subscribe() -> None:
    topics = [f"{client}/{leaf}" for client in range(8) for leaf in range(5)]

    async def come(port: int, number: int) -> set[str]:
        own = {topic for topic in topics if topic.startswith(f"{number}/")}
        missing = set(own)
        async with aiomqtt.Client(
            "127.0.0.1", port, protocol=aiomqtt.ProtocolVersion.V311
        ) as client:
            await client.subscribe([(topic, 1) for topic in sorted(own)])
            async for message in client.messages:
                missing.discard(message.topic.value)
                if not missing:
                    break
        return own

    async with embedded_broker("127.0.0.1", 0) as (host, port):
        async with aiomqtt.Client(host, port, protocol=aiomqtt.ProtocolVersion.V311) as client:
            for topic in topics:
                await client.publish(topic, b"kept", qos=1, retain=True)
        coming = []
        for number in range(8):
            coming.append(asyncio.create_task(come(port, number)))
            await asyncio.sleep(0.003)  # each meets the one before it half-way
        assert set().union(*await asyncio.gather(*coming)) == set(topics)


async def test_a_client_receives_only_its_subscriptions() -> None:
    async with embedded_broker("127.0.0.1", 0) as (host, port):
        v311 = aiomqtt.ProtocolVersion.V311
        async with (
            aiomqtt.Client(host, port, protocol=v311) as first,
            aiomqtt.Client(host, port, protocol=v311) as display,
        ):
            await first.publish("casino/state", b"kept", qos=1, retain=True)
            await display.subscribe("casino/#", qos=1)
            heard = []
            async with aiomqtt.Client(host, port, protocol=v311) as late:
                await late.subscribe("casino/reply", qos=1)
                await first.publish("casino/reply", b"the end", qos=1)
                async for message in late.messages:
                    heard.append(message.topic.value)
                    if message.payload == b"the end":
                        break
        assert heard == ["casino/reply"]


V311 = aiomqtt.ProtocolVersion.V311
CONNECT = b"\x10\x10\x00\x04MQTT\x04\x02\x00\x00\x00\x04evil"
PUBLISH_OF_256_MIB = b"\x30\xff\xff\xff\x7f\x00\x01a"
SUBSCRIBE_OF_256_MIB = b"\x82\xff\xff\xff\x7f\x00\x01"


async def ended(reader: asyncio.StreamReader) -> bool:
    """Return True if the broker closes this connection."""
    async with asyncio.timeout(30):
        with contextlib.suppress(ConnectionError):
            while await reader.read(1024):
                pass
    return True


@pytest.mark.parametrize(
    "sent",
    [
        PUBLISH_OF_256_MIB,
        SUBSCRIBE_OF_256_MIB,
        b"\x10\xff\xff\xff\x7f\x00\x04MQTT",
        CONNECT + PUBLISH_OF_256_MIB,
        CONNECT + SUBSCRIBE_OF_256_MIB,
        CONNECT + b"\x30\x81\x80\x04\x00\x01a",  # 65,537 bytes
        CONNECT + b"\x30\x05\xff\xffabc",  # a topic that is longer than its packet
        CONNECT + b"\x30\xff\xff\xff\xff\xff\xff",  # a length without an end
        CONNECT + b"\x82\x08\x00\x01\x00\xf0" + PUBLISH_OF_256_MIB,
    ],
)
async def test_a_packet_that_is_too_large_closes_its_connection(sent: bytes) -> None:
    async with embedded_broker("127.0.0.1", 0) as (host, port):
        reader, writer = await asyncio.open_connection(host, port)
        writer.write(sent)
        assert await ended(reader)
        writer.close()
        async with aiomqtt.Client(host, port, protocol=V311) as client:
            await client.subscribe("a")
            await client.publish("a", b"x" * 65_000)
            assert len(bytes((await anext(aiter(client.messages))).payload)) == 65_000


async def test_a_client_beyond_the_limit_is_disconnected_and_silent_ones_make_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(embedded, "MAX_CLIENTS", 3)
    async with (
        embedded_broker("127.0.0.1", 0) as (host, port),
        aiomqtt.Client(host, port, protocol=V311) as client,
    ):
        with monkeypatch.context() as patch:  # a client that speaks may be slow
            patch.setattr(embedded, "CONNECT_TIMEOUT_SECONDS", 0.5)
            silent = [await asyncio.open_connection(host, port) for _ in range(9)]
            for reader, writer in silent:
                assert await ended(reader)
                writer.close()
        async with aiomqtt.Client(host, port, protocol=V311):
            await client.publish("a", b"one that spoke stays", qos=1)
