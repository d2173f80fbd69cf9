"""Whether a wheel is still the same: tests for a change that nobody announced.

Each value of a spin, such as its time, is compared by rank with those of the same dealer and
direction before it. As long as nothing changes, these ranks are independent and even, whatever the
values are (Vovk, Gammerman and Shafer 2005, smoothed conformal p-values). Bets against that gather
evidence; what they gathered from each past spin on is summed (Shiryaev and Roberts). Such a sum
reaches ``A`` not before ``A`` spins on average, if nothing changes (Shin, Ramdas and Rinaldo 2024).
Nothing is assumed of the values but that those of one dealer in one direction could have come in
any order.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Mapping
from hashlib import sha256

RUN = 1_000_000
"""The least number of spins between two false alarms of a wheel, on average: six years at 450 a
day.
"""
FEATURES = ("spin_seconds", "rotor_rpm", "pocket")
"""What is compared: the time from launch to rest, the rotor's speed, and how often the ball came
near this pocket before.
"""
STAKES = (-1.0, 0.0, 1.0)
"""On small ranks, on none, on large ones."""
JUMP = 0.01
"""The part of what is gathered that is spread anew over the stakes at each spin, so that either
kind of change is followed.
"""
NEAR = 4
"""Pockets on either side that count as near."""
LEAST = 30
"""Values of the same dealer and direction below which a rank tells nothing."""


class Jumper:
    """Bets against even ranks, begun anew at every spin and summed: the detector of one feature."""

    def __init__(self) -> None:
        self.gathered = [0.0] * len(STAKES)

    @property
    def total(self) -> float:
        """What all bets together have gathered."""
        return sum(self.gathered)

    def take(self, rank: float) -> None:
        """One more rank between 0 and 1."""
        begun = [each + 1 / len(STAKES) for each in self.gathered]
        spread = JUMP * sum(begun) / len(STAKES)
        self.gathered = [
            ((1 - JUMP) * each + spread) * (1 + stake * (rank - 0.5))
            for each, stake in zip(begun, STAKES, strict=True)
        ]


class ChangeWatch:
    """Watches one wheel since it was last serviced. ``alarm``: the number of spins after which a
    change was told, and what showed it.
    """

    def __init__(self, pockets: int) -> None:
        self.spins = 0
        self.alarm: tuple[int, str] | None = None
        self.detectors = {name: Jumper() for name in FEATURES}
        self._values: dict[tuple[str, str], list[float]] = {}
        self._counts, self._near = [0] * pockets, [0] * pockets

    @property
    def evidence(self) -> float:
        """The mean of the detectors; it reaches :data:`RUN` at an alarm."""
        return sum(each.total for each in self.detectors.values()) / len(self.detectors)

    def take(self, name: str, place: int, group: str, told: Mapping[str, float | None]) -> None:
        """One more spin. ``name``: what is unique to it; ``group``: dealer and direction; ``told``:
        by feature what is known.
        """
        self.spins += 1
        ranks = {"pocket": self._pocket(place, _even(f"{name} pocket"))}
        for feature in FEATURES[:-1]:
            value = told.get(feature)
            if value is not None:
                ranks[feature] = self._rank(feature, group, value, _even(f"{name} {feature}"))
        for feature, rank in ranks.items():
            if rank is not None:
                self.detectors[feature].take(rank)
        if self.alarm is None and self.evidence >= RUN:
            most = max(FEATURES, key=lambda feature: self.detectors[feature].total)
            self.alarm = self.spins, most

    def _rank(self, feature: str, group: str, value: float, even: float) -> float | None:
        """The part of all values up to this one that are smaller; ties by chance."""
        values = self._values.setdefault((feature, group), [])
        below, upto = bisect_left(values, value), bisect_right(values, value)
        known = len(values)
        insort(values, value)
        return None if known < LEAST else (below + even * (upto - below + 1)) / (known + 1)

    def _pocket(self, place: int, even: float) -> float | None:
        """The rank of a spin by how often the ball came near its pocket, itself included."""
        self._counts[place] += 1
        pockets = len(self._counts)
        for step in range(-NEAR, NEAR + 1):
            self._near[(place + step) % pockets] += 1
        if self.spins <= LEAST:
            return None
        own, below, alike = self._near[place], 0, 0
        for count, near in zip(self._counts, self._near, strict=True):
            if near < own:
                below += count
            elif near == own:
                alike += count
        return (below + even * alike) / self.spins


def _even(name: str) -> float:
    """A number between 0 and 1 that nobody chose: the same for the same spin."""
    return int.from_bytes(sha256(name.encode()).digest()[:7], "big") / (1 << 56)
