"""The links ``mqtt://`` of a world: a device below a topic of its broker, as ``devices/links/mqtt``
has it, without its threads.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from devices.links import SCHEME_MODULES
from devices.links.descriptor import DescriptorLink
from devices.links.link import Address, Link, LinkFailedError
from devices.links.mqtt import line_of
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
from tests.world.client import MAX_PACKET_BYTES, RECEIVE_BYTES
from tests.world.process import PROCESS

if TYPE_CHECKING:
    from tests.world.world import World

SCHEME = "mqtt"
BROKERS: dict[str, Sockets] = {}
"""The broker of the running world by its name."""


class BrokerLink(DescriptorLink):
    """One connection, with a session that ends with it."""

    def __init__(self, socket: Any, base: str) -> None:
        super().__init__(socket.fileno())
        self._socket: Any = socket
        self._base = base
        self._received = bytearray()

    def is_readable(self) -> bool:
        """See :class:`DescriptorLink`."""
        return bool(self._socket.is_readable)

    def hung_up(self) -> bool:
        """See :class:`DescriptorLink`."""
        return not self._socket.peer.open

    def read(self, timeout: float) -> bytes:
        """See :class:`DescriptorLink`. Each message is a line."""
        del timeout
        self.drained = True
        if not self._socket.is_readable:
            return b""
        if not (data := self._socket.recv(RECEIVE_BYTES)):
            raise self.unreadable(None)
        self._received += data
        packets = [
            parse(first, body, V5) for first, body in split(self._received, MAX_PACKET_BYTES)
        ]
        return b"".join(map(self._on_packet, packets))

    def read_ready(self) -> bytes:
        """See :class:`DescriptorLink`."""
        return self.read(0)

    def send(self, data: bytes) -> int:
        """Ignore the data: nothing is requested from a camera of the world."""
        return len(data)

    def close(self) -> None:
        """See :class:`devices.links.link.Link`."""
        self._socket.close()

    def describe(self) -> dict[str, str]:
        """See :class:`devices.links.link.Link`."""
        return {"topic": self._base}

    def timed_out(self) -> LinkFailedError:
        """See :class:`DescriptorLink`."""
        return LinkFailedError(f"{self._base}: accepts no bytes")

    def unreadable(self, error: OSError | None) -> LinkFailedError:
        """See :class:`DescriptorLink`."""
        return LinkFailedError(f"{self._base}: the broker is gone: {error or 'it ended'}")

    def unwritable(self, error: OSError) -> LinkFailedError:
        """See :class:`DescriptorLink`."""
        return LinkFailedError(f"{self._base}: cannot be written: {error}")

    def post(self, packet: Packet) -> None:
        """Send a packet to the broker."""
        with suppress(OSError):  # the reader finds out that the connection has ended
            self._socket.send(encode(packet, V5))

    def _on_packet(self, packet: Packet) -> bytes:
        if isinstance(packet, Connack):
            self.post(Subscribe(1, (Subscription(f"{self._base}/#", 1),)))
        elif isinstance(packet, Publish):
            if packet.qos:
                self.post(Acknowledgement(Kind.PUBACK, packet.packet_id))
            return line_of(self._base, packet.topic, packet.payload, retained=packet.retain)
        return b""


def check(address: Address) -> None:
    """Accept every address (the contract of a scheme of links)."""


def connect(address: Address) -> Link:
    """Connect to the broker of the world. Raises :class:`LinkFailedError`."""
    process = PROCESS.get()
    assert process is not None
    try:
        socket: Socket = BROKERS[address.host].dial(process.machine.name)
    except ConnectionRefusedError as error:
        raise LinkFailedError(f"{address.host}: {error.strerror}") from error
    socket.setblocking(False)
    link = BrokerLink(socket, address.path.strip("/"))
    link.post(Connect(f"reader-{process.machine.name}-{address.path}"))
    return link


def use(world: World, host: str) -> None:
    """Let addresses ``mqtt://HOST`` lead to the broker of the world until its end."""
    schemes: Any = SCHEME_MODULES
    usual, schemes[SCHEME] = schemes[SCHEME], __name__
    BROKERS[host] = world.sockets
    world.stack.callback(lambda: schemes.update({SCHEME: usual}))
