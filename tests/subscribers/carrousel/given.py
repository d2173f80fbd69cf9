"""Terms as a test writes them, read."""

from __future__ import annotations

from typing import Any

import msgspec

from subscribers.carrousel.terms import Terms


def read(given: dict[str, Any]) -> Terms:
    """The same as a struct."""
    return msgspec.convert(given, Terms)
