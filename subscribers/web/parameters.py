"""Parameters of addresses, read strictly: whatever else a request holds is refused, not computed
with.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

DIGITS = 18
"""Maximum number of digits of a whole number: it fits an integer of every database."""
Whole = Annotated[int, Meta(ge=0, lt=10**DIGITS)]
"""A whole number in a JSON body."""


def whole(text: str) -> int:
    """A whole number, not negative. Raises ``ValueError``."""
    if not (text.isascii() and text.isdigit() and len(text) <= DIGITS):
        raise ValueError(f"{text[:40]!r} is not a whole number of at most {DIGITS} digits")
    return int(text)
