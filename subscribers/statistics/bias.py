"""Whether a wheel favours a pocket or a sector: evidence that may be checked at any time.

A fair wheel of ``m`` pockets hits a sector of ``w`` contiguous pockets with ``p = w / m``. The
alternative is a mixture of wheels that hit one sector more often, ``q = lift * p``, and share the
rest evenly. The evidence is the likelihood of the results under the mixture, divided by that under
the fair wheel. For a fair wheel it is a martingale that begins at 1, so it ever reaches ``1 / a``
with probability at most ``a``, however often it is checked (Ville 1939). It is one-sided: a sector
that is hit too rarely shows as its complement, as far as that consists of sectors.
docs/inspector/statistics-method.md derives it and gives its power.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import exp, inf, log

import msgspec

LOG_ALARM_THRESHOLD = log(1000)
"""Log of the evidence at which a wheel is reported: a fair wheel reaches it with probability at
most 1 in 1,000.
"""
SECTOR_WIDTHS = tuple(range(5, 13))
"""Widths of sectors, in pockets."""
POCKET_LIFTS = (1.2, 1.3, 1.4, 1.5, 1.65, 1.8, 2.0)
SECTOR_LIFTS = (1.05, 1.07, 1.1, 1.14, 1.2, 1.28, 1.4, 1.6)
"""Relative frequencies of the favoured pocket or sector in the wheels of the mixture."""
MAX_LOG_STEP = log(max(*POCKET_LIFTS, *SECTOR_LIFTS))
"""Maximum increase of the log evidence by one spin."""


class MixtureWheels(msgspec.Struct, frozen=True):
    """All wheels of the mixture with sectors of one width and one lift, one for each first pocket.
    Their total weight is ``exp(weight)``.
    """

    width: int
    lift: float
    weight: float
    hit: float
    """Log of the factor that a hit contributes, relative to a miss."""
    miss: float
    """Log of the factor that a miss contributes."""


class BiasEvidence(msgspec.Struct, frozen=True):
    """State of the test since the wheel was last serviced."""

    counts: tuple[int, ...]
    """Number of hits of each pocket, in their order around the wheel."""
    due: int = 0
    """First number of spins at which the evidence can have reached :data:`LOG_ALARM_THRESHOLD`."""
    alarm: int | None = None
    """Number of spins after which it did."""

    @property
    def spins(self) -> int:
        """Number of spins."""
        return sum(self.counts)


class BiasSuspect(msgspec.Struct, frozen=True):
    """The part of the wheel that contributes most of the evidence."""

    first: int
    """Position of its first pocket in the order around the wheel, from 0."""
    width: int
    hits: int
    share: float
    """Its share of the evidence."""


def sector_widths(pockets: int) -> tuple[int, ...]:
    """Return the widths of the sectors of a wheel: less than half of it."""
    return tuple(width for width in SECTOR_WIDTHS if 2 * width < pockets)


@lru_cache
def bias_mixture(pockets: int, *, ring: bool = True) -> tuple[MixtureWheels, ...]:
    """Return the mixture. Half of its weight is on single pockets, half on sectors; all pockets,
    widths and positions have equal weight. If the order around the wheel is unknown, there are no
    sectors.
    """
    kinds: list[tuple[tuple[int, ...], tuple[float, ...]]] = [((1,), POCKET_LIFTS)]
    if ring:
        kinds.append((sector_widths(pockets), SECTOR_LIFTS))
    mixture = []
    for widths, lifts in kinds:
        weight = -log(len(kinds) * len(widths) * len(lifts))
        for width in widths:
            fair = width / pockets
            for lift in lifts:
                miss = log((1 - lift * fair) / (1 - fair))
                mixture.append(MixtureWheels(width, lift, weight, log(lift) - miss, miss))
    return tuple(mixture)


def no_evidence(pockets: int) -> BiasEvidence:
    """Return the state before the first spin, or after the wheel was serviced."""
    return BiasEvidence((0,) * pockets)


def with_spin(evidence: BiasEvidence, place: int, mixture: Sequence[MixtureWheels]) -> BiasEvidence:
    """Return the state after one more spin, which ended at this position around the wheel.

    A spin increases the log evidence by at most :data:`MAX_LOG_STEP`, so it is not computed again
    before it can have reached :data:`LOG_ALARM_THRESHOLD`; this delays no alarm.
    """
    counts = list(evidence.counts)
    counts[place] += 1
    due, alarm = evidence.due, evidence.alarm
    spins = sum(counts)
    if alarm is None and spins >= due:
        log_value = log_evidence(counts, mixture)
        if log_value >= LOG_ALARM_THRESHOLD:
            alarm = spins
        else:
            due = spins + max(1, int((LOG_ALARM_THRESHOLD - log_value) / MAX_LOG_STEP))
    return BiasEvidence(tuple(counts), due, alarm)


def with_correction(evidence: BiasEvidence, old_place: int, new_place: int) -> BiasEvidence:
    """Return the state after the result of a spin was corrected. The evidence is computed at the
    next spin.
    """
    counts = list(evidence.counts)
    counts[old_place] -= 1
    counts[new_place] += 1
    return BiasEvidence(tuple(counts), 0, evidence.alarm)


def log_evidence(counts: Sequence[int], mixture: Sequence[MixtureWheels]) -> float:
    """Return the log of the evidence against the fair wheel."""
    spins, pockets = sum(counts), len(counts)
    hits = {tilt.width: sector_counts(counts, tilt.width) for tilt in mixture}
    logs = []
    for tilt in mixture:
        sector_hits = hits[tilt.width]
        highest = max(sector_hits)
        total = sum(exp((count - highest) * tilt.hit) for count in sector_hits)
        logs.append(tilt.weight + spins * tilt.miss + highest * tilt.hit + log(total / pockets))
    return log_sum(logs)


def suspect(counts: Sequence[int], mixture: Sequence[MixtureWheels]) -> BiasSuspect:
    """Return the pocket or sector that contributes most of the evidence."""
    spins = sum(counts)
    logs: dict[tuple[int, int], list[float]] = {}
    for tilt in mixture:
        for first, count in enumerate(sector_counts(counts, tilt.width)):
            log_weight = tilt.weight + spins * tilt.miss + count * tilt.hit
            logs.setdefault((tilt.width, first), []).append(log_weight)
    sums = {part: log_sum(part_logs) for part, part_logs in logs.items()}
    log_total = log_sum(list(sums.values()))
    width, first = max(sums, key=lambda part: sums[part])
    hits = sector_counts(counts, width)[first]
    return BiasSuspect(first, width, hits, exp(sums[width, first] - log_total))


def sector_counts(counts: Sequence[int], width: int) -> list[int]:
    """Return, for each position, the sum of the ``width`` counts from there on, around
    the wheel.
    """
    doubled = [*counts, *counts[: width - 1]]
    total = sum(doubled[:width])
    sums = [total]
    for place in range(len(counts) - 1):
        total += doubled[place + width] - doubled[place]
        sums.append(total)
    return sums


def log_sum(logs: Sequence[float]) -> float:
    """Return the log of the sum of numbers given as logs."""
    highest = max(logs, default=-inf)
    return (
        highest if highest == -inf else highest + log(sum(exp(value - highest) for value in logs))
    )
