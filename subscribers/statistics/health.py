"""What is known of one wheel since it was last serviced, and of the shoes of one table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from math import exp, sqrt
from typing import Literal

import msgspec

from subscribers.statistics.bias import (
    ALARM,
    Evidence,
    Suspect,
    after,
    corrected,
    log_evidence,
    nothing,
    suspect,
    tilts,
)
from subscribers.statistics.change import RUN, ChangeWatch
from subscribers.statistics.cylinder import Cylinder
from subscribers.statistics.interval import MISS, ChiSquare, Interval, chi_square, interval
from subscribers.statistics.spins import Corrected, Serviced, Spin, Void

PAUSE = 900.0
"""Seconds between two results after which the table had stopped."""
NO_RESET = ("inspected", "cleaned", "cards_changed", "software_changed", "ball_changed")
"""The works after which a wheel favours what it favoured before."""
Kind = Literal["dealer", "ball", "direction", "distance"]
MEASURES: dict[str, Callable[[Spin], float | None]] = {
    "rotor_rpm": lambda spin: spin.rotor_rpm,
    "rotor_turns": lambda spin: spin.rotor_turns,
    "spin_seconds": lambda spin: spin.spin_seconds,
    "fall_seconds": lambda spin: spin.fall_seconds,
    "round_seconds": lambda spin: spin.round_seconds,
}
FindingName = Literal["wheel_bias", "wheel_changed", "shoe_order", "shoe_ranks"]


class Found(msgspec.Struct, frozen=True):
    """Something that a person should look at."""

    what: FindingName
    site: str
    table: str
    time: str
    since: str
    """When the wheel was serviced last, or the first thing known of it."""
    spins: int
    """Spins, or shoes, until then."""
    detail: str


class Spread(msgspec.Struct, frozen=True):
    """What came of a measure: how many, mean, standard deviation, least and most."""

    count: int = 0
    mean: float = 0.0
    squares: float = 0.0
    """The sum of the squared distances from the mean."""
    least: float = 0.0
    most: float = 0.0

    @property
    def deviation(self) -> float:
        """The standard deviation."""
        return sqrt(self.squares / (self.count - 1)) if self.count > 1 else 0.0


class PocketReport(msgspec.Struct, frozen=True):
    """One pocket."""

    number: int | str
    count: int
    lift: Interval


class SuspectReport(msgspec.Struct, frozen=True):
    """What most of the evidence points to."""

    numbers: tuple[int | str, ...]
    hits: int
    fair: float
    """How many hits a fair wheel has on average."""
    lift: Interval
    share: float
    """The part of the evidence that it makes."""


class Bias(msgspec.Struct, frozen=True):
    """The test against the fair wheel."""

    evidence: float
    """How much more likely what came is under the mixture than at a fair wheel; at most 1e300."""
    threshold: float
    alarm: int | None
    """After how many spins the threshold was reached."""
    suspect: SuspectReport | None
    chi_square: ChiSquare | None


class GroupReport(msgspec.Struct, frozen=True):
    """The spins of one dealer, ball or direction, or how far the throws of a dealer carry."""

    kind: Kind
    name: str
    spins: int
    bias: Bias


class ChangeReport(msgspec.Struct, frozen=True):
    """The test for a change that nobody announced."""

    evidence: float
    threshold: float
    alarm: int | None
    shown_by: str | None


class SpreadReport(msgspec.Struct, frozen=True):
    """A measure of the spins."""

    count: int
    mean: float
    deviation: float
    least: float
    most: float


class WheelReport(msgspec.Struct, frozen=True, kw_only=True):
    """All that is told of a wheel."""

    site: str
    table: str
    device: str
    serial: str
    simulated: bool
    since: str
    begun: str
    """Why it is counted from there: ``first`` spin known, the work that was done, or another
    ``pocket_order`` in the settings.
    """
    until: str
    spins: int
    bias: Bias
    pockets: tuple[PocketReport, ...]
    change: ChangeReport
    groups: tuple[GroupReport, ...]
    measures: dict[str, SpreadReport]
    games_per_hour: float | None
    voids: dict[str, int]


class Wheel:
    """One wheel since it was last serviced."""

    def __init__(self, spin: Spin, cylinder: Cylinder, begun: str, serial: str) -> None:
        self.site, self.table, self.device = spin.site, spin.table, spin.device
        self.simulated, self.since, self.until = spin.simulated, spin.time, spin.time
        self.cylinder, self.begun, self.serial = cylinder, begun, serial
        self.mixture = tilts(len(cylinder.places), ring=cylinder.ring)
        self.evidence = nothing(len(cylinder.places))
        self.change = ChangeWatch(len(cylinder.places))
        self.groups: dict[tuple[Kind, str], Evidence] = {}
        self.spreads: dict[str, Spread] = {}
        self.voids: Counter[str] = Counter()
        self.ball = ""
        self._played = (0, 0.0)
        self._last: Spin | None = None

    def take(self, spin: Spin) -> Iterator[Found]:
        """One more spin, which ended at a place that the wheel has."""
        place = self.cylinder.places.index(spin.number)
        self.until, self.device = spin.time, spin.device or self.device
        quiet, unchanged = self.evidence.alarm is None, self.change.alarm is None
        self.evidence = after(self.evidence, place, self.mixture)
        for kind, name, at in self._places(spin, place):
            known = self.groups.get((kind, name)) or nothing(len(self.cylinder.places))
            self.groups[kind, name] = after(known, at, self.mixture)
        told = {"spin_seconds": spin.spin_seconds, "rotor_rpm": spin.rotor_rpm}
        if spin.spin_seconds is None:
            told["spin_seconds"] = spin.fall_seconds
        self.change.take(
            f"{spin.table} {spin.name}", place, f"{spin.dealer} {spin.direction}", told
        )
        for name, measure in MEASURES.items():
            value = measure(spin)
            if value is not None:
                self.spreads[name] = _widened(self.spreads.get(name, Spread()), value)
        self._pace(spin)
        self._last = spin
        if quiet and self.evidence.alarm is not None:
            yield self._found("wheel_bias", self._said())
        if unchanged and self.change.alarm is not None:
            yield self._found("wheel_changed", f"shown by {self.change.alarm[1]}")

    def correct(self, given: Corrected) -> None:
        """The result of a spin was another one."""
        places = self.cylinder.places
        was, now = places.index(given.spin.number), places.index(given.number)
        self.evidence = corrected(self.evidence, was, now)
        of_spin: tuple[tuple[Kind, str], ...] = (
            ("dealer", given.spin.dealer),
            ("direction", given.spin.direction),
        )
        for key in of_spin:
            if key in self.groups:
                self.groups[key] = corrected(self.groups[key], was, now)

    def void(self, given: Void) -> None:
        """A round without a result."""
        self.voids[given.reason] += 1

    def new_ball(self, given: Serviced) -> None:
        """From now on it is played with another ball; times may differ, and that was announced."""
        self.ball = given.serial or given.time
        self.change = ChangeWatch(len(self.cylinder.places))

    def report(self) -> WheelReport:
        """What is told of it."""
        parts = self.cylinder.parts
        counts, spins = self.evidence.counts, self.evidence.spins
        fair = 1 / len(counts)
        games, seconds = self._played
        shown_by = None if self.change.alarm is None else self.change.alarm[1]
        return WheelReport(
            site=self.site,
            table=self.table,
            device=self.device,
            serial=self.serial,
            simulated=self.simulated,
            since=self.since,
            begun=self.begun,
            until=self.until,
            spins=spins,
            bias=bias_report(self.evidence, self.cylinder),
            pockets=tuple(
                PocketReport(number, count, interval(count, spins, fair, MISS / parts))
                for number, count in zip(self.cylinder.places, counts, strict=True)
            ),
            change=ChangeReport(
                self.change.evidence,
                float(RUN),
                None if self.change.alarm is None else self.change.alarm[0],
                shown_by,
            ),
            groups=tuple(
                GroupReport(kind, name, evidence.spins, bias_report(evidence, self.cylinder))
                for (kind, name), evidence in sorted(self.groups.items())
            ),
            measures={
                name: SpreadReport(each.count, each.mean, each.deviation, each.least, each.most)
                for name, each in self.spreads.items()
            },
            games_per_hour=games * 3600 / seconds if seconds > 0 else None,
            voids=dict(sorted(self.voids.items())),
        )

    def _places(self, spin: Spin, place: int) -> Iterator[tuple[Kind, str, int]]:
        """The groups that a spin belongs to, and where it ended for each."""
        if spin.dealer:
            yield "dealer", spin.dealer, place
        if self.ball:
            yield "ball", self.ball, place
        if spin.direction:
            yield "direction", spin.direction, place
        last = self._last
        if self.cylinder.ring and last is not None and last.session == spin.session:
            was = self.cylinder.places.index(last.number)
            step = -1 if spin.direction == "anticlockwise" else 1
            name = " ".join(each for each in (spin.dealer, spin.direction) if each)
            yield "distance", name, step * (place - was) % len(self.cylinder.places)

    def _pace(self, spin: Spin) -> None:
        last, (games, seconds) = self._last, self._played
        if last is not None and last.boot == spin.boot and 0 < spin.mono - last.mono < PAUSE:
            self._played = games + 1, seconds + spin.mono - last.mono

    def _found(self, what: FindingName, detail: str) -> Found:
        spins = self.evidence.spins
        return Found(what, self.site, self.table, self.until, self.since, spins, detail)

    def _said(self) -> str:
        found = bias_report(self.evidence, self.cylinder).suspect
        assert found is not None
        numbers = " ".join(map(str, found.numbers))
        return (
            f"{numbers}: {found.hits} hits, {found.fair:.0f} at a fair wheel, "
            f"{found.lift.lift:.2f} times ({found.lift.low:.2f} to {found.lift.high:.2f})"
        )


def bias_report(evidence: Evidence, cylinder: Cylinder) -> Bias:
    """The test of some spins against the fair wheel."""
    mixture = tilts(len(cylinder.places), ring=cylinder.ring)
    counts, spins = evidence.counts, evidence.spins
    return Bias(
        exp(min(log_evidence(counts, mixture), 690.0)),
        exp(ALARM),
        evidence.alarm,
        None if spins == 0 else _suspect(suspect(counts, mixture), spins, cylinder),
        chi_square(counts),
    )


def _suspect(found: Suspect, spins: int, cylinder: Cylinder) -> SuspectReport:
    places, fair = cylinder.places, found.width / len(cylinder.places)
    return SuspectReport(
        tuple(places[(found.first + step) % len(places)] for step in range(found.width)),
        found.hits,
        spins * fair,
        interval(found.hits, spins, fair, MISS / cylinder.parts),
        found.share,
    )


def resets(given: Serviced, device: str) -> bool:
    """Whether a wheel counts anew after this. ``device``: the one that reports its numbers."""
    return given.work not in NO_RESET and device in ("", given.device)


def _widened(spread: Spread, value: float) -> Spread:
    count = spread.count + 1
    mean = spread.mean + (value - spread.mean) / count
    squares = spread.squares + (value - spread.mean) * (value - mean)
    if count == 1:
        return Spread(1, value, 0.0, value, value)
    return Spread(count, mean, squares, min(spread.least, value), max(spread.most, value))
