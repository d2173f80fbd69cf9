"""Connections of browsers: each has a few seconds to send a whole request, and each address may
have a limited number of idle ones, so that incomplete requests cannot exhaust the server.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import Any, ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from subscribers.network import network
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

    async def create_server(self, *args: Any, **kwargs: Any) -> asyncio.Server:
        """Create a server with the deadline."""
        if kwargs.get("ssl") is not None:
            kwargs.setdefault("ssl_handshake_timeout", HANDSHAKE_TIMEOUT_SECONDS)
        return await super().create_server(*args, **kwargs)


class BrowserConnection(H11Protocol):
    """One connection. The server's concurrency limit counts requests, but not idle connections. A
    proxy's connection counts for no address until a request's head names the browser's address.
    """

    incomplete: ClassVar[defaultdict[str, dict[BrowserConnection, float]]] = defaultdict(dict)
    """Network -> its connections without a complete request, and since when, oldest first."""
    proxies: ClassVar[Proxies] = Proxies()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.connections = set()
        self._deadline: asyncio.TimerHandle | None = None
        self._network: str | None = None
        """The network for which it is counted, if any."""

    def connection_made(self, transport: Any) -> None:
        """Start the deadline of the first request."""
        super().connection_made(transport)
        self.server_state.connections.add(self)
        self._update_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop counting the connection."""
        super().connection_lost(exc)
        self.server_state.connections.discard(self)
        self._complete()

    def data_received(self, data: bytes) -> None:
        """Handle a part of a request."""
        super().data_received(data)
        self._update_deadline()

    def on_response_complete(self) -> None:
        """Start the deadline of the next request."""
        super().on_response_complete()
        self._update_deadline()

    def _update_deadline(self) -> None:
        """Start or cancel the deadline, depending on whether the request is complete."""
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._complete()
        elif not self.transport.is_closing():
            if self._deadline is None:
                self._deadline = self.loop.call_later(REQUEST_TIMEOUT_SECONDS, self.transport.abort)
            self._count(self._browser_network())

    def _browser_network(self) -> str | None:
        """Return the network of the browser; None if a proxy has not named it yet."""
        peer = self.client[0] if self.client else ""
        if peer not in self.proxies:
            return network(peer)
        if self.conn.their_state is h11.IDLE:
            return None
        named = [value.decode("latin-1") for name, value in self.headers if name == FORWARDED]
        return network(self.proxies.browser(peer, named))

    def _count(self, browser_network: str | None) -> None:
        """Count the connection for a network; above the limit, close the network's oldest."""
        if browser_network == self._network:
            return
        self._uncount()
        self._network = browser_network
        if browser_network is None:
            return
        waiting, now = self.incomplete[browser_network], self.loop.time()
        waiting[self] = now
        for other, since in [*waiting.items()][: max(0, len(waiting) - MAX_INCOMPLETE)]:
            if since <= now - YOUNG_SECONDS:
                other.transport.abort()

    def _uncount(self) -> None:
        if self._network is None:
            return
        waiting = self.incomplete[self._network]
        waiting.pop(self, None)
        if not waiting:
            del self.incomplete[self._network]
        self._network = None

    def _complete(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        self._uncount()
