"""Messages of a set of tables from a broker. Reconnects for as long as the consumer reads."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from urllib.parse import urlsplit

import aiomqtt
import msgspec

from common.broker.address import addresses
from common.broker.client import BrokerClient
from common.broker.reconnecting import keep_connected
from common.contract.topics import Topics
from subscribers.feed.overtaken import Overtaken

MAX_TOPICS_PER_SUBSCRIBE = 100
"""Maximum number of topics in one SUBSCRIBE. Mosquitto queues the retained messages of all of them
before its reply; with a thousand tables they exceed its queue per client, and it drops the rest.
"""
MOTION = "motion"
"""The last level of the topic of what moves at a table."""
NOT_RETAINED = ("event", MOTION)
"""Topics whose messages a daemon never retains."""
SUBSCRIBE_PASSES = (1, 2)
"""Subscribe twice. NATS reads the retained messages before it creates a subscription, so a message
published in between is in neither. At the second SUBSCRIBE the subscription exists already.
"""


class BrokerLogin(msgspec.Struct, frozen=True, kw_only=True):
    """Connection settings: the keys of ``[broker]`` in the daemon's configuration, files as paths.
    ``wildcards_retained``: whether wildcard subscriptions receive retained messages.
    """

    url: str
    username: str | None = None
    password_file: str | None = None
    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None
    password_credential: None = None
    wildcards_retained: bool = True


class FeedMessage(msgspec.Struct, frozen=True):
    """A message from the broker. ``path``: the last level of the ``table``'s topic, or
    ``node/<node>/<leaf>`` or ``jackpot/<jackpot>/<leaf>`` if it belongs to no table.
    """

    path: str
    body: bytes
    table: str | None = None


class ConnectionChange(msgspec.Struct, frozen=True):
    """The connection to the broker was established or lost. ``reason``: why it was lost."""

    up: bool
    reason: str = ""


def check_broker(url: str) -> str | None:
    """Return what is wrong with a broker address, or None."""
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
    login: BrokerLogin,
    topics: Topics,
    tables: Sequence[str],
    jackpots: Sequence[str] = (),
    *,
    motion: bool = False,
) -> AsyncGenerator[FeedMessage | ConnectionChange, None]:
    """Yield messages forever. After each :class:`ConnectionChange`, retained messages come first.
    Credential files are read again for each connection. ``motion``: also what moves at the tables.

    Subscribe with QoS 0: the session ends with the connection, so QoS 1 would gain nothing, and
    NATS supports it for a few dozen topics only.
    """
    leaves = ("info", "state", "result", "history", "shoe", "alert/+", "event")
    subscriptions = [(topics.table(table, leaf), 0) for table in tables for leaf in leaves]
    subscriptions += [(topics.node("+", leaf), 0) for leaf in ("status", "health", "checkpoint")]
    subscriptions += [
        (topics.jackpot(jackpot, leaf), 0) for jackpot in jackpots for leaf in ("state", "alert/+")
    ]
    if motion:  # last, so that it delays nothing
        subscriptions += [(topics.table(table, MOTION), 0) for table in tables]
    root, known_tables = topics.root + "/", frozenset(tables)
    messages: asyncio.Queue[FeedMessage | ConnectionChange | None] = asyncio.Queue()

    def make_client(url: str) -> BrokerClient:
        node = msgspec.structs.replace(login, url=url)
        return BrokerClient(node, protocol=aiomqtt.ProtocolVersion.V311, keepalive=10)

    async def serve(client: BrokerClient) -> None:
        for first in range(0, len(subscriptions), MAX_TOPICS_PER_SUBSCRIBE):
            for _ in SUBSCRIBE_PASSES:
                await client.subscribe(subscriptions[first : first + MAX_TOPICS_PER_SUBSCRIBE])
        messages.put_nowait(ConnectionChange(up=True))
        overtaken = Overtaken()
        async for message in client.messages:
            if overtaken(str(message.topic), message.retain):
                continue
            body = message.payload if isinstance(message.payload, bytes) else b""
            path = str(message.topic).removeprefix(root)
            table, _, leaf = path.partition("/")
            if leaf in NOT_RETAINED and message.retain:  # not from a daemon: act on nothing old
                continue
            is_of_table = table in known_tables
            messages.put_nowait(
                FeedMessage(leaf, body, table) if is_of_table else FeedMessage(path, body)
            )

    def on_loss(reason: str) -> None:
        messages.put_nowait(ConnectionChange(up=False, reason=f"{login.url}: {reason}"))

    connection = asyncio.create_task(keep_connected(login, make_client, serve, on_loss))
    connection.add_done_callback(lambda _: messages.put_nowait(None))
    try:
        while (message := await messages.get()) is not None:
            yield message
        await connection  # it ended by a bug, and raises it
    finally:
        connection.cancel()
        await asyncio.wait([connection])
