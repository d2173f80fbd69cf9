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


def cylinder(family: str) -> Cylinder | None:
    """The wheel of outcomes of this family; None where it is no wheel of like places."""
    return {"roulette": ROULETTE, "boule": BOULE}.get(family)
