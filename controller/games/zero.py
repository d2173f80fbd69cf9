"""The effect of zero on a simple chance at roulette, and of 31-31 on a bet at trente et quarante:
half or prison, or half only.
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
    """The part of the initial stake that is left after this many consecutive zeros: 1/2, 1/4, 1/8
    ...
    """
    return Fraction(1, 2**zeros)


def choices(regime: Regime, *, last_of_session: bool) -> tuple[Choice, ...]:
    """The player's choices for the stake."""
    if regime == "half":
        return ("half",)
    return ("refund",) if last_of_session else ("half", "prison")


def may_leave_prison(stake: int, zeros: int, minimum: int) -> bool:
    """Whether a stake may be withdrawn at half after this many zeros. If that is below the table
    minimum, it stays until it is freed.
    """
    return stake * worth(zeros) >= minimum
