"""Errors of the lease store."""

from __future__ import annotations

from common.errors import NovamasError


class StoreUnreachableError(NovamasError):
    """No reply in time. The request may have been executed all the same."""


class StoreUnusableError(NovamasError):
    """The store replies but cannot be used as it is, or the login is incomplete. The message says
    what to do.
    """


class OvertakenError(NovamasError):
    """Another daemon has replaced the record; nothing was written."""
