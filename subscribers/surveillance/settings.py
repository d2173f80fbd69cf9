"""What the recorder is told when it starts. ``novamas surveillance`` makes it of the configuration
file.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from subscribers.feed import BrokerLogin
from subscribers.surveillance.archive import Kind
from subscribers.video.settings import BookmarkSettings


class SiteSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One site and its broker."""

    id: str
    broker: BrokerLogin
    keys: dict[str, tuple[str, ...]] = {}
    """By node, the public key with which its daemon signs checkpoints. Of a node that is not named,
    the first one that comes is believed.
    """


class ArchiveSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What is told to whoever only goes to the archive. ``site``: that of the configuration."""

    archive: str
    site: str


class SurveillanceSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All of it. No secret is in it but what stands in ``archive``."""

    archive: str
    """The file of the archive, or the address of its database."""
    node: str
    """The recorder's own node, which is its session at every broker too."""
    sites: tuple[SiteSettings, ...]
    recall_key: str | None = None
    """The key of a reader, where commands must be signed; None: recalls are not signed."""
    recall_passphrase: str | None = None
    """The file of its passphrase."""
    recall_person: str | None = None
    """The id of that reader among the people."""
    listen: tuple[str, int] | None = None
    """Where its health can be asked; None: nowhere."""
    keep_days: dict[Kind, int] = {}
    """By kind, the days of recording after which a record is removed."""
    log: Literal["json", "console"] = "json"
    bookmarks: tuple[BookmarkSettings, ...] = ()
    """The video systems that are told of events."""
