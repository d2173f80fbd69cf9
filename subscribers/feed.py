"""The messages of some tables from a broker, over one connection, across any number of
reconnects.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from urllib.parse import urlsplit

import aiomqtt
import msgspec

from controller.contract.topics import Topics

AGAIN = 0.5
"""Seconds between two attempts to connect."""


class Said(msgspec.Struct, frozen=True):
    """A message from the broker. ``what``: the last level of the ``table``'s topic, or
    ``node/<node>/<leaf>`` for all tables.
    """

    what: str
    body: bytes
    table: str | None = None


class Linked(msgspec.Struct, frozen=True):
    """The connection to the broker was made or lost; ``reason`` says why."""

    up: bool
    reason: str = ""


def check_broker(url: str) -> str | None:
    """What is wrong with the address of a broker, or None."""
    try:
        address = urlsplit(url)
        fine = (
            address.scheme == "mqtt"
            and address.hostname
            and (address.port is None or address.port > 0)
        )
        if fine and address.username is not None:
            return (
                f"{address.hostname}: remove the user or password; use --username and "
                "--password-file"
            )
    except ValueError as error:
        return f"{url}: {error}"
    return None if fine else f"{url}: not a broker address; write mqtt://host:port"


async def table_feed(
    broker: str,
    topics: Topics,
    tables: Sequence[str],
    username: str | None = None,
    password: str | None = None,
) -> AsyncGenerator[Said | Linked, None]:
    """Yields messages forever. After each :class:`Linked`, retained topics come first."""
    address = urlsplit(broker)
    leaves = ("info", "state", "result", "history", "alert/+", "event")
    wanted = [(topics.table(table, leaf), 1) for table in tables for leaf in leaves]
    wanted += [(topics.node("+", leaf), 1) for leaf in ("status", "health")]
    root = topics.root + "/"
    while True:
        try:
            client = aiomqtt.Client(
                address.hostname or "127.0.0.1",
                address.port or 1883,
                username=username,
                password=password,
                protocol=aiomqtt.ProtocolVersion.V311,
                keepalive=10,
            )
            async with client:
                await client.subscribe(wanted)
                yield Linked(up=True)
                async for message in client.messages:
                    body = message.payload if isinstance(message.payload, bytes) else b""
                    what = str(message.topic).removeprefix(root)
                    table, _, leaf = what.partition("/")
                    yield Said(leaf, body, table) if table in tables else Said(what, body)
        except aiomqtt.MqttError as error:
            yield Linked(up=False, reason=str(error))
        await asyncio.sleep(AGAIN)
