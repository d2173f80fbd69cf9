"""Health of one wheel since it was last serviced."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator
from math import exp, sqrt
from typing import Literal

import msgspec

from subscribers.statistics.bias import (
    LOG_ALARM_THRESHOLD,
    BiasEvidence,
    BiasSuspect,
    bias_mixture,
    log_evidence,
    no_evidence,
    suspect,
    with_correction,
    with_spin,
)
from subscribers.statistics.change import MIN_MEAN_RUN_LENGTH, ChangeWatch
from subscribers.statistics.cylinder import Cylinder
from subscribers.statistics.interval import (
    MISS_PROBABILITY,
    ChiSquare,
    Interval,
    chi_square,
    interval,
    tolerance,
)
from subscribers.statistics.spins import CorrectedSpin, ServiceWork, VoidSpin, WheelSpin

TABLE_PAUSE_SECONDS = 900.0
"""Time between two results after which the table counts as paused."""
MAX_SPEEDS = 200
"""Number of rotor speeds that a plot shows."""
WORKS_WITHOUT_RESET = ("inspected", "cleaned", "cards_changed", "software_changed", "ball_changed")
"""Service works that do not change a wheel's bias."""
Kind = Literal["dealer", "ball", "direction", "distance"]
MEASURES: dict[str, Callable[[WheelSpin], float | None]] = {
    "rotor_rpm": lambda spin: spin.rotor_rpm,
    "rotor_turns": lambda spin: spin.rotor_turns,
    "spin_seconds": lambda spin: spin.spin_seconds,
    "fall_seconds": lambda spin: spin.fall_seconds,
    "round_seconds": lambda spin: spin.round_seconds,
}
FindingName = Literal["wheel_bias", "wheel_changed", "shoe_order", "shoe_ranks"]


class HealthFinding(msgspec.Struct, frozen=True):
    """Something that a person should check."""

    what: FindingName
    site: str
    table: str
    time: str
    since: str
    """When the wheel was last serviced, or the first known event."""
    spins: int
    """Number of spins, or shoes, until then."""
    detail: str


class RunningSpread(msgspec.Struct, frozen=True):
    """Running count, mean, variance, minimum and maximum of a measure."""

    count: int = 0
    mean: float = 0.0
    squares: float = 0.0
    """Sum of the squared distances from the mean."""
    least: float = 0.0
    most: float = 0.0

    @property
    def deviation(self) -> float:
        """Standard deviation."""
        return sqrt(self.squares / (self.count - 1)) if self.count > 1 else 0.0


class PocketReport(msgspec.Struct, frozen=True):
    """One pocket."""

    number: int | str
    count: int
    lift: Interval


class SuspectReport(msgspec.Struct, frozen=True):
    """The part of the wheel that contributes most of the evidence."""

    numbers: tuple[int | str, ...]
    hits: int
    fair: float
    """Expected number of hits at a fair wheel."""
    lift: Interval
    share: float
    """Its share of the evidence."""


class BiasReport(msgspec.Struct, frozen=True):
    """The test against the fair wheel."""

    evidence: float
    """How much more likely the results are under the mixture than at a fair wheel; capped at about
    1e300.
    """
    threshold: float
    alarm: int | None
    """Number of spins after which the threshold was reached."""
    suspect: SuspectReport | None
    chi_square: ChiSquare | None


class GroupReport(msgspec.Struct, frozen=True):
    """The spins of one dealer, ball or direction, or the travel distances of a dealer's throws."""

    kind: Kind
    name: str
    spins: int
    bias: BiasReport


class ChangeReport(msgspec.Struct, frozen=True):
    """The test for an unannounced change."""

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
    """Report on a wheel."""

    site: str
    table: str
    device: str
    serial: str
    simulated: bool
    since: str
    begun: str
    """Why it is counted from there: ``first`` spin known, the service work, or another
    ``pocket_order`` in the settings.
    """
    until: str
    spins: int
    bias: BiasReport
    pockets: tuple[PocketReport, ...]
    tolerance: tuple[float, float]
    """The least and greatest lift of a pocket that is not unlike a fair wheel's."""
    speeds: tuple[float, ...]
    """The rotor speeds of the last spins that have one, oldest first."""
    ring: bool
    """Whether the order around the wheel is known."""
    change: ChangeReport
    groups: tuple[GroupReport, ...]
    measures: dict[str, SpreadReport]
    games_per_hour: float | None
    voids: dict[str, int]


class ObservedWheel:
    """One wheel since it was last serviced."""

    def __init__(self, spin: WheelSpin, cylinder: Cylinder, begun: str, serial: str) -> None:
        self.site, self.table, self.device = spin.site, spin.table, spin.device
        self.simulated, self.since, self.until = spin.simulated, spin.time, spin.time
        self.cylinder, self.begun, self.serial = cylinder, begun, serial
        self.mixture = bias_mixture(len(cylinder.places), ring=cylinder.ring)
        self.evidence = no_evidence(len(cylinder.places))
        self.change = ChangeWatch(len(cylinder.places))
        self.groups: dict[tuple[Kind, str], BiasEvidence] = {}
        self.spreads: dict[str, RunningSpread] = {}
        self.voids: Counter[str] = Counter()
        self.ball = ""
        self._speeds: deque[float] = deque(maxlen=MAX_SPEEDS)
        self._played = (0, 0.0)
        self._last: WheelSpin | None = None

    def add_spin(self, spin: WheelSpin) -> Iterator[HealthFinding]:
        """Add a spin, which ended in one of the wheel's pockets. Yield findings."""
        place = self.cylinder.places.index(spin.number)
        self.until, self.device = spin.time, spin.device or self.device
        was_fair, was_unchanged = self.evidence.alarm is None, self.change.alarm is None
        self.evidence = with_spin(self.evidence, place, self.mixture)
        for kind, name, position in self._places(spin, place):
            evidence = self.groups.get((kind, name)) or no_evidence(len(self.cylinder.places))
            self.groups[kind, name] = with_spin(evidence, position, self.mixture)
        values = {"spin_seconds": spin.spin_seconds, "rotor_rpm": spin.rotor_rpm}
        if spin.spin_seconds is None:
            values["spin_seconds"] = spin.fall_seconds
        self.change.add_spin(
            f"{spin.table} {spin.name}", place, f"{spin.dealer} {spin.direction}", values
        )
        for name, measure in MEASURES.items():
            value = measure(spin)
            if value is not None:
                self.spreads[name] = _add_to_spread(self.spreads.get(name, RunningSpread()), value)
        if spin.rotor_rpm is not None:
            self._speeds.append(spin.rotor_rpm)
        self._pace(spin)
        self._last = spin
        if was_fair and self.evidence.alarm is not None:
            yield self._finding("wheel_bias", self._describe_suspect())
        if was_unchanged and self.change.alarm is not None:
            yield self._finding("wheel_changed", f"shown by {self.change.alarm[1]}")

    def correct(self, correction: CorrectedSpin) -> None:
        """Correct the result of a spin."""
        places = self.cylinder.places
        old_place, new_place = places.index(correction.spin.number), places.index(correction.number)
        self.evidence = with_correction(self.evidence, old_place, new_place)
        groups: tuple[tuple[Kind, str], ...] = (
            ("dealer", correction.spin.dealer),
            ("direction", correction.spin.direction),
        )
        for key in groups:
            if key in self.groups:
                self.groups[key] = with_correction(self.groups[key], old_place, new_place)

    def void(self, void: VoidSpin) -> None:
        """Count a round without a result."""
        self.voids[void.reason] += 1

    def new_ball(self, service: ServiceWork) -> None:
        """Start again with another ball: times may differ, and that was announced."""
        self.ball = service.serial or service.time
        self.change = ChangeWatch(len(self.cylinder.places))

    def report(self) -> WheelReport:
        """Return the report of the wheel."""
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
                PocketReport(number, count, interval(count, spins, fair, MISS_PROBABILITY / parts))
                for number, count in zip(self.cylinder.places, counts, strict=True)
            ),
            tolerance=tolerance(spins, fair, MISS_PROBABILITY / parts),
            speeds=tuple(self._speeds),
            ring=self.cylinder.ring,
            change=ChangeReport(
                self.change.evidence,
                float(MIN_MEAN_RUN_LENGTH),
                None if self.change.alarm is None else self.change.alarm[0],
                shown_by,
            ),
            groups=tuple(
                GroupReport(kind, name, evidence.spins, bias_report(evidence, self.cylinder))
                for (kind, name), evidence in sorted(self.groups.items())
            ),
            measures={
                name: SpreadReport(
                    spread.count, spread.mean, spread.deviation, spread.least, spread.most
                )
                for name, spread in self.spreads.items()
            },
            games_per_hour=games * 3600 / seconds if seconds > 0 else None,
            voids=dict(sorted(self.voids.items())),
        )

    def _places(self, spin: WheelSpin, place: int) -> Iterator[tuple[Kind, str, int]]:
        """Yield the groups that a spin belongs to, and its position in each."""
        if spin.dealer:
            yield "dealer", spin.dealer, place
        if self.ball:
            yield "ball", self.ball, place
        if spin.direction:
            yield "direction", spin.direction, place
        last = self._last
        if self.cylinder.ring and last is not None and last.session == spin.session:
            last_place = self.cylinder.places.index(last.number)
            step = -1 if spin.direction == "anticlockwise" else 1
            name = " ".join(part for part in (spin.dealer, spin.direction) if part)
            yield "distance", name, step * (place - last_place) % len(self.cylinder.places)

    def _pace(self, spin: WheelSpin) -> None:
        last, (games, seconds) = self._last, self._played
        if (
            last is not None
            and last.boot == spin.boot
            and 0 < spin.mono - last.mono < TABLE_PAUSE_SECONDS
        ):
            self._played = games + 1, seconds + spin.mono - last.mono

    def _finding(self, name: FindingName, detail: str) -> HealthFinding:
        spins = self.evidence.spins
        return HealthFinding(name, self.site, self.table, self.until, self.since, spins, detail)

    def _describe_suspect(self) -> str:
        suspect = bias_report(self.evidence, self.cylinder).suspect
        assert suspect is not None
        numbers = " ".join(map(str, suspect.numbers))
        return (
            f"{numbers}: {suspect.hits} hits, {suspect.fair:.0f} at a fair wheel, "
            f"{suspect.lift.lift:.2f} times ({suspect.lift.low:.2f} to {suspect.lift.high:.2f})"
        )


def bias_report(evidence: BiasEvidence, cylinder: Cylinder) -> BiasReport:
    """Test spins against the fair wheel."""
    mixture = bias_mixture(len(cylinder.places), ring=cylinder.ring)
    counts, spins = evidence.counts, evidence.spins
    return BiasReport(
        exp(min(log_evidence(counts, mixture), 690.0)),
        exp(LOG_ALARM_THRESHOLD),
        evidence.alarm,
        None if spins == 0 else _suspect_report(suspect(counts, mixture), spins, cylinder),
        chi_square(counts),
    )


def _suspect_report(part: BiasSuspect, spins: int, cylinder: Cylinder) -> SuspectReport:
    places, fair = cylinder.places, part.width / len(cylinder.places)
    return SuspectReport(
        tuple(places[(part.first + step) % len(places)] for step in range(part.width)),
        part.hits,
        spins * fair,
        interval(part.hits, spins, fair, MISS_PROBABILITY / cylinder.parts),
        part.share,
    )


def is_reset(service: ServiceWork, device: str) -> bool:
    """Return whether counting restarts after this service. ``device``: the one that reports the
    numbers.
    """
    return service.work not in WORKS_WITHOUT_RESET and device in ("", service.device)


def _add_to_spread(spread: RunningSpread, value: float) -> RunningSpread:
    count = spread.count + 1
    mean = spread.mean + (value - spread.mean) / count
    squares = spread.squares + (value - spread.mean) * (value - mean)
    if count == 1:
        return RunningSpread(1, value, 0.0, value, value)
    return RunningSpread(count, mean, squares, min(spread.least, value), max(spread.most, value))
