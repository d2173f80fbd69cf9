"""What zero does to a stake on a simple chance: half or prison at the French table, half at the American."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

from controller.rulebooks.rulebook import Roulette

Choice = Literal["half", "prison", "refund"]
"""``half``: take half back, the bank keeps the rest. ``prison``: leave it all. ``refund``: the last spin leaves no choice."""


def worth(zeros: int) -> Fraction:
    """What is left of the initial stake after so many zeros running: one half, a quarter, an eighth ..."""
    return Fraction(1, 2**zeros)


def choices(book: Roulette, *, last_of_session: bool) -> tuple[Choice, ...]:
    """What the player may do with a stake on a simple chance when zero falls."""
    if last_of_session and book.zero == "half_or_prison":
        return ("refund",)
    return ("half", "prison") if book.zero == "half_or_prison" else ("half",)


def may_leave_prison(stake: int, zeros: int, minimum: int) -> bool:
    """Whether a stake may be taken out at the half after so many zeros: below the table minimum it stays until freed."""
    return stake * worth(zeros) >= minimum
