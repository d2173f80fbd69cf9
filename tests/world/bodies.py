"""The bodies of messages and entries, each decoded once for all checkers."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import msgspec


def decoded(payload: bytes) -> Any:
    """Return what a JSON text says. What is inside it is shared by all who ask."""
    found = _decoded(payload)
    return found.copy() if isinstance(found, dict) else found


@lru_cache(maxsize=4096)
def _decoded(payload: bytes) -> Any:
    return msgspec.json.decode(payload)
