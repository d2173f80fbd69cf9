"""Types of the numbers in the settings of games. Each game checks them against the decree."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from common.money import AMOUNT_META

Count = Annotated[int, Meta(ge=-1000, le=1000, description="a whole number from -1000 to 1000")]
"""A number of boxes, decks, turns or percent, or a pocket. Negative numbers are accepted here: the
game refuses them with the reason.
"""
Times = Annotated[int, Meta(ge=1, le=1_000_000, description="a whole number from 1 to 1000000")]
"""A number of rounds, sessions or minutes."""
Money = Annotated[
    int,
    Meta(
        ge=1,
        le=1_000_000_000_000,
        description="an amount from 1 to 1000000000000 minor units",
        extra=AMOUNT_META,
    ),
]
