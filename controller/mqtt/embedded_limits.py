"""Limits the memory of the embedded broker for its clients: retained messages, messages queued for
slow clients, unhandled packets, and subscriptions. amqtt limits none of them. A client that exceeds
a limit is disconnected, and the reason is logged.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

from common import clock
from common.log import structlog

MAX_RETAINED = 10_000
"""Retained messages."""
MAX_RETAINED_BYTES = 16 * 1024 * 1024
MAX_QUEUED_BYTES = 4 * 1024 * 1024
"""Maximum size of the messages queued for one client."""
MAX_TOTAL_QUEUED_BYTES = 64 * 1024 * 1024
"""Maximum size of the messages queued for all clients; above it, the client with the most is
disconnected.
"""
MESSAGE_OVERHEAD_BYTES = 2048
"""Memory for a message besides its topic and body."""
MAX_UNHANDLED = 100
"""Maximum unhandled packets of a client; further ones are not read until some are handled."""
MAX_UNRELEASED = 100
"""Maximum unreleased messages with QoS 2 of a client."""
RELEASE_TIMEOUT_SECONDS = 30.0
"""Maximum time for a client to release a message with QoS 2."""
MAX_SUBSCRIPTIONS = 10_000
"""Maximum topic filters of all clients."""
MAX_SUBSCRIPTION_BYTES = 4 * 1024 * 1024
READ_CHECK_SECONDS = 0.01
"""Delay between two checks whether a client may be read again."""
SUBACK_FAILURE = 0x80
"""The return code of a subscription that failed."""


class RunningTasks(deque[Any]):
    """Tasks of the library, without finished ones. The library only removes finished tasks from the
    front, so a long one would keep all later ones in memory.
    """

    def append(self, task: asyncio.Task[Any]) -> None:
        """Add a task."""
        super().append(task)
        task.add_done_callback(self._end)

    def _end(self, task: asyncio.Task[Any]) -> None:
        if task in self:
            self.remove(task)
        if not task.cancelled():
            task.exception()  # retrieved: the error of a disconnected client needs no warning


class _LimitedClient:
    """One client, with its session and handler in the library."""

    def __init__(self, session: Any, handler: Any, writer: asyncio.StreamWriter) -> None:
        self.session, self._handler, self._writer = session, handler, writer
        self.queued = 0
        """Bytes queued for it."""
        self.is_out = False
        self._replies = 0
        """Replies to its packets that are not sent yet."""
        self._oldest: tuple[int, float] | None = None
        """The id of its oldest unreleased message, and the time since which it is the oldest."""
        self._send = handler._send_packet  # noqa: SLF001
        handler._send_packet = self._sending  # noqa: SLF001

    async def _sending(self, packet: Any) -> None:
        from amqtt.mqtt.publish import PublishPacket

        if isinstance(packet, PublishPacket):
            await self._send(packet)
            return
        self._replies += 1
        try:
            await self._send(packet)
        finally:
            self._replies -= 1

    async def has_room(self) -> None:
        """Wait until its next packet may be read."""
        await clock.sleep(0)  # the library begins to handle the last one
        while not self.is_out and self._unhandled() >= MAX_UNHANDLED:
            await clock.sleep(READ_CHECK_SECONDS)
        now, unreleased = asyncio.get_running_loop().time(), self.session.inflight_in
        oldest = next(iter(unreleased), None)
        if oldest is None:
            self._oldest = None
        elif self._oldest is None or self._oldest[0] != oldest:
            self._oldest = oldest, now
        if len(unreleased) > MAX_UNRELEASED:
            self.hang_up(f"it has begun {MAX_UNRELEASED} messages with QoS 2 and released none")
        elif self._oldest is not None and self._oldest[1] <= now - RELEASE_TIMEOUT_SECONDS:
            self.hang_up(
                f"it did not release a message with QoS 2 for {RELEASE_TIMEOUT_SECONDS:g} s"
            )

    def _unhandled(self) -> int:
        waiting = (
            self.session.delivered_message_queue,
            self._handler._pending_subscriptions,  # noqa: SLF001
            self._handler._pending_unsubscriptions,  # noqa: SLF001
        )
        return self._replies + sum(int(each.qsize()) for each in waiting)

    def hang_up(self, reason: str) -> None:
        """Disconnect the client and drop its queue."""
        if self.is_out:
            return
        self.is_out = True
        structlog.get_logger().warning(
            "the embedded broker hung up on a client",
            client=ascii(str(self.session.client_id)[:64])[1:-1],
            reason=reason,
        )
        self._writer.transport.abort()


class BrokerLimits:
    """The limits of one broker of the library. Creating it installs them; do so before the broker
    starts.
    """

    def __init__(self, broker: Any) -> None:
        self._broker = broker
        self._clients: dict[str, _LimitedClient] = {}
        self._queued = 0
        self._retained_bytes = 0
        self._retain = broker.retain_message
        self._subscribe = broker.add_subscription
        own = vars(broker)
        own["retain_message"] = self._retaining
        own["add_subscription"] = self._subscribing
        own["_tasks_queue"] = RunningTasks()
        own["_broadcast_queue"] = asyncio.Queue(MAX_UNHANDLED)

    def add(
        self, session: Any, handler: Any, writer: asyncio.StreamWriter
    ) -> Callable[[], Awaitable[None]]:
        """Apply the limits to a client that has sent its first packet. Return a function to await
        before each further packet is read.
        """
        client = self._clients[session.client_id] = _LimitedClient(session, handler, writer)
        publish = handler.mqtt_publish

        async def publishing(topic: str, data: bytes, *more: Any, **options: Any) -> Any:
            size = len(topic) + len(data) + MESSAGE_OVERHEAD_BYTES
            if client.is_out or not self._may_wait(client, size):
                return None
            self._queued += size
            client.queued += size
            try:
                return await publish(topic, data, *more, **options)
            finally:
                self._queued -= size
                client.queued -= size

        handler.mqtt_publish = publishing
        return client.has_room

    def remove(self, session: Any) -> None:
        """Remove a disconnected client."""
        client = self._clients.get(session.client_id)
        if client is not None and client.session is session:
            del self._clients[session.client_id]

    def _may_wait(self, client: _LimitedClient, size: int) -> bool:
        if client.queued + size > MAX_QUEUED_BYTES:
            client.hang_up(f"it reads its messages too slowly: {client.queued} bytes wait for it")
        elif self._queued + size > MAX_TOTAL_QUEUED_BYTES:
            slowest = max(self._clients.values(), key=lambda each: each.queued, default=client)
            slowest.hang_up(
                f"it reads its messages more slowly than all others: {slowest.queued} bytes wait "
                f"for it, and {self._queued} in all"
            )
        return not client.is_out

    async def _retaining(
        self, session: Any, topic: str | None, data: bytes | None, qos: int | None = None
    ) -> None:
        retained = self._broker.retained_messages
        before = retained.get(topic)
        count = len(retained) + (before is None)
        size = self._retained_bytes + _cost(topic, data)
        size -= 0 if before is None else _cost(topic, before.data)
        if data and count > MAX_RETAINED:
            self._refuse(session, f"more than {MAX_RETAINED} messages would be retained")
        elif data and size > MAX_RETAINED_BYTES:
            self._refuse(session, f"more than {MAX_RETAINED_BYTES} bytes would be retained")
        else:
            self._retained_bytes = size
            await self._retain(session, topic, data, qos)

    async def _subscribing(self, subscription: tuple[str, int], session: Any) -> int:
        known = self._broker.subscriptions
        for each in [each for each, clients in known.items() if not clients]:
            del known[each]  # the library keeps topics without a subscriber
        topic = subscription[0]
        if topic not in known and len(known) >= MAX_SUBSCRIPTIONS:
            self._refuse(session, f"there are {MAX_SUBSCRIPTIONS} subscriptions already")
            return SUBACK_FAILURE
        size = len(topic) + sum(map(len, known))
        if topic not in known and size > MAX_SUBSCRIPTION_BYTES:
            self._refuse(session, f"subscriptions have {MAX_SUBSCRIPTION_BYTES} bytes already")
            return SUBACK_FAILURE
        return int(await self._subscribe(subscription, session))

    def _refuse(self, session: Any, reason: str) -> None:
        client = None if session is None else self._clients.get(session.client_id)
        if client is not None:
            client.hang_up(reason)


def _cost(topic: str | None, data: bytes | None) -> int:
    return len(topic or "") + len(data) + MESSAGE_OVERHEAD_BYTES if data else 0
