"""``tcp://host:port``: raw socket of a device server (MOXA NPort in TCP server mode, ser2net, a
converter).
"""

from __future__ import annotations

import socket
from contextlib import suppress

import msgspec

from common import clock
from devices.codec import STABLE_LINK_SECONDS
from devices.links.descriptor import DescriptorLink
from devices.links.link import (
    CONNECT_TIMEOUT_SECONDS,
    MAX_SHOWN_GREETING_BYTES,
    Address,
    Link,
    LinkFailedError,
    host_and_port,
    parse_options,
)

# A peer that lost power sends nothing. It counts as gone after 10 + 3 * 5 s without an answer.
KEEPALIVE_OPTIONS = (
    (socket.TCP_KEEPIDLE, 10),
    (socket.TCP_KEEPINTVL, 5),
    (socket.TCP_KEEPCNT, 3),
    (socket.TCP_USER_TIMEOUT, 25_000),
)


class _NoSettings(msgspec.Struct, frozen=True):
    pass


def check(address: Address) -> None:
    """Raise ``ValueError`` if the address is invalid."""
    host_and_port(address)
    parse_options(address, _NoSettings)


def connect(address: Address) -> Link:
    """Connect. Raises :class:`LinkFailedError`."""
    return TcpLink(*host_and_port(address))


def enable_keepalive(connection: socket.socket) -> None:
    """Let the operating system detect a dead peer, and send small commands at once."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in KEEPALIVE_OPTIONS:
        connection.setsockopt(socket.IPPROTO_TCP, option, value)


class TcpLink(DescriptorLink):
    """A connected socket."""

    def __init__(self, host: str, port: int) -> None:
        self._name = f"{host}:{port}"
        try:
            self._socket = socket.create_connection((host, port), CONNECT_TIMEOUT_SECONDS)
        except OSError as error:
            raise LinkFailedError(
                f"{self._name}: cannot connect: {error.strerror or error}"
            ) from error
        self._opened = clock.monotonic()
        self._first = b""
        """The first bytes received."""
        with suppress(OSError):
            enable_keepalive(self._socket)  # fails if the other end has already closed it
        self._socket.setblocking(False)
        super().__init__(self._socket.fileno())

    def read_ready(self) -> bytes:
        """See :class:`devices.links.descriptor.DescriptorLink`."""
        data = super().read_ready()
        self._first += data[: MAX_SHOWN_GREETING_BYTES - len(self._first)]
        return data

    def close(self) -> None:
        """See :class:`devices.links.link.Link`."""
        with suppress(OSError):
            self._socket.close()

    def describe(self) -> dict[str, str]:
        """See :class:`devices.links.link.Link`."""
        return {"peer": self._name}

    def timed_out(self) -> LinkFailedError:
        """See :class:`devices.links.descriptor.DescriptorLink`. A socket that accepts no data
        until the timeout is dead: the link has failed.
        """
        return LinkFailedError(f"{self._name}: cannot write: the device server accepts no data")

    def unreadable(self, error: OSError | None) -> LinkFailedError:
        """See :class:`devices.links.descriptor.DescriptorLink`."""
        reason = (
            "the device server closed the connection"
            if error is None
            else f"connection lost: {error.strerror or error}"
        )
        return self._ended(reason)

    def unwritable(self, error: OSError) -> LinkFailedError:
        """See :class:`devices.links.descriptor.DescriptorLink`."""
        with suppress(LinkFailedError):  # read the server's last bytes
            self.read(0)
        return self._ended(f"cannot write: {error.strerror or error}")

    def _ended(self, reason: str) -> LinkFailedError:
        at_once = clock.monotonic() - self._opened < STABLE_LINK_SECONDS
        return LinkFailedError(f"{self._name}: {reason}", self._first if at_once else b"")
