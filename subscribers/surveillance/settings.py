"""Settings of the recorder. ``novamas surveillance`` builds them from the configuration file."""

from __future__ import annotations

from typing import Literal

import msgspec

from subscribers.feed.tables import BrokerLogin
from subscribers.surveillance.archive import Kind
from subscribers.video.settings import BookmarkSettings


class SiteSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One site and its broker."""

    id: str
    broker: BrokerLogin
    keys: dict[str, tuple[str, ...]] = {}
    """The public keys with which a node's daemons sign checkpoints, by node. For a node that is not
    listed, the first key received is trusted.
    """


class ArchiveSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of programs that only use the archive. ``site``: that of the configuration."""

    archive: str
    site: str


class SurveillanceSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of the recorder. They contain no secret, except possibly in ``archive``."""

    archive: str
    """The archive's file, or its database address."""
    node: str
    """The recorder's own node, which is also its session at every broker."""
    sites: tuple[SiteSettings, ...]
    recall_key: str | None = None
    """A reader's key, if commands must be signed; None: recalls are not signed."""
    recall_passphrase: str | None = None
    """The file with its passphrase."""
    recall_person: str | None = None
    """That reader's id in the people file."""
    listen: tuple[str, int] | None = None
    """Address for monitoring; None for none."""
    keep_days: dict[Kind, int] = {}
    """Days of recording after which records are removed, by kind."""
    log: Literal["json", "console"] = "json"
    bookmarks: tuple[BookmarkSettings, ...] = ()
    """Video systems that receive bookmarks of events."""
