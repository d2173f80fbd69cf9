"""Errors of the surveillance room."""

from __future__ import annotations


class ArchiveError(Exception):
    """The archive cannot be used. The message names it, and states why and what to do."""


class ArchiveInUseError(ArchiveError):
    """Another recorder uses the archive."""
