"""What zero does to a stake on a simple chance of roulette, and 31-31 to a bet at trente et
quarante: half or prison, or half.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

Regime = Literal["half_or_prison", "half"]
"""``half_or_prison``: as at the French table, the player chooses. ``half``: as at the American,
half the stake is lost.
"""
Choice = Literal["half", "prison", "refund"]
"""``half``: take half back, the bank keeps the rest. ``prison``: leave it all. ``refund``: the last
spin leaves no choice.
"""


def worth(zeros: int) -> Fraction:
    """The remainder of the initial stake after a number of zeros running: one half, a quarter, an
    eighth ...
    """
    return Fraction(1, 2**zeros)


def choices(regime: Regime, *, last_of_session: bool) -> tuple[Choice, ...]:
    """The player's choices for the stake."""
    if regime == "half":
        return ("half",)
    return ("refund",) if last_of_session else ("half", "prison")


def may_leave_prison(stake: int, zeros: int, minimum: int) -> bool:
    """True if a stake may be taken out at the half after a number of zeros: below the table minimum
    it stays until freed.
    """
    return stake * worth(zeros) >= minimum
