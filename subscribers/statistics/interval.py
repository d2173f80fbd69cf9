"""How often a part of the wheel is hit: intervals that are valid at every spin at once; and
chi-square.

The interval of a part contains all chances ``q`` against which a mixture of the others has gathered
less evidence than ``1 / a`` (Robbins 1970): the probability that it ever misses the true chance is
at most ``a``, however often it is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, erfc, exp, lgamma, log, sqrt

import msgspec

PRIOR_SPINS = 100.0
"""Strength of the mixture of chances: a Beta distribution around the fair chance, worth this many
spins.
"""
MISS_PROBABILITY = 0.05
"""Probability that any of the intervals of a wheel ever misses."""


class Interval(msgspec.Struct, frozen=True):
    """How often a part of the wheel is hit, relative to a fair wheel: observed, and the bounds of
    the true value.
    """

    lift: float
    low: float
    high: float


class ChiSquare(msgspec.Struct, frozen=True):
    """Pearson's chi-square test, for a single check planned before the first spin. Repeated checks
    give too many false alarms.
    """

    value: float
    freedom: int
    p: float


def interval(
    hits: int,
    spins: int,
    fair: float,
    miss: float = MISS_PROBABILITY,
    prior_spins: float = PRIOR_SPINS,
) -> Interval:
    """Return the interval of a part that has the chance ``fair`` at a fair wheel. For many parts at
    once, ``miss`` is divided among them. ``prior_spins``: strength of the mixture; the interval is
    valid for any, and narrow for chances far from ``fair`` if it is weak.
    """
    if spins == 0:
        return Interval(1.0, 0.0, 1 / fair)
    alpha, beta = prior_spins * fair, prior_spins * (1 - fair)
    log_mixture = _log_beta(alpha + hits, beta + spins - hits) - _log_beta(alpha, beta)

    def excess(chance: float) -> float:
        likelihood = hits * log(chance) if hits else 0.0
        likelihood += (spins - hits) * log(1 - chance) if hits < spins else 0.0
        return log_mixture - likelihood + log(miss)

    observed = min(max(hits / spins, 1e-12), 1 - 1e-12)
    low = 0.0 if hits == 0 else _root(excess, 1e-15, observed)
    high = 1.0 if hits == spins else _root(excess, 1 - 1e-15, observed)
    return Interval(hits / spins / fair, low / fair, high / fair)


def tolerance(spins: int, fair: float, miss: float = MISS_PROBABILITY) -> tuple[float, float]:
    """Return the least and the greatest observed frequency, relative to a fair wheel, whose
    interval still contains that of a fair wheel.
    """
    if spins == 0:
        return 0.0, 1 / fair
    expected = spins * fair
    low, high = 0, int(expected)
    while low < high:
        middle = (low + high) // 2
        if interval(middle, spins, fair, miss).high >= 1:
            high = middle
        else:
            low = middle + 1
    least = low / expected
    low, high = ceil(expected), spins
    while low < high:
        middle = (low + high + 1) // 2
        if interval(middle, spins, fair, miss).low <= 1:
            low = middle
        else:
            high = middle - 1
    return least, low / expected


def chi_square(counts: Sequence[int]) -> ChiSquare | None:
    """Test counts that should be equal. None below five expected spins each, where the test is not
    valid.
    """
    spins, freedom = sum(counts), len(counts) - 1
    expected = spins / len(counts)
    if expected < 5:
        return None
    value = sum((count - expected) ** 2 for count in counts) / expected
    return ChiSquare(value, freedom, chi_square_tail(value, freedom))


def chi_square_tail(value: float, freedom: int) -> float:
    """Return the probability of a larger value, by the finite series for whole and half degrees."""
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
    """Return where the sign changes between a chance outside the interval and one inside."""
    for _ in range(60):
        middle = (outside + inside) / 2
        if excess(middle) > 0:
            outside = middle
        else:
            inside = middle
    return outside


def _log_beta(alpha: float, beta: float) -> float:
    return lgamma(alpha) + lgamma(beta) - lgamma(alpha + beta)
