"""Checks that the broker accepts this daemon, for a standby that must not serve yet."""

from __future__ import annotations

import aiomqtt
import msgspec

from common.broker.client import BrokerClient
from common.broker.reconnecting import keep_connected
from controller.configuration.settings import BrokerConfig

RETRY_SECONDS = 1.0
"""Seconds between two attempts to connect."""
NOT_TRIED_YET = "not tried yet"


class BrokerProbe:
    """A connection with a separate client id, without subscriptions and publications. ``patience``:
    maximum seconds for a reply of the broker. ``trouble``: why there is no connection, or None.
    """

    def __init__(self, broker: BrokerConfig, client_id: str, patience: float) -> None:
        self._broker, self._client_id = broker, client_id
        self._patience = patience
        self.trouble: str | None = NOT_TRIED_YET

    async def run(self) -> None:
        """Keep the connection until cancelled."""
        await keep_connected(
            self._broker, self._make_client, self._serve, self._on_loss, delay_seconds=RETRY_SECONDS
        )

    def _make_client(self, url: str) -> BrokerClient:
        node = msgspec.structs.replace(self._broker, url=url)
        five = node.protocol == "5"
        return BrokerClient(
            node,
            identifier=self._client_id,
            protocol=aiomqtt.ProtocolVersion.V5 if five else aiomqtt.ProtocolVersion.V311,
            keepalive=max(1, min(node.keepalive, int(self._patience))),
            timeout=self._patience,
        )

    async def _serve(self, client: BrokerClient) -> None:
        self.trouble = None
        async for _ in client.messages:
            pass

    def _on_loss(self, reason: str) -> None:
        self.trouble = reason
