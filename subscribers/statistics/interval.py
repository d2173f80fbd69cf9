"""How often a part of the wheel comes: intervals that hold at every spin at once; and chi-square.

The interval of a part holds all chances ``q`` against which a mixture of the others has gathered
less evidence than ``1 / a`` (Robbins 1970): the probability that it ever misses the true chance is
at most ``a``, however often somebody looks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import erfc, exp, lgamma, log, sqrt

import msgspec

STRENGTH = 100.0
"""Of the mixture of chances: a Beta distribution about the fair chance, worth so many spins."""
MISS = 0.05
"""The probability that any of the intervals of a wheel ever misses."""


class Interval(msgspec.Struct, frozen=True):
    """How often a part of the wheel comes, in multiples of what is fair: as it came, and between
    which bounds the truth lies.
    """

    lift: float
    low: float
    high: float


class ChiSquare(msgspec.Struct, frozen=True):
    """The chi-square test of Pearson, for one look that was fixed before the first spin. Whoever
    looks more often finds too much.
    """

    value: float
    freedom: int
    p: float


def interval(hits: int, spins: int, fair: float, miss: float = MISS) -> Interval:
    """The interval of a part that has the chance ``fair`` at a fair wheel. For many parts at once,
    ``miss`` is divided among them.
    """
    if spins == 0:
        return Interval(1.0, 0.0, 1 / fair)
    alpha, beta = STRENGTH * fair, STRENGTH * (1 - fair)
    mixed = _log_beta(alpha + hits, beta + spins - hits) - _log_beta(alpha, beta)

    def excess(chance: float) -> float:
        likelihood = hits * log(chance) if hits else 0.0
        likelihood += (spins - hits) * log(1 - chance) if hits < spins else 0.0
        return mixed - likelihood + log(miss)

    seen = min(max(hits / spins, 1e-12), 1 - 1e-12)
    low = 0.0 if hits == 0 else _root(excess, 1e-15, seen)
    high = 1.0 if hits == spins else _root(excess, 1 - 1e-15, seen)
    return Interval(hits / spins / fair, low / fair, high / fair)


def chi_square(counts: Sequence[int]) -> ChiSquare | None:
    """Chi-square of counts that should be alike; None below five spins for each, for which it does
    not hold.
    """
    spins, freedom = sum(counts), len(counts) - 1
    expected = spins / len(counts)
    if expected < 5:
        return None
    value = sum((count - expected) ** 2 for count in counts) / expected
    return ChiSquare(value, freedom, chi_square_tail(value, freedom))


def chi_square_tail(value: float, freedom: int) -> float:
    """The probability of a larger value, by the finite series for whole and half degrees."""
    half = value / 2
    if freedom % 2:
        tail, term = erfc(sqrt(half)), 0.5
    else:
        tail, term = exp(-half), 1.0
    while term < freedom / 2:
        if half > 0:
            tail += exp(term * log(half) - half - lgamma(term + 1))
        term += 1
    return min(tail, 1.0)


def _root(excess: Callable[[float], float], outside: float, inside: float) -> float:
    """Where the sign changes between a chance outside the interval and one inside."""
    for _ in range(60):
        middle = (outside + inside) / 2
        if excess(middle) > 0:
            outside = middle
        else:
            inside = middle
    return outside


def _log_beta(alpha: float, beta: float) -> float:
    return lgamma(alpha) + lgamma(beta) - lgamma(alpha + beta)
