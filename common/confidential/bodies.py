"""Recognises sealed and locked bodies by their first bytes, without a key."""

from __future__ import annotations

_SEALED_PREFIX = b'{"sealed":'
_LOCKED_PREFIX = b'{"locked":'


def is_sealed(body: bytes) -> bool:
    """Return True if only surveillance can read this body."""
    return body.startswith(_SEALED_PREFIX)


def is_locked(body: bytes) -> bool:
    """Return True if only the daemon that wrote this body can read it."""
    return body.startswith(_LOCKED_PREFIX)
