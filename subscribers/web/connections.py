"""Connections of browsers: each has a few seconds to send a whole request, and each address may
have a limited number of idle ones, so that incomplete requests cannot exhaust the server.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from ipaddress import ip_address, ip_network
from typing import Any, ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from subscribers.web.proxy import FORWARDED_FOR, Proxies

REQUEST_TIMEOUT_SECONDS = 10.0
"""Time to receive a request with its body, from the connection or the previous response on."""
HANDSHAKE_TIMEOUT_SECONDS = 10.0
"""Time for the TLS handshake before that."""
MAX_INCOMPLETE = 100
"""Maximum number of connections per address without a complete request."""
FORWARDED = FORWARDED_FOR.encode()
YOUNG_SECONDS = 1.0
"""Age below which no connection is closed for a newer one: its request may not have
been read yet.
"""


class BrowserLoop(asyncio.SelectorEventLoop):
    """Event loop of the server with a deadline for TLS handshakes; the default would
    be a minute.
    """

    async def create_server(self, *of: Any, **more: Any) -> asyncio.Server:
        """Listen."""
        if more.get("ssl") is not None:
            more.setdefault("ssl_handshake_timeout", HANDSHAKE_TIMEOUT_SECONDS)
        return await super().create_server(*of, **more)


class BrowserConnection(H11Protocol):
    """One connection. The server's concurrency limit counts requests, but not idle connections. A
    proxy's connection counts for no address until a request's head names the browser's address.
    """

    incomplete: ClassVar[defaultdict[str, dict[BrowserConnection, float]]] = defaultdict(dict)
    """By network, what is waited for, and since when, oldest first."""
    proxies: ClassVar[Proxies] = Proxies()

    def __init__(self, *of: Any, **more: Any) -> None:
        super().__init__(*of, **more)
        self.connections = set()
        self._deadline: asyncio.TimerHandle | None = None
        self._network: str | None = None
        """The network for which it is counted, if any."""

    def connection_made(self, transport: Any) -> None:
        """Wait for its first request."""
        super().connection_made(transport)
        self.server_state.connections.add(self)
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        super().connection_lost(exc)
        self.server_state.connections.discard(self)
        self._complete()

    def data_received(self, data: bytes) -> None:
        """Take a part of a request."""
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._look()

    def _look(self) -> None:
        """Wait for the rest of a request, or no longer."""
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._complete()
        elif not self.transport.is_closing():
            if self._deadline is None:
                self._deadline = self.loop.call_later(REQUEST_TIMEOUT_SECONDS, self.transport.abort)
            self._count(self._whose())

    def _whose(self) -> str | None:
        """The network of its browser; None: a proxy has not named it yet."""
        peer = self.client[0] if self.client else ""
        if peer not in self.proxies:
            return network(peer)
        if self.conn.their_state is h11.IDLE:
            return None
        named = [value.decode("latin-1") for name, value in self.headers if name == FORWARDED]
        return network(self.proxies.browser(peer, named))

    def _count(self, of: str | None) -> None:
        """Count it for a network; for one that is too many, the oldest of that network goes."""
        if of == self._network:
            return
        self._uncount()
        self._network = of
        if of is None:
            return
        mine, now = self.incomplete[of], self.loop.time()
        mine[self] = now
        for other, since in [*mine.items()][: max(0, len(mine) - MAX_INCOMPLETE)]:
            if since <= now - YOUNG_SECONDS:
                other.transport.abort()

    def _uncount(self) -> None:
        if self._network is None:
            return
        mine = self.incomplete[self._network]
        mine.pop(self, None)
        if not mine:
            del self.incomplete[self._network]
        self._network = None

    def _complete(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        self._uncount()


def network(address: str) -> str:
    """What counts as one address: with IPv6 a whole /64, for a machine has all of it."""
    try:
        found = ip_address(address)
    except ValueError:
        return address
    return str(ip_network((found, 64), strict=False)) if found.version == 6 else address
