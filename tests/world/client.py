"""A client of the broker that is part of the world itself: a subscriber, or a person."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.world.broker.packets import (
    V5,
    Acknowledgement,
    Connack,
    Connect,
    Kind,
    Packet,
    Publish,
    Subscribe,
    Subscription,
    encode,
    parse,
    split,
)
from tests.world.broker.wires import Wire
from tests.world.loop import WorldLoop
from tests.world.network import BrokerPort

RECONNECT_SECONDS = 1.0


class Client:
    """Stays connected with a session of its own and receives ``topics``. ``on_message`` gets each
    message.
    """

    def __init__(
        self,
        loop: WorldLoop,
        port: BrokerPort,
        name: str,
        topics: tuple[str, ...],
        on_message: Callable[[Publish], None],
    ) -> None:
        self.name = name
        self.online = False
        self._loop, self._port = loop, port
        self._topics, self._on_message = topics, on_message
        self._wire: Wire | None = None
        self._received = bytearray()
        self._packet_id = 0
        self._connect()

    def publish(self, topic: str, body: dict[str, Any]) -> None:
        """Publish once, with QoS 1. It is lost if the connection is."""
        self._send(Publish(topic, json.dumps(body).encode(), 1, packet_id=self._next_id()))

    def _connect(self) -> None:
        self._received.clear()
        try:
            self._wire = self._port.open(self.name, self._on_bytes, self._on_end)
        except ConnectionRefusedError:
            self._loop.call_later(RECONNECT_SECONDS, self._connect)
            return
        self._send(Connect(self.name, clean_start=False, properties={"session_expiry": 0xFFFFFFFF}))

    def _on_bytes(self, data: bytes) -> None:
        self._received += data
        for first, body in split(self._received, 1 << 20):
            self._on_packet(parse(first, body, V5))

    def _on_packet(self, packet: Packet) -> None:
        if isinstance(packet, Connack):
            self.online = True
            subscriptions = tuple(
                Subscription(topic, 1, retain_as_published=True) for topic in self._topics
            )
            self._send(Subscribe(self._next_id(), subscriptions))
        elif isinstance(packet, Publish):
            if packet.qos:
                self._send(Acknowledgement(Kind.PUBACK, packet.packet_id))
            self._on_message(packet)

    def _on_end(self) -> None:
        self._wire, self.online = None, False
        self._loop.call_later(RECONNECT_SECONDS, self._connect)

    def _send(self, packet: Packet) -> None:
        if self._wire is not None:
            self._port.send(self._wire, encode(packet, V5))

    def _next_id(self) -> int:
        self._packet_id = self._packet_id % 0xFFFF + 1
        return self._packet_id
