"""Sends one command to a table, as any client does, and waits for the reply."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import aiomqtt
import msgspec
from paho.mqtt.reasoncodes import ReasonCode

from common.broker.address import addresses
from common.broker.client import BrokerClient
from common.broker.failures import Disconnected, describe_error
from common.broker.login import BrokerUnusableError
from common.errors import NovamasError
from controller.configuration.settings import BrokerConfig


class NoReplyError(NovamasError):
    """There was no reply, so it is unknown whether the command was executed. The message names what
    to check.
    """


async def send_command(
    broker: BrokerConfig,
    topic: str,
    reply_topic: str,
    body: bytes,
    request_id: str,
    timeout_seconds: float,
) -> dict[str, Any]:
    """Publish a command and return the reply on ``reply_topic`` whose ``id`` is ``request_id``.
    Raises :class:`NoReplyError`, after ``timeout_seconds`` at the latest.
    """
    try:
        async with (
            asyncio.timeout(timeout_seconds),
            _subscribed(broker, reply_topic, timeout_seconds) as client,
        ):
            await client.publish(topic, body, qos=1)
            async for message in client.messages:
                reply = _decoded(message.payload)
                if reply.get("id") == request_id:
                    return reply
    except TimeoutError:
        raise NoReplyError(
            f"no answer from {topic} within {timeout_seconds:g} s: the daemon is not running, or "
            f"the broker does not let {_user(broker)} write there; look at the table's events "
            "before you send it again"
        ) from None
    raise NoReplyError(f"{broker.url}: the connection ended before an answer came")


async def read_retained(broker: BrokerConfig, topic: str, timeout_seconds: float) -> dict[str, Any]:
    """Return the message that the broker retains on a topic. Raises :class:`NoReplyError`, after
    ``timeout_seconds`` at the latest.
    """
    try:
        async with (
            asyncio.timeout(timeout_seconds),
            _subscribed(broker, topic, timeout_seconds) as client,
        ):
            async for message in client.messages:
                return _decoded(message.payload)
    except TimeoutError:
        raise NoReplyError(
            f"nothing is retained on {topic}: the daemon is not running, or has no such table; "
            "nothing was sent"
        ) from None
    raise NoReplyError(f"{broker.url}: the connection ended; nothing was sent")


@asynccontextmanager
async def _subscribed(
    broker: BrokerConfig, topic: str, timeout_seconds: float
) -> AsyncIterator[BrokerClient]:
    """Yield a client that is subscribed to a topic. Raises :class:`NoReplyError`."""
    v5 = broker.protocol == "5" and urlsplit(broker.url).scheme != "embedded"
    protocol = aiomqtt.ProtocolVersion.V5 if v5 else aiomqtt.ProtocolVersion.V311
    try:
        async with AsyncExitStack() as stack:
            client = await _connected(stack, broker, protocol, timeout_seconds)
            codes = await client.subscribe(topic, qos=1)
            if any(
                (code.value if isinstance(code, ReasonCode) else code) >= 0x80 for code in codes
            ):
                raise NoReplyError(
                    f"the broker does not let {_user(broker)} read {topic}; nothing was sent. "
                    "`novamas acl` writes its rules"
                )
            yield client
    except BrokerUnusableError as error:
        raise NoReplyError(f"{error}; nothing was sent") from None
    except Disconnected as error:
        what_to_do = (
            "start the daemon, whose own broker it is"
            if broker.url.startswith("embedded:")
            else "`novamas doctor` looks at the broker"
        )
        raise NoReplyError(f"{broker.url}: {describe_error(error, broker)}; {what_to_do}") from None


def _user(broker: BrokerConfig) -> str:
    return f"user {broker.username!r}" if broker.username else "a client without a user name"


async def _connected(
    stack: AsyncExitStack,
    broker: BrokerConfig,
    protocol: aiomqtt.ProtocolVersion,
    timeout_seconds: float,
) -> BrokerClient:
    """Connect to the first of the broker's nodes that accepts the connection."""
    nodes = addresses(broker.url)
    for url in nodes:
        node = msgspec.structs.replace(broker, url=url)
        client = BrokerClient(node, protocol=protocol, timeout=timeout_seconds / len(nodes))
        try:
            return await stack.enter_async_context(client)
        except Disconnected:
            if url == nodes[-1]:
                raise
    raise AssertionError("a broker has an address")


def _decoded(payload: object) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(payload if isinstance(payload, bytes) else b"")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
