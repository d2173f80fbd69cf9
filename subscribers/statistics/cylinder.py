"""The pockets of a wheel in their order."""

from __future__ import annotations

import msgspec

from subscribers.statistics.bias import sector_widths

EUROPEAN: tuple[int | str, ...] = (
    *(0, 32, 15, 19, 4, 21, 2, 25, 17, 34, 6, 27, 13, 36, 11, 30, 8, 23, 10),
    *(5, 24, 16, 33, 1, 20, 14, 31, 9, 22, 18, 29, 7, 28, 12, 35, 3, 26),
)
"""Numbers around a wheel of 37 pockets, clockwise."""
HOLES = tuple(range(1, 10))
"""Numbers of boule. Each has two holes; which of them was hit is not reported."""


class Cylinder(msgspec.Struct, frozen=True):
    """The possible results of a wheel. ``ring``: whether their order is that around the wheel."""

    places: tuple[int | str, ...]
    ring: bool = True

    @property
    def parts(self) -> int:
        """Number of pockets and sectors that are tested."""
        return len(self.places) * (1 + len(sector_widths(len(self.places))) * self.ring)


ROULETTE = Cylinder(EUROPEAN)
BOULE = Cylinder(HOLES, ring=False)


def cylinder(family: str, order: Cylinder | None = None) -> Cylinder | None:
    """Return the wheel of a family of outcomes; None if it has no equal pockets. ``order``: the
    table's own roulette wheel.
    """
    return {"roulette": order or ROULETTE, "boule": BOULE}.get(family)


def ordered(order: object) -> Cylinder:
    """Return the wheel with the numbers of the setting ``pocket_order``, clockwise from any start;
    the European wheel if the setting is not valid.
    """
    if not isinstance(order, list) or not all(type(number) is int for number in order):
        return ROULETTE
    if sorted(order) != sorted(EUROPEAN):
        return ROULETTE
    first = order.index(0)
    return Cylinder((*order[first:], *order[:first]))
