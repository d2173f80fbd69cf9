"""A client of the broker that is part of the world itself: a subscriber, or a person."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from tests.world.broker.broker import NEVER
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
from tests.world.broker.sockets import Socket, Sockets

RECONNECT_SECONDS = 1.0
RECEIVE_BYTES = 65_536
MAX_PACKET_BYTES = 1 << 20


class Client:
    """Stays connected with a session of its own and receives ``topics``. ``on_message`` gets each
    message.
    """

    def __init__(
        self,
        sockets: Sockets,
        name: str,
        topics: tuple[str, ...],
        on_message: Callable[[Publish], None],
    ) -> None:
        self.name = name
        self.online = False
        self._sockets, self._loop = sockets, sockets.loop
        self._topics, self._on_message = topics, on_message
        self._socket: Socket | None = None
        self._received = bytearray()
        self._packet_id = 0
        self._connect()

    def publish(self, topic: str, body: dict[str, Any] | bytes, *, retain: bool = False) -> None:
        """Publish once, with QoS 1. It is lost if the connection is."""
        payload = body if isinstance(body, bytes) else json.dumps(body).encode()
        self._send(Publish(topic, payload, 1, retain, packet_id=self._next_id()))

    def _connect(self) -> None:
        self._received.clear()
        try:
            self._socket = self._sockets.dial(self.name)
        except ConnectionRefusedError:
            self._loop.call_later(RECONNECT_SECONDS, self._connect)
            return
        self._socket.setblocking(False)
        self._loop.add_reader(self._socket.fileno(), self._read)
        self._send(Connect(self.name, clean_start=False, properties={"session_expiry": NEVER}))

    def _read(self) -> None:
        assert self._socket is not None
        data = b""
        with suppress(OSError):
            data = self._socket.recv(RECEIVE_BYTES)
        if not data:
            self._loop.remove_reader(self._socket.fileno())
            self._socket.close()
            self._socket, self.online = None, False
            self._loop.call_later(RECONNECT_SECONDS, self._connect)
            return
        self._received += data
        for first, body in split(self._received, MAX_PACKET_BYTES):
            self._on_packet(parse(first, body, V5))

    def _on_packet(self, packet: Packet) -> None:
        if isinstance(packet, Connack):
            self.online = True
            subscriptions = tuple(
                Subscription(topic, 1, retain_as_published=True) for topic in self._topics
            )
            if subscriptions:  # without a topic it would be a protocol error
                self._send(Subscribe(self._next_id(), subscriptions))
        elif isinstance(packet, Publish):
            if packet.qos:
                self._send(Acknowledgement(Kind.PUBACK, packet.packet_id))
            self._on_message(packet)

    def _send(self, packet: Packet) -> None:
        if self._socket is not None:
            with suppress(OSError):  # the reader finds out that the connection has ended
                self._socket.send(encode(packet, V5))

    def _next_id(self) -> int:
        self._packet_id = self._packet_id % 0xFFFF + 1
        return self._packet_id
