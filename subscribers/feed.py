"""The messages of some tables from a broker, over one connection, across any number of
reconnects.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from itertools import cycle
from urllib.parse import urlsplit

import aiomqtt
import msgspec

from controller.broker.address import addresses
from controller.broker.client import BrokerClient
from controller.broker.failures import describe_error
from controller.broker.login import BrokerUnusableError
from controller.contract.topics import Topics
from subscribers.overtaken import Overtaken

AGAIN = 0.5
"""Seconds between two attempts to connect."""
AT_ONCE = 100
"""Topics that are subscribed to at once. What the broker retains of them comes before its answer;
of a thousand tables it is more than Mosquitto keeps for one client, which drops the rest.
"""
TWICE = (1, 2)
"""NATS looks up what it retains before it makes a subscription: what is said in between would come
neither way. When it is asked again, the subscription is there.
"""


class BrokerLogin(msgspec.Struct, frozen=True, kw_only=True):
    """How to connect: as ``[broker]`` of the daemon's configuration, with the files as paths.
    ``wildcards_retained``: whether a subscription with a wildcard gets what the broker retains.
    """

    url: str
    username: str | None = None
    password_file: str | None = None
    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None
    password_credential: None = None
    wildcards_retained: bool = True


class Said(msgspec.Struct, frozen=True):
    """A message from the broker. ``what``: the last level of the ``table``'s topic, or
    ``node/<node>/<leaf>`` and ``jackpot/<jackpot>/<leaf>`` for all tables.
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
    return next(filter(None, map(_check_node, addresses(url))), None)


def _check_node(url: str) -> str | None:
    try:
        address = urlsplit(url)
        fine = (
            address.scheme in ("mqtt", "mqtts")
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
    return None if fine else f"{url}: not a broker address; write mqtt://host:port or mqtts://"


async def table_feed(
    login: BrokerLogin, topics: Topics, tables: Sequence[str], jackpots: Sequence[str] = ()
) -> AsyncGenerator[Said | Linked, None]:
    """Yields messages forever. After each :class:`Linked`, retained topics come first. Files are
    read anew for each connection.

    With QoS 0: the session ends with the connection, so QoS 1 would bring nothing more, and NATS
    takes it for some dozens of topics only.
    """
    leaves = ("info", "state", "result", "history", "shoe", "alert/+", "event")
    wanted = [(topics.table(table, leaf), 0) for table in tables for leaf in leaves]
    wanted += [(topics.node("+", leaf), 0) for leaf in ("status", "health", "checkpoint")]
    wanted += [
        (topics.jackpot(jackpot, leaf), 0) for jackpot in jackpots for leaf in ("state", "alert/+")
    ]
    root, known = topics.root + "/", frozenset(tables)
    for url in cycle(addresses(login.url)):
        try:
            node = msgspec.structs.replace(login, url=url)
            client = BrokerClient(node, protocol=aiomqtt.ProtocolVersion.V311, keepalive=10)
            async with client:
                for first in range(0, len(wanted), AT_ONCE):
                    for _ in TWICE:
                        await client.subscribe(wanted[first : first + AT_ONCE])
                yield Linked(up=True)
                overtaken = Overtaken()
                async for message in client.messages:
                    if overtaken(str(message.topic), message.retain):
                        continue
                    body = message.payload if isinstance(message.payload, bytes) else b""
                    what = str(message.topic).removeprefix(root)
                    table, _, leaf = what.partition("/")
                    yield Said(leaf, body, table) if table in known else Said(what, body)
        except (aiomqtt.MqttError, BrokerUnusableError) as error:
            yield Linked(up=False, reason=f"{login.url}: {describe_error(error, login)}")
        await asyncio.sleep(AGAIN)
