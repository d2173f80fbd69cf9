"""Errors of backups."""

from __future__ import annotations

from common.errors import NovamasError


class BackupError(NovamasError):
    """A backup cannot be made or restored. The message says why, and what to do."""
