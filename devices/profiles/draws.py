"""Draws that look like chance and are the same each time: a codec's package knows no chance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class PseudoRandom:
    """A linear congruential generator of 64 bits, with the constants of Knuth's MMIX. ``state``:
    where it is; setting it repeats what followed.
    """

    def __init__(self) -> None:
        self.state = 1

    def below(self, bound: int) -> int:
        """A number from 0 to ``bound`` - 1."""
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        return (self.state >> 33) % bound

    def choice(self, items: Sequence[T]) -> T:
        """One of them."""
        return items[self.below(len(items))]

    def some(self, items: Sequence[T], most: int) -> list[T]:
        """At most so many of them, in their order."""
        left = list(items)
        while len(left) > most:
            del left[self.below(len(left))]
        return left
