"""Why the store of the lease could not be asked."""

from __future__ import annotations

from devices.errors import NovamasError


class StoreUnreachableError(NovamasError):
    """Nobody answered, or not in time: what was asked for may be done all the same."""


class StoreUnusableError(NovamasError):
    """The store answers, and cannot be used so, or what we need to log in is missing. The message
    says what to do.
    """


class OvertakenError(NovamasError):
    """Another has replaced the record meanwhile, and nothing was written."""
