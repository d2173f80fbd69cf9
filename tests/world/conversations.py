"""Scripts of what clients send to a broker, and the answers of a broker to them.

After each step every connected client sends PINGREQ and reads until PINGRESP or the end of its
connection, so that no answer is missed and none is waited for in vain.
"""

from __future__ import annotations

import socket
from collections.abc import Sequence
from contextlib import suppress
from itertools import groupby
from operator import attrgetter
from typing import Any, Protocol, TypeAlias

import msgspec

from tests.support.waiting import TIMEOUT_SECONDS
from tests.world.broker.broker import Broker
from tests.world.broker.packets import (
    V5,
    V311,
    Acknowledgement,
    Connect,
    Kind,
    Packet,
    Ping,
    Publish,
    encode,
    parse,
    split,
)
from tests.world.broker.wires import Wires

DROP = "drop"
"""A step: end the connection without DISCONNECT."""
Step: TypeAlias = tuple[str, Packet | bytes | str]
"""A client's name and what it does. CONNECT opens a new connection."""
Answers: TypeAlias = list[tuple[str, list[Any]]]
"""For each step the packets that each client received, in the form of builtins."""
UNUSED_ID = 0xF000
"""A packet identifier that no broker reaches in a script."""
PING = encode(Ping(Kind.PINGREQ), V5)


class Line(Protocol):
    """A client's connection."""

    def send(self, data: bytes) -> None: ...

    def receive(self) -> bytes:
        """Some bytes, none at the end of the connection."""
        ...

    def drop(self) -> None: ...


class Server(Protocol):
    def open(self) -> Line: ...


class SocketLine:
    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), TIMEOUT_SECONDS)

    def send(self, data: bytes) -> None:
        with suppress(OSError):  # the server has closed it: read until then
            self._socket.sendall(data)

    def receive(self) -> bytes:
        try:
            return self._socket.recv(65_536)
        except ConnectionError:
            return b""

    def drop(self) -> None:
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)
        while self.receive():
            pass
        self._socket.close()


class SocketServer:
    """A broker that listens on a port of the loopback."""

    def __init__(self, port: int) -> None:
        self._port = port

    def open(self) -> SocketLine:
        return SocketLine(self._port)


class WireLine:
    def __init__(self, wires: Wires) -> None:
        self._wires, self._wire = wires, wires.connect("", 0.0)

    def send(self, data: bytes) -> None:
        self._wires.send(self._wire, data, 0.0)

    def receive(self) -> bytes:
        data = self._wires.receive(self._wire, 0.0)
        assert data or not self._wire.open, "an answer is missing"
        return data

    def drop(self) -> None:
        self._wires.close(self._wire, 0.0)


class InMemory:
    """The broker of the simulated world, in a world in which no time passes."""

    def __init__(self, broker: Broker | None = None) -> None:
        self.wires = Wires(broker or Broker())

    def open(self) -> WireLine:
        return WireLine(self.wires)


class _Client:
    def __init__(self, line: Line, version: int) -> None:
        self.line, self.version = line, version
        self._buffer = bytearray()
        self._numbers: dict[int, int] = {}
        self.open = True

    def encoded(self, action: Packet | bytes) -> bytes:
        """The bytes of a step; a PUBACK of it means the packet that was counted so."""
        if isinstance(action, bytes):
            return action
        if isinstance(action, Acknowledgement):
            counted = {number: packet_id for packet_id, number in self._numbers.items()}
            packet_id = counted.get(action.packet_id, UNUSED_ID)
            action = msgspec.structs.replace(action, packet_id=packet_id)
        return encode(action, self.version)

    def exchange(self, data: bytes) -> list[Any]:
        """Send bytes and a PINGREQ; returns the answers up to its PINGRESP."""
        self.line.send(data + PING)
        found: list[Packet] = []
        while True:
            for first, body in split(self._buffer):
                packet = parse(first, body, self.version)
                if packet == Ping(Kind.PINGRESP):
                    return self._plain(found)
                found.append(packet)
            if not (data := self.line.receive()):
                self.open = False
                self.line.drop()
                return [*self._plain(found), "closed"]
            self._buffer += data

    def _plain(self, packets: Sequence[Packet]) -> list[Any]:
        """As builtins, without what depends on time, and packet identifiers as they are counted.

        Messages are ordered by topic, and the copies of one by their subscriptions: brokers send
        them in the order of their own trees.
        """
        publishes = [each for each in packets if isinstance(each, Publish)]
        topics = sorted({each.topic for each in publishes})
        ordered: list[Packet] = [each for each in packets if not isinstance(each, Publish)]
        for topic in topics:
            of_topic = (each for each in publishes if each.topic == topic)
            for _, copies in groupby(of_topic, attrgetter("payload")):
                same: list[Publish] = sorted(copies, key=_order_of_copies)
                ordered += same
        return [self._as_builtins(each) for each in ordered]

    def _as_builtins(self, packet: Packet) -> Any:
        plain = {name: value for name, value in msgspec.structs.asdict(packet).items() if value}
        properties = plain["properties"] = dict(plain.get("properties", {}))
        for name in {"message_expiry", "assigned_client_id"} & set(properties):
            properties[name] = "some"
        if isinstance(packet, Publish) and packet.packet_id:
            known = self._numbers
            plain["packet_id"] = known.setdefault(packet.packet_id, len(known) + 1)
        return type(packet).__name__, plain


def _order_of_copies(packet: Publish) -> str:
    return repr(msgspec.structs.replace(packet, packet_id=0))


def run(server: Server, script: Sequence[Step]) -> Answers:
    """Play a script at a broker."""
    clients: dict[str, _Client] = {}
    answers: Answers = []
    for name, action in script:
        if isinstance(action, Connect):
            before = clients.get(name)
            if before is not None and before.open:
                name = f"{name}'"  # a second connection with the same client id
            clients[name] = _Client(server.open(), action.version)
        elif name not in clients:  # begins with something else
            clients[name] = _Client(server.open(), V311)
        client = clients[name]
        if not client.open:
            continue
        found: list[tuple[str, Any]] = []
        if action == DROP:
            client.line.drop()
            client.open = False
        else:
            assert not isinstance(action, str)
            found += [(name, each) for each in client.exchange(client.encoded(action))]
        for other, each in clients.items():
            if each.open and other != name:
                found += [(other, answer) for answer in each.exchange(b"")]
        answers.append((f"{name}: {action!r}"[:200], found))
    for client in clients.values():
        if client.open:
            client.line.drop()
    return answers


def clear(server: Server, clients: Sequence[str], topics: Sequence[str]) -> None:
    """End the sessions of these clients, and clear these retained messages."""
    script: list[Step] = [(client, Connect(client, clean_start=True)) for client in clients]
    script += [(clients[0], Publish(topic, b"", 1, True, packet_id=1)) for topic in topics]
    run(server, script)
