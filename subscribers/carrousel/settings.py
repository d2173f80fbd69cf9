"""What the controller is told when it starts. ``novamas carrousel`` makes it of the configuration
file.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from subscribers.carrousel.terms import Terms
from subscribers.feed import BrokerLogin


class JackpotSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One jackpot. ``title``: its name, by language."""

    terms: Terms
    title: dict[str, str] = {}
    simulated: bool = False

    @property
    def tables(self) -> tuple[str, ...]:
        """The linked tables."""
        given = self.terms.authorisation
        return () if given is None else given.tables


class CarrouselSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All of it. No secret is in it: passwords and keys are in files."""

    site: str
    broker: BrokerLogin
    node: str
    ledger: str
    """The file of the ledger."""
    jackpots: tuple[JackpotSettings, ...]
    keepalive: float = 5.0
    """Seconds between two statements of a jackpot."""
    clock_bound: float = 0.1
    """Seconds by which the clocks of two nodes differ at most."""
    key: str | None = None
    """The file of the key that signs checkpoints; None: it is made beside the ledger."""
    people_file: str | None = None
    people_key: str | None = None
    """The public part of the key that signs the people file, base64url; None: nobody may order."""
    recall_key: str | None = None
    """The key of a reader, where commands must be signed; None: recalls are not signed."""
    recall_passphrase: str | None = None
    """The file of its passphrase."""
    listen: tuple[str, int] | None = None
    """Host and port where its metrics can be asked; None: nowhere."""
    log: Literal["json", "console"] = "json"
