"""Errors of bookmark receivers and clips. Messages name the receiver or file, the reason, and what
to do.
"""

from __future__ import annotations


class ReceiverAwayError(Exception):
    """The receiver did not accept the bookmark and may do so later: it is sent again."""


class BookmarkRefusedError(Exception):
    """The receiver will never accept this bookmark: it is counted and logged, and the next one is
    sent.
    """


class ClipError(Exception):
    """The clip cannot be made. The message says why, and what to do."""
