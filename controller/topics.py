"""The MQTT topics: the one place where they are spelled. Subscribers may import this module."""

from __future__ import annotations

import msgspec


class Topics(msgspec.Struct, frozen=True):
    """The topics of one site. Simulated tables live under a root of their own, so that a broker can keep them apart."""

    site: str
    simulated: bool = False

    @property
    def root(self) -> str:
        """``novamas/v1/<site>``, or ``novamas-sim/v1/<site>``."""
        return f"{'novamas-sim' if self.simulated else 'novamas'}/v1/{self.site}"

    def table(self, table: str, leaf: str) -> str:
        """A table's topic: ``info state result history shoe alert/<id>`` retained, ``event``, ``sealed``."""
        return f"{self.root}/{table}/{leaf}"

    def command(self, table: str, name: str = "+") -> str:
        """Where a command to a table is sent: ``command/round.void``."""
        return f"{self.root}/{table}/command/{name}"

    def reply(self, table: str, client: str) -> str:
        """Where a table answers a client."""
        return f"{self.root}/{table}/reply/{client}"

    def node(self, node: str, leaf: str) -> str:
        """A daemon's own topic: ``status`` (also its last will), ``health``, ``checkpoint``."""
        return f"{self.root}/node/{node}/{leaf}"
