"""The messages of one table from a broker, through any number of reconnects."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from urllib.parse import urlsplit

import aiomqtt
import msgspec

from controller.topics import Topics

AGAIN = 0.5
"""Seconds between two attempts to connect."""


class Said(msgspec.Struct, frozen=True):
    """Something came from the broker: ``what`` is the leaf of the table's topic, or ``node/<node>/<leaf>``."""

    what: str
    body: bytes


class Linked(msgspec.Struct, frozen=True):
    """The connection to the broker is made, or is gone; ``reason`` says why."""

    up: bool
    reason: str = ""


def check_broker(url: str) -> str | None:
    """What is wrong with the address of a broker, if anything."""
    try:
        address = urlsplit(url)
        fine = address.scheme == "mqtt" and address.hostname and (address.port is None or address.port > 0)
    except ValueError as error:
        return f"{url}: {error}"
    return None if fine else f"{url}: not of the form mqtt://host:port"


async def table_feed(broker: str, topics: Topics, table: str) -> AsyncGenerator[Said | Linked, None]:
    """Never ends. After each :class:`Linked` the retained topics come first."""
    address = urlsplit(broker)
    of_table = topics.table(table, "")
    wanted = [(topics.table(table, leaf), 1) for leaf in ("info", "state", "result", "history", "alert/+", "event")]
    wanted += [(topics.node("+", leaf), 1) for leaf in ("status", "health")]
    root = topics.root + "/"
    while True:
        try:
            client = aiomqtt.Client(
                address.hostname or "127.0.0.1", address.port or 1883, protocol=aiomqtt.ProtocolVersion.V311, keepalive=10
            )
            async with client:
                await client.subscribe(wanted)
                yield Linked(up=True)
                async for message in client.messages:
                    topic = str(message.topic)
                    body = message.payload if isinstance(message.payload, bytes) else b""
                    if topic.startswith(of_table):
                        yield Said(topic.removeprefix(of_table), body)
                    else:
                        yield Said(topic.removeprefix(root), body)
        except aiomqtt.MqttError as error:
            yield Linked(up=False, reason=str(error))
        await asyncio.sleep(AGAIN)
