"""Errors of sending over HTTP and of the outbox. Messages name the receiver or file, the reason,
and what to do; never a secret, nor the part of an address that may be one.
"""

from __future__ import annotations


class ReceiverAwayError(Exception):
    """The receiver did not accept the request and may do so later: it is sent again.

    ``wait``: seconds that the receiver asked for; None if it did not. ``everything``: the reason
    applies to every request, not to this one alone.
    """

    def __init__(self, message: str, *, wait: float | None = None, everything: bool = True) -> None:
        super().__init__(message)
        self.wait = wait
        self.everything = everything


class RequestRefusedError(Exception):
    """The receiver will never accept this request."""


class OutboxError(Exception):
    """The outbox cannot be read or written. The message says why, and what to do."""
