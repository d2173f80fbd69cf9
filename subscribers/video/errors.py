"""How a receiver of bookmarks fails. Both messages name it, say why, and what to do."""

from __future__ import annotations


class AwayError(Exception):
    """It did not take the bookmark, and may later: it is sent again."""


class RefusedError(Exception):
    """It will never take this bookmark: it is counted and told, and the next one is sent."""


class ClipError(Exception):
    """No clip can be made. The message says why, and what to do."""
