"""Settings of the webhooks. ``novamas webhooks`` builds them from the configuration file. They
contain no secret, only the files that have one.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from subscribers.feed.tables import BrokerLogin


class WebhookSettings(msgspec.Struct, frozen=True, kw_only=True):
    """One receiver, from ``[[webhook]]``."""

    id: str
    address: str | None = None
    address_file: str | None = None
    """A file with the address, where it is itself a secret."""
    tables: tuple[str, ...] = ()
    """Empty: all tables."""
    events: tuple[str, ...] = ()
    """Types of events; empty: all."""
    simulated: bool = False
    """Whether it receives the events of simulated tables, and no others."""
    secret_file: str
    """The keys of the signature."""
    ca_file: str | None = None
    parallel: int = 4
    """Maximum number of tables whose events are sent at the same time."""
    give_up_after: float = 72.0
    """Hours after which an event that could not be sent becomes a dead letter."""
    adapter: str | None = None
    """The extension that makes the body of each request; None: the event as it was published."""


class OutboxSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of the programs that only use the outbox. ``webhooks``: ids of the receivers."""

    outbox: str
    webhooks: tuple[str, ...]


class WebhooksSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of the service."""

    site: str
    broker: BrokerLogin
    node: str
    """The service's own node."""
    outbox: str
    """The file of the outbox."""
    webhooks: tuple[WebhookSettings, ...]
    recall_key: str | None = None
    """A reader's key, if commands must be signed; None: recalls are not signed."""
    recall_passphrase: str | None = None
    """The file with its passphrase."""
    recall_person: str | None = None
    """That reader's id in the people file."""
    listen: tuple[str, int] | None = None
    """Address for monitoring; None for none."""
    log: Literal["json", "console"] = "json"
