"""The embedded broker: MQTT 3.1.1 in this process, for a laptop, a test bench or ``novamas demo``.

It accepts every client without a password, so it listens on a loopback address only, out of reach
of other machines. It stores nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import AsyncIterator, Iterator
from typing import Any

from controller.broker.loopback import NotLoopbackError as NotLoopbackError
from controller.broker.loopback import loopback as loopback

PATIENCE = 0.5
"""Seconds before a cancelled task that still runs is cancelled again."""


class _Snapshots(dict[str, Any]):
    """A dictionary that may change during iteration: each iteration sees its initial state."""

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(super().__iter__()))

    def items(self) -> Any:
        return tuple(super().items())


@contextlib.asynccontextmanager
async def embedded_broker(host: str, port: int) -> AsyncIterator[tuple[str, int]]:
    """Serve on ``host:port`` and yield the address; port 0 picks a free port. Raises ``OSError`` if
    the port is taken.
    """
    from amqtt.broker import Broker
    from amqtt.contexts import BrokerConfig, ListenerConfig, ListenerType
    from amqtt.errors import BrokerError

    host = loopback(host)
    for library in ("amqtt", "transitions"):  # the publisher logs all that matters
        logging.getLogger(library).setLevel(logging.CRITICAL + 1)
    with contextlib.closing(
        socket.create_server((host, port))
    ) as taken:  # a taken port fails here, with a plain error
        port = taken.getsockname()[1]
    listener = ListenerConfig(type=ListenerType.TCP, bind=f"{host}:{port}")
    broker = Broker(
        BrokerConfig(
            listeners={"default": listener},
            plugins={"amqtt.plugins.authentication.AnonymousAuthPlugin": {"allow_anonymous": True}},
        )
    )
    broker._subscriptions = _Snapshots()  # noqa: SLF001 - it awaits in its loops over them, and clients that come meanwhile end it
    send_retained = broker._publish_retained_messages_for_subscription  # noqa: SLF001

    async def send_to_subscribers(subscription: tuple[str, int], session: Any) -> None:
        """Send retained messages only to the subscriber: the library sends every new client those
        of other subscriptions too.
        """
        subscribed = broker._subscriptions.get(subscription[0], ())  # noqa: SLF001
        if any(each.client_id == session.client_id for each, _ in subscribed):
            await send_retained(subscription, session)

    broker._publish_retained_messages_for_subscription = send_to_subscribers  # noqa: SLF001
    try:
        await broker.start()
    except BrokerError as error:
        raise OSError(f"the embedded broker cannot listen on {host}:{port}: {error}") from error
    try:
        yield host, port
    finally:
        await _shut_down(broker)


async def _shut_down(broker: Any) -> None:
    """Shut down the broker and all its tasks. In CPython 3.11 ``asyncio.wait_for`` can lose a
    cancellation, and the library would then wait for that task forever; so a cancelled task that
    still runs is cancelled again.
    """
    ending = asyncio.create_task(broker.shutdown())
    while not (await asyncio.wait({ending}, timeout=PATIENCE))[0]:
        for task in asyncio.all_tasks() - {ending, asyncio.current_task()}:
            if task.cancelling():
                task.cancel()
    await ending
