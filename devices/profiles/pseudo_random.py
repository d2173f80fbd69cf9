"""Reproducible pseudo-random draws: codecs must not use real randomness."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class PseudoRandom:
    """64-bit linear congruential generator with the constants of Knuth's MMIX. Setting ``state``
    repeats the draws that followed it.
    """

    def __init__(self) -> None:
        self.state = 1

    def below(self, bound: int) -> int:
        """Draw a number from 0 to ``bound`` - 1."""
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        return (self.state >> 33) % bound

    def choice(self, items: Sequence[T]) -> T:
        """Draw one item."""
        return items[self.below(len(items))]

    def some(self, items: Sequence[T], max_count: int) -> list[T]:
        """Draw at most ``max_count`` items, in their order."""
        remaining = list(items)
        while len(remaining) > max_count:
            del remaining[self.below(len(remaining))]
        return remaining
