"""Settings of the program of the outputs. They contain no secret."""

from __future__ import annotations

import msgspec

from subscribers.feed.tables import BrokerLogin


class OutputSettings(msgspec.Struct, frozen=True, kw_only=True):
    """One output. ``port``: device file, ``/dev/serial/by-id/...``, or ``tcp://host:port`` of a
    device server. ``simulated``: whether the table is simulated.
    """

    port: str
    table: str
    baud: int = 9600
    simulated: bool = False


class OutputProgramSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All settings."""

    site: str
    broker: BrokerLogin
    outputs: tuple[OutputSettings, ...]
