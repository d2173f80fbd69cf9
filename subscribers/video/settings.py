"""What is told to whoever sends bookmarks and cuts clips. No secret is in it."""

from __future__ import annotations

from typing import Literal

import msgspec

from subscribers.video.bookmarks import DEFAULT


class BookmarkSettings(msgspec.Struct, frozen=True, kw_only=True):
    """One receiver of bookmarks, as ``[[bookmark]]`` says it. ``site``: whose tables."""

    id: str
    kind: Literal["milestone", "frigate", "pos", "webhook"]
    address: str
    site: str
    tables: tuple[str, ...] = ()
    """Empty: all."""
    cameras: dict[str, str] = {}
    """Table -> its camera there."""
    events: tuple[str, ...] = DEFAULT
    language: str = "en"
    late_after: float = 5.0
    """Seconds after which a bookmark is late."""
    pace: float = 20.0
    """The most bookmarks that are sent in a second."""
    echo: Literal["none", "all", "statistics"] = "none"
    """Milestone: what its data source answers."""
    encoding: str = "utf-8"
    begin: str = ""
    """Point of sale: the line that begins a text; empty: none."""
    end: str = ""
    """Point of sale: the line that ends it; empty: none."""
    newline: str = "\r\n"
    """Point of sale, Milestone: what ends a line."""
    before: float = 10.0
    """Frigate: seconds of picture before the event."""
    after: float = 10.0
    """Frigate: seconds of picture after it."""
    ca_file: str | None = None
    secret_file: str | None = None
    """Webhook: the key of the signature; Frigate: the token."""


class VideoSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Where the recordings lie, as ``[video]`` says it."""

    folder: str
    pattern: str = "{camera}/%Y-%m-%d/%H-%M-%S.mp4"
    """The name of a recording below the folder: ``{camera}``, and when it begins."""
    clock: Literal["utc", "local"] = "utc"
    """Which clock the names tell."""
    cameras: dict[str, str] = {}
    """Table -> its camera; of a table that is not here, its id."""
    margin: float = 5.0
    """Seconds before and after what a clip shows."""
    longest: float = 3600.0
    """Seconds that a recording lasts at most."""


class PicturesSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What clips, subtitles and the state of bookmarks need. ``bookmarks``: the ids of all."""

    archive: str
    site: str
    video: VideoSettings | None = None
    bookmarks: tuple[str, ...] = ()
