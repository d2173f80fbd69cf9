"""How money is split, in whole minor units: what a stake brings, what a share of the meter is."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import msgspec

from controller.contract.jackpot import Fraction as Share
from subscribers.carrousel.terms import Terms


class Parts(msgspec.Struct, frozen=True, array_like=True):
    """Where a stake went. All in minor units."""

    stakes: int = 0
    meter: int = 0
    reserve: int = 0

    @property
    def house(self) -> int:
        """What stays with the house."""
        return self.stakes - self.meter - self.reserve

    def __add__(self, other: Parts) -> Parts:
        """Both together."""
        return Parts(
            self.stakes + other.stakes, self.meter + other.meter, self.reserve + other.reserve
        )

    def __neg__(self) -> Parts:
        """The same, given back."""
        return Parts(-self.stakes, -self.meter, -self.reserve)


def contribution(amount: int, terms: Terms) -> Parts:
    """What a stake brings. The part that the meter rises by is rounded down, and the rest is the
    house's; of that part the reserve's is rounded down, and the rest is the meter's.

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
    """Whether the shares take all there is."""
    return sum((Fraction(*each) for each in shares if each), Fraction(0)) >= 1


def values(shares: Sequence[Share], value: int, *, first: bool) -> list[int]:
    """What each share of ``value`` is worth, rounded down. ``first``: the cents that this leaves of
    all shares together go to the first one; else they stay where they are.
    """
    worth = [value * share[0] // share[1] for share in shares]
    if first and worth:
        together = sum((Fraction(*each) for each in shares), Fraction(0)) * value
        worth[0] += together.__floor__() - sum(worth)
    return worth


def is_share(share: Share | None) -> bool:
    """Whether it is a part of a whole: above 0 and at most 1. None: persons decide."""
    return share is None or (share[1] > 0 and 0 < share[0] <= share[1])
