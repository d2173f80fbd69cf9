"""Terms written by tests, decoded."""

from __future__ import annotations

from typing import Any

import msgspec

from subscribers.carrousel.terms import Terms


def read(given: dict[str, Any]) -> Terms:
    """The table as a struct."""
    return msgspec.convert(given, Terms)
