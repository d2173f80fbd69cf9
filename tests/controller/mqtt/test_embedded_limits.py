"""Limits of the embedded broker's memory for its clients; a client beyond one is disconnected, with
a line in the log.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterator, MutableMapping
from typing import Any

import aiomqtt
import pytest
from structlog.testing import capture_logs

from controller.mqtt import embedded_limits as limits
from controller.mqtt.embedded_broker import embedded_broker

V311 = aiomqtt.ProtocolVersion.V311
CONNECT = b"\x10\x10\x00\x04MQTT\x04\x02\x00\x00\x00\x04evil"
Logs = list[MutableMapping[str, Any]]


def client(host: str, port: int) -> aiomqtt.Client:
    return aiomqtt.Client(host, port, protocol=V311)


@pytest.fixture
def logs() -> Iterator[Logs]:
    with capture_logs() as found:
        yield found


def reasons(logs: Logs) -> list[str]:
    return [
        log["reason"] for log in logs if log["event"] == "the embedded broker hung up on a client"
    ]


async def until_ended(reader: asyncio.StreamReader) -> None:
    async with asyncio.timeout(60):
        with contextlib.suppress(ConnectionError):
            while await reader.read(1 << 16):
                pass


async def retained(host: str, port: int) -> dict[str, bytes]:
    """The messages that a new subscriber receives, up to a marker message."""
    found: dict[str, bytes] = {}
    async with client(host, port) as late:
        await late.subscribe("kept/#", qos=1)
        await late.subscribe("end", qos=1)
        await late.publish("end", b"end", qos=1)
        async for message in late.messages:
            if message.topic.value == "end":
                return found
            found[message.topic.value] = bytes(message.payload)
    return found


async def beyond(host: str, port: int, topic: str, body: bytes) -> None:
    """Publish more than the limit, until the connection has ended."""
    async with asyncio.timeout(60):
        with contextlib.suppress(aiomqtt.MqttError):
            async with client(host, port) as much:
                await much.publish(topic, body, qos=1, retain=True)
                async for _ in much.messages:
                    pass


async def test_the_number_of_retained_messages_is_limited(
    logs: Logs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MAX_RETAINED", 3)
    async with embedded_broker("127.0.0.1", 0) as at, client(*at) as first:
        for name in ("a", "b", "c", "a"):
            await first.publish(f"kept/{name}", name.encode(), qos=1, retain=True)
        await beyond(*at, "kept/d", b"d")
        assert await retained(*at) == {"kept/a": b"a", "kept/b": b"b", "kept/c": b"c"}
        # a cleared one makes room
        await first.publish("kept/b", b"", qos=1, retain=True)
        await first.publish("kept/d", b"d", qos=1, retain=True)
        assert await retained(*at) == {"kept/a": b"a", "kept/c": b"c", "kept/d": b"d"}
    assert reasons(logs) == ["more than 3 messages would be retained"]


async def test_the_size_of_retained_messages_is_limited(
    logs: Logs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MAX_RETAINED_BYTES", 10 * limits.MESSAGE_OVERHEAD_BYTES)
    half = b"x" * 4 * limits.MESSAGE_OVERHEAD_BYTES
    async with embedded_broker("127.0.0.1", 0) as at, client(*at) as first:
        for _ in range(9):  # it replaces the one before
            await first.publish("kept/a", half, qos=1, retain=True)
        await beyond(*at, "kept/b", b"x" * 6 * limits.MESSAGE_OVERHEAD_BYTES)
        for name in "bcd":
            await first.publish(f"kept/{name}", b"small", qos=1, retain=True)
        assert set(await retained(*at)) == {"kept/a", "kept/b", "kept/c", "kept/d"}
    assert reasons(logs) == [
        f"more than {10 * limits.MESSAGE_OVERHEAD_BYTES} bytes would be retained"
    ]


async def test_retained_messages_arrive_complete_and_in_order() -> None:
    async with embedded_broker("127.0.0.1", 0) as at, client(*at) as first:
        bodies = {f"kept/{number:03}": b"%03d" % number * 3000 for number in range(200)}
        for topic, body in bodies.items():
            await first.publish(topic, body, qos=1, retain=True)
        found = await retained(*at)
    assert list(found.items()) == list(bodies.items())


def silent(host: str, port: int, topic: bytes, name: bytes) -> socket.socket:
    """A subscriber that never reads."""
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    made.connect((host, port))
    connect = b"\x00\x04MQTT\x04\x02\x00\x00" + len(name).to_bytes(2, "big") + name
    subscribe = b"\x00\x01" + len(topic).to_bytes(2, "big") + topic + b"\x00"
    made.sendall(
        b"\x10" + bytes([len(connect)]) + connect + b"\x82" + bytes([len(subscribe)]) + subscribe
    )
    return made


async def flood(at: tuple[str, int], done: Any) -> None:
    """Publish large messages, each of which a healthy subscriber receives before the next."""
    async with client(*at) as publisher, client(*at) as healthy:
        await healthy.subscribe("much/#", qos=1)
        messages = aiter(healthy.messages)
        async with asyncio.timeout(120):
            number = 0
            while not done():
                body = b"%08d" % number + b"x" * 60_000
                await publisher.publish("much/a", body, qos=1)
                assert bytes((await anext(messages)).payload) == body
                number += 1


async def test_a_subscriber_that_never_reads_is_disconnected(
    logs: Logs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MAX_QUEUED_BYTES", 1 << 20)
    async with embedded_broker("127.0.0.1", 0) as at:
        with contextlib.closing(silent(*at, b"much/#", b"slow")):
            await flood(at, lambda: reasons(logs))
    [reason] = reasons(logs)
    assert reason.startswith("it reads its messages too slowly: ")
    assert [log["client"] for log in logs if "reason" in log] == ["slow"]


async def test_of_many_slow_subscribers_the_slowest_is_disconnected(
    logs: Logs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MAX_TOTAL_QUEUED_BYTES", 2 << 20)
    async with embedded_broker("127.0.0.1", 0) as at:
        with contextlib.ExitStack() as ending:
            for topic, name in ((b"much/#", b"all"), (b"little/#", b"none"), (b"#", b"more")):
                ending.enter_context(contextlib.closing(silent(*at, topic, name)))
            await flood(at, lambda: len(reasons(logs)) == 2)
    assert {log["client"] for log in logs if "reason" in log} == {"all", "more"}


async def test_a_message_that_is_never_released_disconnects_its_client(logs: Logs) -> None:
    async with embedded_broker("127.0.0.1", 0) as (host, port):
        reader, writer = await asyncio.open_connection(host, port)
        writer.write(CONNECT)
        for number in range(1, limits.MAX_UNRELEASED + 3):
            writer.write(b"\x34\x06\x00\x01a" + number.to_bytes(2, "big") + b"x")
        await until_ended(reader)
        writer.close()
    assert [reason[:12] for reason in reasons(logs)] == ["it has begun"]


async def test_a_single_message_that_is_never_released_disconnects_its_client(
    logs: Logs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "RELEASE_TIMEOUT_SECONDS", 0.2)
    async with embedded_broker("127.0.0.1", 0) as (host, port):
        reader, writer = await asyncio.open_connection(host, port)
        writer.write(CONNECT + b"\x34\x06\x00\x01a\x00\x01x")
        ended = asyncio.create_task(until_ended(reader))
        while not ended.done():
            writer.write(b"\xc0\x00")  # a ping
            await asyncio.sleep(0.05)
        writer.close()
    assert [reason[:18] for reason in reasons(logs)] == ["it did not release"]


async def test_qos_2_works(logs: Logs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_UNRELEASED", 5)
    async with embedded_broker("127.0.0.1", 0) as at, client(*at) as both:
        await both.subscribe("a", qos=2)
        messages = aiter(both.messages)
        for number in range(2 * limits.MAX_UNRELEASED):
            await both.publish("a", b"%d" % number, qos=2)
            assert bytes((await anext(messages)).payload) == b"%d" % number
    assert reasons(logs) == []


async def test_a_flood_is_throttled(monkeypatch: pytest.MonkeyPatch) -> None:
    """None of it is lost, and little of it is in memory at any moment."""
    monkeypatch.setattr(limits, "MAX_UNHANDLED", 5)
    most = 0
    unhandled = limits._LimitedClient._unhandled

    def recording(self: limits._LimitedClient) -> int:
        nonlocal most
        found = unhandled(self)
        most = max(most, found)
        return found

    monkeypatch.setattr(limits._LimitedClient, "_unhandled", recording)
    async with embedded_broker("127.0.0.1", 0) as (host, port), client(host, port) as healthy:
        await healthy.subscribe("a", qos=0)
        _, writer = await asyncio.open_connection(host, port)
        writer.write(CONNECT + b"".join(b"\x30\x07\x00\x01a%04d" % number for number in range(500)))
        messages = aiter(healthy.messages)
        async with asyncio.timeout(60):
            assert [bytes((await anext(messages)).payload) for _ in range(500)] == [
                b"%04d" % number for number in range(500)
            ]
        writer.close()
    assert 0 < most <= 5


async def test_the_number_of_subscriptions_is_limited(
    logs: Logs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MAX_SUBSCRIPTIONS", 5)
    async with embedded_broker("127.0.0.1", 0) as at, client(*at) as first:
        for number in range(9):
            await first.subscribe(f"{number}/#")
            await first.unsubscribe(f"{number}/#")
        for number in range(5):
            await first.subscribe(f"{number}/#")
        reader, writer = await asyncio.open_connection(*at)
        writer.write(CONNECT + b"\x82\x08\x00\x01\x00\x035/#\x00")
        await until_ended(reader)
        writer.close()
        await first.subscribe("4/#")
    assert reasons(logs) == ["there are 5 subscriptions already"]


async def test_finished_work_is_forgotten_even_behind_slow_work() -> None:
    tasks = limits.RunningTasks()
    stuck = asyncio.create_task(asyncio.sleep(3600))
    tasks.append(stuck)
    for _ in range(100):
        tasks.append(asyncio.create_task(asyncio.sleep(0)))
    async with asyncio.timeout(60):
        await asyncio.wait([task for task in tasks if task is not stuck])
    await asyncio.sleep(0)
    assert list(tasks) == [stuck]
    stuck.cancel()
