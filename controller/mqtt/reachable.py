"""Checks that the broker accepts this daemon, for a standby that must not serve yet."""

from __future__ import annotations

from itertools import cycle

import aiomqtt
import msgspec

from common import clock
from common.broker.address import addresses
from common.broker.client import BrokerClient
from common.broker.failures import Disconnected, describe_error
from common.broker.login import BrokerUnusableError
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
        self._addresses = cycle(addresses(broker.url))
        self.trouble: str | None = NOT_TRIED_YET

    async def run(self) -> None:
        """Keep the connection until cancelled."""
        while True:
            try:
                await self._connected()
            except (Disconnected, BrokerUnusableError) as error:
                self.trouble = describe_error(error, self._broker)
            else:
                self.trouble = "the broker ended the connection"
            await clock.sleep(RETRY_SECONDS)

    async def _connected(self) -> None:
        broker = msgspec.structs.replace(self._broker, url=next(self._addresses))
        five = broker.protocol == "5"
        client = BrokerClient(
            broker,
            identifier=self._client_id,
            protocol=aiomqtt.ProtocolVersion.V5 if five else aiomqtt.ProtocolVersion.V311,
            keepalive=max(1, min(broker.keepalive, int(self._patience))),
            timeout=self._patience,
        )
        async with client:
            self.trouble = None
            async for _ in client.messages:
                pass
