"""How long a text and how large a number of a command may be: far more than any table needs."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

Name = Annotated[str, Meta(max_length=128)]
"""A person's."""
Note = Annotated[str, Meta(max_length=1024)]
Word = Annotated[str, Meta(max_length=64)]
"""A hand, a bet, an alert, a serial number: what has a name at the table."""
Words = Annotated[tuple[Word, ...], Meta(max_length=100)]
Card = Annotated[str, Meta(max_length=8)]
Cards = Annotated[tuple[Card, ...], Meta(max_length=1000)]
Count = Annotated[int, Meta(ge=-1000, le=1000)]
"""Of cards, dice, boxes, seats, or which of them. Less than nothing is for the game to refuse,
which says why.
"""
Counts = Annotated[tuple[Count, ...], Meta(max_length=100)]
Rounds = Annotated[int, Meta(ge=-1, le=1_000_000_000)]
Money = Annotated[int, Meta(ge=-1_000_000_000_000, le=1_000_000_000_000)]
"""Minor units."""
Number = Annotated[int, Meta(ge=-1000, le=1000)] | Word
"""A pocket, as in the readings of a wheel."""
