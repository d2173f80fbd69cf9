"""Whether the broker accepts this daemon, for one that must not yet serve there."""

from __future__ import annotations

import asyncio
from itertools import cycle

import aiomqtt
import msgspec

from controller.broker.address import addresses
from controller.broker.client import BrokerClient
from controller.broker.failures import Disconnected, describe_error
from controller.broker.login import BrokerUnusableError
from controller.configuration.settings import BrokerConfig

PAUSE = 1.0
"""Seconds between two attempts to connect."""
UNTRIED = "not tried yet"


class Reachable:
    """A connection under a client id of its own, on which nothing is subscribed or published.
    ``patience``: seconds in which the broker must answer. ``trouble``: why there is no connection;
    None: there is one.
    """

    def __init__(self, broker: BrokerConfig, client_id: str, patience: float) -> None:
        self._broker, self._client_id = broker, client_id
        self._patience = patience
        self._addresses = cycle(addresses(broker.url))
        self.trouble: str | None = UNTRIED

    async def run(self) -> None:
        """Keep the connection until cancelled."""
        while True:
            try:
                await self._connected()
            except (Disconnected, BrokerUnusableError) as error:
                self.trouble = describe_error(error, self._broker)
            else:
                self.trouble = "the broker ended the connection"
            await asyncio.sleep(PAUSE)

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
