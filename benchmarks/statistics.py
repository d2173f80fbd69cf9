"""False alarms of the wheel statistics, and how soon they find a bias: by simulation.

Every figure is that of ``subscribers.statistics.bias`` after every spin; numpy computes many spins
at once. A test compares the two.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from benchmarks.figures import percentile, row
from benchmarks.power_plot import Curve, drawn
from benchmarks.shuffles import print_changes, print_shoes
from subscribers.statistics.bias import (
    LOG_ALARM_THRESHOLD,
    MAX_LOG_STEP,
    MixtureWheels,
    bias_mixture,
)

POCKETS = 37
STEP, BATCH = 8, 2000
"""Spins between two checks where no alarm is possible; spins computed at once."""


class Bias(msgspec.Struct, frozen=True):
    """Wheels that favour a sector. ``goal``: the median and the 90th percentile to beat."""

    name: str
    width: int
    lift: float
    wheels: int
    goal: tuple[int, int]


BIASES = (
    Bias("pocket +50 %", 1, 1.5, 60, (7_478, 12_880)),
    Bias("9 pockets +20 %", 9, 1.2, 60, (3_989, 6_686)),
    Bias("9 pockets +10 %", 9, 1.1, 40, (14_399, 24_628)),
)
MAX_SPINS = 60_000
"""Maximum number of spins of a biased wheel."""


def main(wheels: int, spins: int, tables: int, plot: Path | None, seed: int = 18) -> None:
    """Simulate and print."""
    mixture, started = bias_mixture(POCKETS), time.monotonic()
    random = np.random.default_rng(seed)
    alarms = sum(
        first_alarm(random.integers(POCKETS, size=spins), mixture) is not None
        for _ in range(wheels)
    )
    print(f"Fair wheels of {spins:,} spins: {alarms} of {wheels:,} raised an alarm", flush=True)
    print(f"Biased wheels: spins until the alarm (seed {seed})")
    print(row("", "found", "median", "90 %", "last", "goal", "goal 90 %"))
    curves = []
    for bias in BIASES:
        found = [
            at
            for _ in range(bias.wheels)
            if (at := first_alarm(biased(random, bias, MAX_SPINS), mixture)) is not None
        ]
        cells = (percentile(found, 50), percentile(found, 90), max(found, default=0))
        shown = (f"{len(found)}/{bias.wheels}", *(f"{round(cell):,}" for cell in cells))
        print(row(bias.name, *shown, *(f"{goal:,}" for goal in bias.goal)), flush=True)
        curves.append(Curve(bias.name, tuple(sorted(found)), bias.wheels, bias.goal))
    print_shoes(tables, seed)
    print_changes(tables, seed)
    print(f"  in {time.monotonic() - started:.0f} s")
    if plot is not None:
        plot.write_text(drawn(curves, 30_000), encoding="utf-8")
        print(f"  drawn: {plot}")


def biased(random: np.random.Generator, bias: Bias, spins: int) -> NDArray[np.int64]:
    """Return spins of a wheel that favours its first ``width`` places."""
    other_probability = (1 - bias.lift * bias.width / POCKETS) / (POCKETS - bias.width)
    chances = np.full(POCKETS, other_probability)
    chances[: bias.width] = bias.lift / POCKETS
    return random.choice(POCKETS, size=spins, p=chances)


def first_alarm(places: NDArray[np.int64], mixture: Sequence[MixtureWheels]) -> int | None:
    """Return after how many spins the evidence first reaches the threshold; None: never."""
    counts = np.zeros(POCKETS, np.int64)
    for begin in range(0, len(places), BATCH):
        now = places[begin : begin + BATCH]
        hits = np.zeros((len(now), POCKETS), np.int64)
        hits[np.arange(len(now)), now] = 1
        hits = counts + hits.cumsum(axis=0)
        counts = hits[-1]
        checks = np.arange(0, len(now), STEP)
        near = checks[
            log_evidence(hits[checks], mixture) >= LOG_ALARM_THRESHOLD - STEP * MAX_LOG_STEP
        ]
        for check in range(0, len(near), 32):
            closer = np.unique(near[check : check + 32, None] + np.arange(STEP)).clip(
                0, len(now) - 1
            )
            reached = np.flatnonzero(log_evidence(hits[closer], mixture) >= LOG_ALARM_THRESHOLD)
            if len(reached):
                return begin + int(closer[reached[0]]) + 1
    return None


def log_evidence(
    counts: NDArray[np.int64], mixture: Sequence[MixtureWheels]
) -> NDArray[np.float64]:
    """Return the log of the evidence for each row of counts."""
    spins = counts.sum(axis=1)
    doubled = np.concatenate([np.zeros((len(counts), 1), np.int64), counts, counts], axis=1)
    sums = doubled.cumsum(axis=1)
    total = np.zeros(len(counts))
    for tilt in mixture:
        hits = sums[:, tilt.width : tilt.width + POCKETS] - sums[:, :POCKETS]
        logs = hits * np.float32(tilt.hit) + (spins * tilt.miss)[:, None].astype(np.float32)
        weight = np.exp(tilt.weight) / POCKETS
        total += weight * np.exp(np.minimum(logs, np.float32(80.0))).sum(axis=1)
    logged: NDArray[np.float64] = np.log(np.maximum(total, 1e-300))
    return logged
