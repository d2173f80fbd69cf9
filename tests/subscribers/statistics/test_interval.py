"""Intervals that are valid at every spin at once; chi-square."""

from __future__ import annotations

from math import exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from subscribers.statistics.interval import chi_square, chi_square_tail, interval, tolerance


@pytest.mark.parametrize(
    ("value", "freedom", "tail"),
    [
        (50.998, 36, 0.05),
        (58.619, 36, 0.01),
        (3.841, 1, 0.05),
        (15.507, 8, 0.05),
        (24.996, 15, 0.05),
    ],
)
def test_the_tail_of_chi_square_is_that_of_the_printed_tables(
    value: float, freedom: int, tail: float
) -> None:
    assert chi_square_tail(value, freedom) == pytest.approx(tail, abs=2e-5)


def test_the_tail_of_two_degrees_is_exact() -> None:
    assert chi_square_tail(7.0, 2) == pytest.approx(exp(-3.5))
    assert chi_square_tail(0.0, 37) == pytest.approx(1)


def test_chi_square_of_too_few_spins_is_not_reported() -> None:
    assert chi_square([4] * 37) is None
    told = chi_square([5] * 37)
    assert told is not None
    assert (told.value, told.freedom) == (0.0, 36)
    assert told.p == pytest.approx(1)


@given(st.integers(0, 50_000), st.integers(0, 50_000), st.sampled_from([1 / 37, 9 / 37, 1 / 9]))
def test_an_interval_holds_what_came(hits: int, misses: int, fair: float) -> None:
    spins = hits + misses
    told = interval(hits, spins, fair)
    assert 0 <= told.low <= told.high <= 1 / fair * (1 + 1e-9)
    if spins:
        assert told.low <= told.lift + 1e-6
        assert told.lift <= told.high + 1e-6


def test_it_misses_the_truth_at_any_of_many_looks_as_rarely_as_stated() -> None:
    """1 in 20 may ever miss: of 60, more than 11 would come once in 10,000."""
    random, missed = np.random.default_rng(7), 0
    for _ in range(60):
        hits = np.cumsum(random.random(3000) < 9 / 37)
        looks = (9, 30, 60, 120, 250, 500, 800, 1200, 1700, 2300, 2999)
        told = (interval(int(hits[look]), look + 1, 9 / 37) for look in looks)
        missed += any(not each.low <= 1 <= each.high for each in told)
    assert missed <= 11


@pytest.mark.parametrize("spins", [0, 1, 40, 600, 5000])
def test_within_the_tolerance_an_interval_holds_the_fair_wheel(spins: int) -> None:
    fair, miss = 1 / 37, 0.05 / 333
    least, most = tolerance(spins, fair, miss)
    hits = [round(edge * spins * fair) for edge in (least, most)]
    for count in hits if spins else ():
        shown = interval(count, spins, fair, miss)
        assert shown.low <= 1 <= shown.high
    if hits[0] > 0:
        assert interval(hits[0] - 1, spins, fair, miss).high < 1
    if hits[1] < spins:
        assert interval(hits[1] + 1, spins, fair, miss).low > 1
    assert least <= 1 <= most
