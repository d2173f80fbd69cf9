"""The evidence against the fair wheel: exact where all wheels can be enumerated, by simulation
where they cannot.
"""

from __future__ import annotations

from itertools import product
from math import exp, inf

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.statistics import BIASES, Bias, biased, first_alarm
from benchmarks.statistics import log_evidence as weighed_at_once
from subscribers.statistics.bias import (
    LOG_ALARM_THRESHOLD,
    MAX_LOG_STEP,
    BiasEvidence,
    bias_mixture,
    log_evidence,
    no_evidence,
    sector_counts,
    sector_widths,
    suspect,
    with_correction,
    with_spin,
)

ROULETTE = bias_mixture(37)
spins = st.lists(st.integers(0, 36), max_size=300)


def played(places: list[int]) -> BiasEvidence:
    evidence = no_evidence(37)
    for place in places:
        evidence = with_spin(evidence, place, ROULETTE)
    return evidence


@pytest.mark.parametrize(("pockets", "ring", "most"), [(11, True, 3), (9, False, 4)])
def test_the_mean_of_the_evidence_at_a_fair_wheel_is_one(
    pockets: int, ring: bool, most: int
) -> None:
    mixture = bias_mixture(pockets, ring=ring)
    assert bool(sector_widths(pockets)) or not ring
    assert {tilt.width for tilt in mixture} == {1, *(sector_widths(pockets) if ring else ())}
    for spun in range(most + 1):
        total = 0.0
        for places in product(range(pockets), repeat=spun):
            counts = np.bincount(np.array(places, int), minlength=pockets).tolist()
            total += exp(log_evidence(counts, mixture))
        assert total / pockets**spun == pytest.approx(1, abs=1e-9)


def test_the_mean_stays_one_after_many_spins() -> None:
    random = np.random.default_rng(5)
    counts = random.multinomial(60, [1 / 37] * 37, size=4_000)
    values = np.exp(weighed_at_once(counts, ROULETTE))
    # the mean lies within six standard errors, except once in 500 million
    assert abs(values.mean() - 1) < 6 * values.std() / np.sqrt(len(values))


@settings(max_examples=10)
@given(spins)
def test_one_more_spin_keeps_the_mean_and_raises_it_by_no_more_than_the_bound(
    places: list[int],
) -> None:
    counts = [places.count(place) for place in range(37)]
    before = log_evidence(counts, ROULETTE)
    logs = []
    for place in range(37):
        counts[place] += 1
        logs.append(log_evidence(counts, ROULETTE))
        counts[place] -= 1
    assert sum(exp(log - before) for log in logs) / 37 == pytest.approx(1, abs=1e-9)
    assert max(logs) - before <= MAX_LOG_STEP + 1e-9


@settings(max_examples=10)
@given(st.integers(0, 2**32), st.sets(st.integers(1, 600)))
def test_it_does_not_depend_on_the_times_of_evaluation(seed: int, looks: set[int]) -> None:
    """Intermediate checks get the alarm after the same spin, and the same evidence."""
    places = biased(np.random.default_rng(seed), Bias("", 1, 5.0, 1, (0, 0)), 600).tolist()
    looked = no_evidence(37)
    for number, place in enumerate(places, 1):
        looked = with_spin(looked, place, ROULETTE)
        if number in looks:
            log_evidence(looked.counts, ROULETTE)
            suspect(looked.counts, ROULETTE)
            looked = BiasEvidence(looked.counts, 0, looked.alarm)  # weighed again at once
    assert (looked.counts, looked.alarm) == (played(places).counts, played(places).alarm)


@pytest.mark.parametrize("lift", [2.0, 6.0])
def test_no_alarm_is_late_by_what_is_not_weighed(lift: float) -> None:
    random = np.random.default_rng(3)
    places = biased(random, Bias("", 1, lift, 1, (0, 0)), 9_000)
    counts, exact = [0] * 37, None
    for number, place in enumerate(places.tolist(), 1):
        counts[place] += 1
        if log_evidence(counts, ROULETTE) >= LOG_ALARM_THRESHOLD:
            exact = number
            break
    assert exact is not None
    assert played(places[: exact + 5].tolist()).alarm == exact
    assert first_alarm(places, ROULETTE) == exact


def test_an_alarm_stays_and_the_state_can_be_kept() -> None:
    evidence = played([4] * 40 + list(range(37)) * 200)
    assert evidence.alarm is not None
    assert evidence.alarm <= 40
    assert log_evidence(evidence.counts, ROULETTE) < LOG_ALARM_THRESHOLD
    assert msgspec.json.decode(msgspec.json.encode(evidence), type=BiasEvidence) == evidence


@settings(max_examples=10)
@given(spins.filter(bool), st.integers(0, 36))
def test_a_corrected_result_counts_as_if_it_had_been_first(places: list[int], now: int) -> None:
    assert (
        with_correction(played(places), places[0], now).counts == played([now, *places[1:]]).counts
    )


def test_the_suspect_is_the_part_that_came_too_often_also_across_the_first_pocket() -> None:
    counts = [300] * 37
    for place in (35, 36, 0, 1, 2, 3):
        counts[place] = 390
    found = suspect(counts, ROULETTE)
    assert (found.first, found.width, found.hits) == (35, 6, 6 * 390)
    assert 0.1 < found.share <= 1


@given(st.lists(st.integers(0, 50), min_size=13, max_size=40), st.integers(1, 12))
def test_sums_around_the_wheel(counts: list[int], width: int) -> None:
    size = len(counts)
    assert sector_counts(counts, width) == [
        sum(counts[(first + step) % size] for step in range(width)) for first in range(size)
    ]


def test_what_overflows_a_number_is_still_weighed() -> None:
    assert LOG_ALARM_THRESHOLD < log_evidence([10_000_000, *[0] * 36], ROULETTE) < inf


def test_fair_wheels_stay_quiet() -> None:
    """At most one fair wheel in 1,000 ever raises an alarm, so of 12 hardly one does: more than two
    would come once in 4 million.
    """
    random = np.random.default_rng(18)
    alarms = [first_alarm(random.integers(37, size=10_000), ROULETTE) for _ in range(12)]
    assert sum(alarm is not None for alarm in alarms) <= 2


@pytest.mark.parametrize("bias", BIASES[:2], ids=lambda bias: bias.name)
def test_biased_wheels_are_found_before_the_goal(bias: Bias) -> None:
    """Of five wheels the median is below the goal's 90th percentile unless three are above it,
    which comes once in 100 if the goal is only just met; the seed is one that was not chosen.
    """
    random = np.random.default_rng(18)
    found = [first_alarm(biased(random, bias, bias.goal[1] * 2), ROULETTE) for _ in range(5)]
    assert None not in found
    assert sorted(each for each in found if each is not None)[2] < bias.goal[1]
