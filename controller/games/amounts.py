"""The numbers that the settings of a game may have. Each game states what a decree allows of them,
with the article.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from devices.money import AMOUNT_META

Count = Annotated[int, Meta(ge=-1000, le=1000, description="a whole number from -1000 to 1000")]
"""Of boxes, decks, turns, percents, or which pocket: less than nothing is for the game to refuse,
which says why.
"""
Times = Annotated[int, Meta(ge=1, le=1_000_000, description="a whole number from 1 to 1000000")]
"""Rounds, sessions, minutes."""
Money = Annotated[
    int,
    Meta(
        ge=1,
        le=1_000_000_000_000,
        description="an amount from 1 to 1000000000000 minor units",
        extra=AMOUNT_META,
    ),
]
