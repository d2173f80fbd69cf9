"""The connection that the parts of a store share: one server at a time, the next one after a
failure.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from common.errors import NovamasError
from common.standby.errors import StoreUnreachableError
from common.standby.settings import StoreSettings

if TYPE_CHECKING:
    from common.standby.connection import StoreConnection


class StoreSession:
    """``timeout``: maximum seconds for each reply. ``server``: the URL of the server in use."""

    def __init__(self, settings: StoreSettings, timeout: float) -> None:
        self.settings, self.timeout = settings, timeout
        self.client: StoreConnection | None = None
        self.server: str | None = None
        self._next = 0

    @property
    def is_connected(self) -> bool:
        """Return True while a server is connected."""
        return self.client is not None and self.client.is_connected

    async def open(self) -> StoreConnection:
        """Connect with the next server. Raises the errors of nats-py."""
        await self.close()
        from common.standby.connection import StoreConnection

        servers = self.settings.servers
        self.server = servers[self._next % len(servers)]
        self._next += 1  # before connecting: if this attempt is cancelled, the next uses another
        self.client = StoreConnection(self.server, self.settings)
        await self.client.open(max(1, int(self.timeout)))
        return self.client

    async def close(self) -> None:
        """Close the connection."""
        client, self.client = self.client, None
        if client is not None:
            with suppress(Exception):
                async with asyncio.timeout(self.timeout):
                    await client.end()

    async def replicas(self, stream: str) -> tuple[int, int]:
        """Return how many nodes have to store a stream, and how many are up to date. Raises the
        errors of nats-py.
        """
        client = self.client
        assert client is not None
        found = await client.jetstream().stream_info(stream)
        others = [] if found.cluster is None else found.cluster.replicas or []
        return found.config.num_replicas or 1, 1 + sum(bool(peer.current) for peer in others)

    async def error_after(self, error: Exception) -> NovamasError:
        """Return the error to raise after a failed request. The next one uses another server."""
        if isinstance(error, NovamasError):
            await self.close()
            return error
        reason = str(error) if self.client is None else self.client.describe_error(error)
        await self.close()
        return StoreUnreachableError(f"{self.server}: {reason}")
