"""The daemon's own retained messages, read from the broker."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable

import aiomqtt
import msgspec

from common.broker.address import addresses
from common.broker.client import BrokerClient
from common.broker.failures import describe_error
from common.broker.login import BrokerUnusableError
from common.errors import NovamasError
from controller.configuration.settings import Configuration

REPLY_TIMEOUT_SECONDS = 5.0
"""Maximum seconds to connect to the broker."""
RETAINED_WAIT_SECONDS = 1.0
"""Seconds to wait for retained messages."""


class UnreachableError(NovamasError):
    """The broker is not reachable, or cannot be used. The message states why."""


async def retained(
    configuration: Configuration, topics: Iterable[str], command: str
) -> dict[str, bytes]:
    """Return the retained messages of these topics, by topic, as soon as all have come, or those
    that came within :data:`RETAINED_WAIT_SECONDS`. ``command``: who asks, as a part of the client
    id. Raises :class:`UnreachableError`.
    """
    broker, wanted = configuration.broker, tuple(topics)
    url = addresses(broker.url)[0].replace("embedded://", "mqtt://", 1)
    messages: dict[str, bytes] = {}
    try:
        client = BrokerClient(
            msgspec.structs.replace(broker, url=url),
            identifier=f"novamas-{command}-{configuration.site.node}",
            timeout=REPLY_TIMEOUT_SECONDS,
        )
        async with client:
            await client.subscribe([(topic, 1) for topic in wanted])
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(RETAINED_WAIT_SECONDS):
                    async for message in client.messages:
                        if isinstance(message.payload, bytes):
                            messages[str(message.topic)] = message.payload
                        if len(messages) == len(wanted):
                            break
    except (BrokerUnusableError, OSError) as error:
        raise UnreachableError(str(error)) from None
    except aiomqtt.MqttError as error:
        raise UnreachableError(describe_error(error, broker)) from None
    return messages
