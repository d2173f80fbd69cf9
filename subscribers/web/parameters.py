"""Strict parsing of parameters in addresses."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

MAX_DIGITS = 18
"""Maximum number of digits of a whole number: it fits an integer of every database."""
WholeNumber = Annotated[int, Meta(ge=0, lt=10**MAX_DIGITS)]
"""A whole number in a JSON body."""


def parse_whole_number(text: str) -> int:
    """Return a whole number that is not negative. Raises ``ValueError``."""
    if not (text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS):
        raise ValueError(f"{text[:40]!r} is not a whole number of at most {MAX_DIGITS} digits")
    return int(text)
