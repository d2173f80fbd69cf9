"""Splitting of money in whole minor units: the parts of a stake, and shares of the meter."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import msgspec

from common.contract.jackpot import Fraction as Share
from subscribers.carrousel.terms import Terms


class Parts(msgspec.Struct, frozen=True, array_like=True):
    """How a stake is split, in minor units."""

    stakes: int = 0
    meter: int = 0
    reserve: int = 0

    @property
    def house(self) -> int:
        """The part that stays with the house."""
        return self.stakes - self.meter - self.reserve

    def __add__(self, other: Parts) -> Parts:
        """Return the sums of the parts."""
        return Parts(
            self.stakes + other.stakes, self.meter + other.meter, self.reserve + other.reserve
        )

    def __neg__(self) -> Parts:
        """Return the parts of the stake's return."""
        return Parts(-self.stakes, -self.meter, -self.reserve)


def contribution(amount: int, terms: Terms) -> Parts:
    """Split a stake. The rise of meter and reserve together is rounded down, and the rest is the
    house's; of the rise, the reserve's part is rounded down, and the rest is the meter's.

    BAL05 L2457-2458: «el 90% del valor de les monedes introduides s'incorpora a l'acumulat»; ARA02
    L1400: «la totalidad de las monedas introducidas se incorporan al acumulado»; EUS96 L1849: the
    authorised percentage. A fixed jackpot does not rise (L1847).
    """
    if terms.kind == "fixed" or terms.authorisation is None:
        return Parts(amount)
    rise = amount * terms.authorisation.percentage[0] // terms.authorisation.percentage[1]
    reserve = rise * terms.reserve[0] // terms.reserve[1]
    return Parts(amount, rise - reserve, reserve)


def whole(shares: Sequence[Share | None]) -> bool:
    """Return whether the shares add up to the whole meter."""
    return sum((Fraction(*share) for share in shares if share), Fraction(0)) >= 1


def values(shares: Sequence[Share], value: int, *, first: bool) -> list[int]:
    """Return the value of each share of ``value``, rounded down. ``first``: the cents lost by
    rounding go to the first share; otherwise they stay in the meter.
    """
    worth = [value * share[0] // share[1] for share in shares]
    if first and worth:
        total = sum((Fraction(*share) for share in shares), Fraction(0)) * value
        worth[0] += total.__floor__() - sum(worth)
    return worth


def is_share(share: Share | None) -> bool:
    """Return whether a share is valid: above 0 and up to 1, or None, which persons decide."""
    return share is None or (share[1] > 0 and 0 < share[0] <= share[1])
