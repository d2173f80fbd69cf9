"""Whether a wheel favours a pocket or a sector: evidence that may be looked at any time.

A fair wheel of ``m`` pockets hits a sector of ``w`` contiguous pockets with ``p = w / m``. Against
it stands a mixture of wheels that hit one sector more often, ``q = lift * p``, and share what is
left evenly. The evidence is the likelihood of what came under the mixture, divided by that under
the fair wheel. At a fair wheel it is a martingale that begins at 1, so it ever reaches ``1 / a``
with a probability of at most ``a``, however often somebody looks (Ville 1939). It is one-sided: a
sector that comes too seldom shows as its complement, as far as that is made of sectors.
docs/inspector/statistics.md derives it and has its power.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import exp, inf, log

import msgspec

ALARM = log(1000)
"""The log of the evidence at which a wheel is told: a fair wheel reaches it with a probability of
at most 1 in 1,000.
"""
SECTORS = tuple(range(5, 13))
"""The widths of sectors."""
POCKET_LIFTS = (1.2, 1.3, 1.4, 1.5, 1.65, 1.8, 2.0)
SECTOR_LIFTS = (1.05, 1.07, 1.1, 1.14, 1.2, 1.28, 1.4, 1.6)
"""How much more often than it should a pocket or a sector comes, in the wheels of the mixture."""
LARGEST = log(max(*POCKET_LIFTS, *SECTOR_LIFTS))
"""The log of the most by which one spin raises the evidence."""


class Tilt(msgspec.Struct, frozen=True):
    """All wheels of the mixture with sectors of one width and one lift, one for each first pocket.
    Together they weigh ``exp(weight)``.
    """

    width: int
    lift: float
    weight: float
    hit: float
    """The log of what a hit multiplies the evidence by, over that of a miss."""
    miss: float
    """The log of what a miss multiplies it by."""


class Evidence(msgspec.Struct, frozen=True):
    """What is known of a wheel since it was last serviced. It is all that must be kept."""

    counts: tuple[int, ...]
    """How often each pocket came, in their order around the wheel."""
    due: int = 0
    """The number of spins at which the evidence can have reached :data:`ALARM` at the earliest."""
    alarm: int | None = None
    """The number of spins after which it did."""

    @property
    def spins(self) -> int:
        """The number of spins."""
        return sum(self.counts)


class Suspect(msgspec.Struct, frozen=True):
    """The part of the wheel that most of the evidence points to."""

    first: int
    """The place of its first pocket in the order around the wheel, from 0."""
    width: int
    hits: int
    share: float
    """The part of the evidence that it makes."""


def sectors(pockets: int) -> tuple[int, ...]:
    """The widths of the sectors of a wheel: less than half of it."""
    return tuple(width for width in SECTORS if 2 * width < pockets)


@lru_cache
def tilts(pockets: int, *, ring: bool = True) -> tuple[Tilt, ...]:
    """The mixture. Half of its weight is on single pockets, half on sectors; all pockets, widths
    and places weigh alike. Where the order around the wheel is not told, there are no
    sectors.
    """
    kinds: list[tuple[tuple[int, ...], tuple[float, ...]]] = [((1,), POCKET_LIFTS)]
    if ring:
        kinds.append((sectors(pockets), SECTOR_LIFTS))
    made = []
    for widths, lifts in kinds:
        weight = -log(len(kinds) * len(widths) * len(lifts))
        for width in widths:
            fair = width / pockets
            for lift in lifts:
                miss = log((1 - lift * fair) / (1 - fair))
                made.append(Tilt(width, lift, weight, log(lift) - miss, miss))
    return tuple(made)


def nothing(pockets: int) -> Evidence:
    """Before the first spin, or after the wheel was serviced."""
    return Evidence((0,) * pockets)


def after(evidence: Evidence, place: int, mixture: Sequence[Tilt]) -> Evidence:
    """After one more spin, which ended at this place of the order around the wheel.

    As a spin raises the evidence by :data:`LARGEST` at most, it need not be weighed again before
    it can have reached :data:`ALARM`; no alarm is late by that.
    """
    counts = list(evidence.counts)
    counts[place] += 1
    due, alarm = evidence.due, evidence.alarm
    spins = sum(counts)
    if alarm is None and spins >= due:
        weighed = log_evidence(counts, mixture)
        if weighed >= ALARM:
            alarm = spins
        else:
            due = spins + max(1, int((ALARM - weighed) / LARGEST))
    return Evidence(tuple(counts), due, alarm)


def corrected(evidence: Evidence, was: int, now: int) -> Evidence:
    """After a spin turned out to have ended elsewhere. It is weighed at the next spin."""
    counts = list(evidence.counts)
    counts[was] -= 1
    counts[now] += 1
    return Evidence(tuple(counts), 0, evidence.alarm)


def log_evidence(counts: Sequence[int], mixture: Sequence[Tilt]) -> float:
    """The log of the evidence against the fair wheel."""
    spins, pockets = sum(counts), len(counts)
    hits = {tilt.width: around(counts, tilt.width) for tilt in mixture}
    logs = []
    for tilt in mixture:
        of_width = hits[tilt.width]
        most = max(of_width)
        total = sum(exp((count - most) * tilt.hit) for count in of_width)
        logs.append(tilt.weight + spins * tilt.miss + most * tilt.hit + log(total / pockets))
    return log_sum(logs)


def suspect(counts: Sequence[int], mixture: Sequence[Tilt]) -> Suspect:
    """The pocket or sector that most of the evidence points to."""
    spins = sum(counts)
    logs: dict[tuple[int, int], list[float]] = {}
    for tilt in mixture:
        for first, count in enumerate(around(counts, tilt.width)):
            weighed = tilt.weight + spins * tilt.miss + count * tilt.hit
            logs.setdefault((tilt.width, first), []).append(weighed)
    sums = {part: log_sum(each) for part, each in logs.items()}
    whole = log_sum(list(sums.values()))
    width, first = max(sums, key=lambda part: sums[part])
    hits = around(counts, width)[first]
    return Suspect(first, width, hits, exp(sums[width, first] - whole))


def around(counts: Sequence[int], width: int) -> list[int]:
    """For each place the sum of the ``width`` counts from there on, around the wheel."""
    doubled = [*counts, *counts[: width - 1]]
    now = sum(doubled[:width])
    sums = [now]
    for place in range(len(counts) - 1):
        now += doubled[place + width] - doubled[place]
        sums.append(now)
    return sums


def log_sum(logs: Sequence[float]) -> float:
    """The log of the sum of what these are the logs of."""
    most = max(logs, default=-inf)
    return most if most == -inf else most + log(sum(exp(each - most) for each in logs))
