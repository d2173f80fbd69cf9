"""Errors of clips. Messages name the file, the reason, and what to do."""

from __future__ import annotations


class ClipError(Exception):
    """The clip cannot be made. The message says why, and what to do."""
