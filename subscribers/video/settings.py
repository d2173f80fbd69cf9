"""Settings of bookmark delivery and of clips. They contain no secret."""

from __future__ import annotations

from typing import Literal

import msgspec

from subscribers.video.bookmarks import DEFAULT_EVENT_TYPES


class BookmarkSettings(msgspec.Struct, frozen=True, kw_only=True):
    """One receiver of bookmarks, from ``[[bookmark]]``. ``site``: the site of its tables."""

    id: str
    kind: Literal["milestone", "frigate", "pos", "webhook"]
    address: str
    site: str
    tables: tuple[str, ...] = ()
    """Empty: all tables."""
    cameras: dict[str, str] = {}
    """The receiver's camera, by table."""
    events: tuple[str, ...] = DEFAULT_EVENT_TYPES
    language: str = "en"
    late_after: float = 5.0
    """Age in seconds from which a bookmark is late."""
    pace: float = 20.0
    """Maximum number of bookmarks per second."""
    echo: Literal["none", "all", "statistics"] = "none"
    """Milestone: what its data source echoes."""
    encoding: str = "utf-8"
    begin: str = ""
    """Point of sale: the line that begins a text; empty for none."""
    end: str = ""
    """Point of sale: the line that ends a text; empty for none."""
    newline: str = "\r\n"
    """Point of sale, Milestone: line separator."""
    before: float = 10.0
    """Frigate: seconds of video before the event."""
    after: float = 10.0
    """Frigate: seconds of video after the event."""
    ca_file: str | None = None
    secret_file: str | None = None
    """Webhook: the key of the signature; Frigate: the token."""


class VideoSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Where the recordings are, from ``[video]``."""

    folder: str
    pattern: str = "{camera}/%Y-%m-%d/%H-%M-%S.mp4"
    """Name of a recording below the folder: ``{camera}``, and when it begins."""
    clock: Literal["utc", "local"] = "utc"
    """Time zone of the times in names."""
    cameras: dict[str, str] = {}
    """Camera by table; by default the table's id."""
    margin: float = 5.0
    """Seconds before and after the round that a clip shows."""
    longest: float = 3600.0
    """Maximum duration of a recording in seconds."""


class PicturesSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of clips, subtitles and bookmark progress. ``bookmarks``: ids of all receivers."""

    archive: str
    site: str
    video: VideoSettings | None = None
    bookmarks: tuple[str, ...] = ()
