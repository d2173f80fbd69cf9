"""The bodies of messages and entries, each decoded once for all checkers."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import msgspec


@lru_cache(maxsize=4096)
def decoded(payload: bytes) -> Any:
    """Return what a JSON text says. All who ask share it, and none changes it."""
    return msgspec.json.decode(payload)
