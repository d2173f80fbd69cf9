"""A client's session at the broker: its subscriptions, and the messages that it has not yet
acknowledged (MQTT 5, 4.1).
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable

import msgspec

from tests.world.broker.packets import Properties, Publish, Subscription, Value, encode

LAST_ID = 0xFFFF


class Message(msgspec.Struct, frozen=True):
    """A message that the broker accepted. ``expires``: when it may no longer be delivered."""

    topic: str
    payload: bytes
    qos: int
    retain: bool
    properties: Properties
    """Without the expiry."""
    expires: float = math.inf


class Outgoing(msgspec.Struct):
    """A message on its way to one client. ``packet_id`` is 0 until it is first sent."""

    message: Message
    qos: int
    retain: bool
    identifier: int = 0
    """The subscription identifier; 0 for none."""
    packet_id: int = 0


class Session:
    """``write`` takes encoded packets for the client; None while the client is away."""

    def __init__(self, client_id: str, version: int) -> None:
        self.client_id = client_id
        self.version = version
        self.expiry = 0.0
        """Seconds that the session outlives its connection; infinity for ever."""
        self.expires = math.inf
        """When it ends, if its client does not come back."""
        self.username: str | None = None
        self.window = 0
        """Maximum messages with QoS 1 that may be unacknowledged."""
        self.largest = math.inf
        """The largest packet that the client accepts, in bytes."""
        self.write: Callable[[bytes], None] | None = None
        self.subscriptions: dict[str, tuple[Subscription, int]] = {}
        """By topic filter, with the subscription identifier."""
        self.in_flight: dict[int, Outgoing] = {}
        """By packet identifier, in the order sent."""
        self.queue: deque[Outgoing] = deque()
        self.dropped = 0
        """Messages with QoS 1 for which there was no room."""
        self._last_id = 0

    def detach(self) -> None:
        """The connection is gone. What was not acknowledged is sent again, first."""
        self.write = None
        self.queue.extendleft(reversed(self.in_flight.values()))
        self.in_flight.clear()

    def deliver(self, outgoing: Outgoing, now: float, *, max_queued: int, window: int) -> None:
        """Send a message, or queue it for when the window has room or the client is back."""
        if outgoing.qos == 0:
            if self.write is not None:
                self._send(outgoing, now)
            return
        if 0 < max_queued <= len(self.queue):
            self.dropped += 1
            return
        self.queue.append(outgoing)
        self.send_queued(now, window)

    def send_queued(self, now: float, window: int) -> None:
        """Send queued messages, as far as the window has room; ``window`` can make it smaller."""
        while self.write is not None and self.queue:
            if len(self.in_flight) >= min(self.window, window):
                return
            self._send(self.queue.popleft(), now)

    def acknowledge(self, packet_id: int) -> Outgoing | None:
        """Handle a PUBACK, and return what it is for; one for an unknown packet is ignored."""
        return self.in_flight.pop(packet_id, None)

    def _send(self, outgoing: Outgoing, now: float) -> None:
        message, duplicate = outgoing.message, outgoing.packet_id > 0
        if message.expires <= now:
            return
        if outgoing.qos and not duplicate:
            outgoing.packet_id = self._next_id()
        properties = message.properties
        if message.expires < math.inf or outgoing.identifier:
            added: dict[str, Value] = {}
            if message.expires < math.inf:
                added["message_expiry"] = math.ceil(message.expires - now)
            if outgoing.identifier:
                added["subscription_identifier"] = outgoing.identifier
            properties = {**properties, **added}
        packet = encode(
            Publish(
                message.topic,
                message.payload,
                outgoing.qos,
                outgoing.retain,
                duplicate,
                outgoing.packet_id,
                properties,
            ),
            self.version,
        )
        if len(packet) > self.largest:
            return
        if outgoing.qos:
            self.in_flight[outgoing.packet_id] = outgoing
        assert self.write is not None
        self.write(packet)

    def _next_id(self) -> int:
        while True:
            self._last_id = self._last_id % LAST_ID + 1
            if self._last_id not in self.in_flight:  # what is sent again goes before all others
                return self._last_id
