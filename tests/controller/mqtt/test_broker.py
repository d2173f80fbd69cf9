"""The embedded broker."""

from __future__ import annotations

import asyncio
import socket

import aiomqtt
import pytest

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


async def test_a_client_hears_only_what_it_subscribed_to() -> None:
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
