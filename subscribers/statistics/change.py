"""Whether a wheel is still the same: tests for an unannounced change.

Each value of a spin, such as its duration, is ranked among earlier values of the same dealer and
direction. As long as nothing changes, these ranks are independent and uniform, whatever the
distribution of the values (Vovk, Gammerman and Shafer 2005, smoothed conformal p-values). Bets
against uniformity gather evidence, summed over all possible start spins (Shiryaev and Roberts). If
nothing changes, such a sum takes at least ``A`` spins on average to reach ``A`` (Shin, Ramdas and
Rinaldo 2024). The only assumption is that the values of one dealer in one direction are
exchangeable.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Mapping
from hashlib import sha256

MIN_MEAN_RUN_LENGTH = 1_000_000
"""Minimum mean number of spins between two false alarms of a wheel: six years at 450 a day."""
FEATURES = ("spin_seconds", "rotor_rpm", "pocket")
"""Compared values: the time from launch to rest, the rotor's speed, and how often the ball came to
rest near this pocket before.
"""
STAKES = (-1.0, 0.0, 1.0)
"""Bets: on small ranks, on none, on large ones."""
MIXING_FRACTION = 0.01
"""Fraction of the evidence that is redistributed over the bets at each spin, so that changes in
either direction are detected.
"""
NEAR_POCKETS = 4
"""Number of pockets on either side that count as near."""
MIN_REFERENCE_VALUES = 30
"""Minimum number of values of the same dealer and direction for a meaningful rank."""


class RankBets:
    """Bets against uniform ranks, started at every spin and summed: the detector of one feature."""

    def __init__(self) -> None:
        self.gathered = [0.0] * len(STAKES)

    @property
    def total(self) -> float:
        """Total evidence of all bets."""
        return sum(self.gathered)

    def add_rank(self, rank: float) -> None:
        """Add a rank between 0 and 1."""
        started = [value + 1 / len(STAKES) for value in self.gathered]
        redistributed = MIXING_FRACTION * sum(started) / len(STAKES)
        self.gathered = [
            ((1 - MIXING_FRACTION) * value + redistributed) * (1 + stake * (rank - 0.5))
            for value, stake in zip(started, STAKES, strict=True)
        ]


class ChangeWatch:
    """Change detector of one wheel since it was last serviced. ``alarm``: the number of spins after
    which a change was reported, and the feature that showed it.
    """

    def __init__(self, pockets: int) -> None:
        self.spins = 0
        self.alarm: tuple[int, str] | None = None
        self.detectors = {name: RankBets() for name in FEATURES}
        self._values: dict[tuple[str, str], list[float]] = {}
        self._counts, self._near = [0] * pockets, [0] * pockets

    @property
    def evidence(self) -> float:
        """Mean of the detectors; an alarm is raised at :data:`MIN_MEAN_RUN_LENGTH`."""
        return sum(detector.total for detector in self.detectors.values()) / len(self.detectors)

    def add_spin(
        self, name: str, place: int, group: str, values: Mapping[str, float | None]
    ) -> None:
        """Add a spin. ``name``: its unique id; ``group``: dealer and direction; ``values``: the
        known values, by feature.
        """
        self.spins += 1
        ranks = {"pocket": self._pocket(place, _even(f"{name} pocket"))}
        for feature in FEATURES[:-1]:
            value = values.get(feature)
            if value is not None:
                ranks[feature] = self._rank(feature, group, value, _even(f"{name} {feature}"))
        for feature, rank in ranks.items():
            if rank is not None:
                self.detectors[feature].add_rank(rank)
        if self.alarm is None and self.evidence >= MIN_MEAN_RUN_LENGTH:
            strongest = max(FEATURES, key=lambda feature: self.detectors[feature].total)
            self.alarm = self.spins, strongest

    def _rank(self, feature: str, group: str, value: float, even: float) -> float | None:
        """Return the fraction of all values so far that are smaller, with ties broken at random."""
        values = self._values.setdefault((feature, group), [])
        below, upto = bisect_left(values, value), bisect_right(values, value)
        count = len(values)
        insort(values, value)
        return (
            None
            if count < MIN_REFERENCE_VALUES
            else (below + even * (upto - below + 1)) / (count + 1)
        )

    def _pocket(self, place: int, even: float) -> float | None:
        """Return the rank of a spin by how often the ball came to rest near its pocket, including
        itself.
        """
        self._counts[place] += 1
        pockets = len(self._counts)
        for step in range(-NEAR_POCKETS, NEAR_POCKETS + 1):
            self._near[(place + step) % pockets] += 1
        if self.spins <= MIN_REFERENCE_VALUES:
            return None
        own, below, alike = self._near[place], 0, 0
        for count, near in zip(self._counts, self._near, strict=True):
            if near < own:
                below += count
            elif near == own:
                alike += count
        return (below + even * alike) / self.spins


def _even(name: str) -> float:
    """Return a reproducible pseudo-random number between 0 and 1."""
    return int.from_bytes(sha256(name.encode()).digest()[:7], "big") / (1 << 56)
