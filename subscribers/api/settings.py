"""Settings of the HTTP API. They contain no secret: the tokens' file has their SHA-256 only."""

from __future__ import annotations

import msgspec


class ApiSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings."""

    tokens: str
    """The file of the tokens."""
    origins: tuple[str, ...] = ()
    """The origins whose pages may read the API in a browser."""
