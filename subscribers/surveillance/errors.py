"""What goes wrong in the surveillance room, for a person."""

from __future__ import annotations


class ArchiveError(Exception):
    """The archive cannot be used. The message names it, says why, and what to do."""


class TakenError(ArchiveError):
    """Another recorder has the archive."""
