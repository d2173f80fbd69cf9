"""Bounds of the texts and numbers in commands, far beyond what any table needs."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

Name = Annotated[str, Meta(max_length=128)]
"""A person's name."""
Note = Annotated[str, Meta(max_length=1024)]
Word = Annotated[str, Meta(max_length=64)]
"""The name of a hand, a bet, an alert; a serial number."""
Words = Annotated[tuple[Word, ...], Meta(max_length=100)]
Card = Annotated[str, Meta(max_length=8)]
Cards = Annotated[tuple[Card, ...], Meta(max_length=1000)]
Count = Annotated[int, Meta(ge=-1000, le=1000)]
"""A number of cards, dice, boxes or seats, or the number of one. The game refuses a negative one
and says why.
"""
Counts = Annotated[tuple[Count, ...], Meta(max_length=100)]
Rounds = Annotated[int, Meta(ge=-1, le=1_000_000_000)]
Money = Annotated[int, Meta(ge=-1_000_000_000_000, le=1_000_000_000_000)]
"""An amount in minor units."""
Number = Annotated[int, Meta(ge=-1000, le=1000)] | Word
"""A pocket of a wheel, as in its readings."""
