"""The places of a wheel in their order."""

from __future__ import annotations

import msgspec

from subscribers.statistics.bias import sectors

EUROPEAN: tuple[int | str, ...] = (
    *(0, 32, 15, 19, 4, 21, 2, 25, 17, 34, 6, 27, 13, 36, 11, 30, 8, 23, 10),
    *(5, 24, 16, 33, 1, 20, 14, 31, 9, 22, 18, 29, 7, 28, 12, 35, 3, 26),
)
"""The numbers around a wheel of 37 pockets, clockwise."""
HOLES = tuple(range(1, 10))
"""The numbers of boule. Two holes have each; which of them it was is not told."""


class Cylinder(msgspec.Struct, frozen=True):
    """What a wheel can show. ``ring``: whether the order is that around the wheel."""

    places: tuple[int | str, ...]
    ring: bool = True

    @property
    def parts(self) -> int:
        """How many pockets and sectors are looked at."""
        return len(self.places) * (1 + len(sectors(len(self.places))) * self.ring)


ROULETTE = Cylinder(EUROPEAN)
BOULE = Cylinder(HOLES, ring=False)


def cylinder(family: str, order: Cylinder | None = None) -> Cylinder | None:
    """The wheel of outcomes of this family; None where it is no wheel of like places. ``order``:
    the wheel of roulette that the table has.
    """
    return {"roulette": order or ROULETTE, "boule": BOULE}.get(family)


def ordered(order: object) -> Cylinder:
    """The wheel with the numbers of the setting ``pocket_order``, clockwise from wherever it
    begins; the European one where that is none.
    """
    if not isinstance(order, list) or not all(type(each) is int for each in order):
        return ROULETTE
    if sorted(order) != sorted(EUROPEAN):
        return ROULETTE
    first = order.index(0)
    return Cylinder((*order[first:], *order[:first]))
