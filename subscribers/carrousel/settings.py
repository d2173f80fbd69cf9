"""Settings of the controller, made by ``novamas carrousel`` from the configuration file."""

from __future__ import annotations

from typing import Literal

import msgspec

from subscribers.carrousel.terms import Terms
from subscribers.feed.tables import BrokerLogin


class JackpotSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One jackpot. ``title``: its name, by language."""

    terms: Terms
    title: dict[str, str] = {}
    simulated: bool = False

    @property
    def tables(self) -> tuple[str, ...]:
        """The linked tables."""
        authorisation = self.terms.authorisation
        return () if authorisation is None else authorisation.tables


class StandbySettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The pair that the controller is one of: where the lease and the log are stored, for how many
    seconds the lease is valid, and which public keys are trusted there; without ``keys``, any.
    """

    servers: tuple[str, ...]
    instance: str | None = None
    lease: float = 10.0
    bucket: str = "novamas-standby"
    replicas: int = 3
    keys: tuple[str, ...] = ()
    creds_file: str | None = None
    creds_credential: str | None = None
    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None


class CarrouselSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All settings. They contain no secret: passwords and keys are in files."""

    site: str
    broker: BrokerLogin
    node: str
    ledger: str
    """Path of the ledger."""
    jackpots: tuple[JackpotSettings, ...]
    keepalive: float = 5.0
    """Seconds between two statements of a jackpot."""
    clock_bound: float = 0.1
    """Maximum difference in seconds between the clocks of two nodes."""
    key: str | None = None
    """File of the key that signs checkpoints; None: it is created beside the ledger."""
    people_file: str | None = None
    people_key: str | None = None
    """Public key that verifies the people file, base64url; None: no orders are accepted."""
    recall_key: str | None = None
    """Key of a reader, where commands must be signed; None: recalls are not signed."""
    recall_passphrase: str | None = None
    """File with its passphrase."""
    listen: tuple[str, int] | None = None
    """Host and port of the metrics endpoint; None: no endpoint."""
    log: Literal["json", "console"] = "json"
    standby: StandbySettings | None = None
    """None: the controller is not one of a pair."""
