"""Settings of the HTTP API. They contain no secret: the tokens' file has their SHA-256 only."""

from __future__ import annotations

import msgspec

from subscribers.feed.tables import BrokerLogin


class ApiSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings."""

    tokens: str
    """The file of the tokens."""
    origins: tuple[str, ...] = ()
    """The origins whose pages may read the API in a browser."""
    streams: int = 1000
    """Maximum number of simultaneous streams."""
    token_streams: int = 100
    """Maximum number of simultaneous streams of one token."""
    days: int = 7
    """Days for which events are stored, so that streams can resume."""
    events: int = 500_000
    """Maximum number of stored events."""
    recall_key: str | None = None
    """The key of a person with the role reader, where commands must be signed."""
    recall_passphrase: str | None = None
    """The file with its passphrase."""
    recall_person: str = ""
    """That person's id in the people file."""


class ApiPlace(msgspec.Struct, frozen=True):
    """What the API shares with the web server. ``state``: the folder of its data;
    ``send_timeout``: seconds for which a reader may read nothing.
    """

    site: str
    broker: BrokerLogin
    state: str
    send_timeout: float
