"""The error bound of the machine's clock, its steps, and the alerts about them: pure functions of
the clocks and of the statements of the kernel and chrony.

The program that controls the clock states its maximum error. While there is no statement, the last
error grows at the rate at which a clock may drift; if there never was one, it is unknown. A step
adds to it until the source has corrected the clock again.
"""

from __future__ import annotations

import math
from typing import Literal

import msgspec

from common.contract.times import format_utc
from controller.proof.chrony import Tracking
from controller.proof.kernel_clock import KernelClock

DRIFT_RATE = 500e-6
"""Seconds per second by which a clock without a source may drift; the kernel assumes the same."""
SLEW_RATIO = 0.1
"""The share by which a clock that is corrected gradually may run faster or slower (chrony uses up
to a twelfth). A greater difference is a step.
"""
DEFAULT_STEP_SECONDS = 1.0
"""Minimum difference in seconds that counts as a step if the site sets no bound."""
WARNING_SECONDS = 600.0
"""Seconds before the site's bound is crossed at which the alert is raised, but not before the error
exceeds half of the bound.
"""
CLEAR_RATIO = 0.8
"""The share of a limit below which the error must fall for the alert to end. Without it, an error
near the limit would raise and clear the alert repeatedly.
"""
ERROR_WITHIN_BOUND = 0.0
"""The error is within the bound of the site, or the site sets none."""

REMEDY = (
    "Let chrony or systemd-timesyncd control the clock, and check whether its source replies: "
    "`chronyc sources`, `timedatectl timesync-status`"
)

By = Literal["chrony", "kernel"]
Stage = Literal["ahead", "crossed", "unknown"]
"""The bound will be crossed; it is crossed; the error is unknown."""


class ClockStatement(msgspec.Struct, frozen=True):
    """A statement about the clock, in seconds. ``offset``: by which it is ahead; ``greatest``: its
    maximum error; ``estimated``: its probable error; ``growth``: by which the maximum error grows
    each second without a source; ``correction``: values that change with each correction, None if
    unknown.
    """

    by: By
    source: str | None
    synchronised: bool
    offset: float
    greatest: float
    estimated: float
    growth: float
    correction: tuple[float, ...] | None = None


class TimeKept(msgspec.Struct, frozen=True):
    """The state after a reading of the clocks. ``error``: seconds by which the wall clock may be
    wrong; None: unknown. ``stepped``: how much of it are steps after which the source did not
    correct the clock. ``corrected``: the machine's clock at the last correction seen.

    ``reported_error``: the error that events carry; ``unproved``: whether the alert is raised.
    """

    wall: float
    machine: float
    error: float | None = None
    growth: float = DRIFT_RATE
    stepped: float = 0.0
    steps: int = 0
    stated: ClockStatement | None = None
    corrected: float | None = None
    reported_error: float | None = ERROR_WITHIN_BOUND
    unproved: bool = False


def clock_statement(kernel: KernelClock | None, chrony: Tracking | None) -> ClockStatement | None:
    """Return chrony's statement if chrony controls the clock, else the kernel's; None without
    either.
    """
    statements = []
    if chrony is not None:
        statements.append(
            ClockStatement(
                by="chrony",
                source=chrony.source,
                synchronised=chrony.synchronised,
                offset=-chrony.slow,
                greatest=chrony.greatest,
                estimated=chrony.estimated,
                growth=chrony.growth,
                correction=chrony.correction,
            )
        )
    if kernel is not None:
        statements.append(
            ClockStatement(
                by="kernel",
                source=None,
                synchronised=kernel.synchronised,
                offset=-kernel.offset,
                greatest=kernel.greatest + abs(kernel.offset),
                estimated=kernel.estimated,
                growth=DRIFT_RATE,
            )
        )
    return next(
        (each for each in statements if each.synchronised), statements[0] if statements else None
    )


def update_clock_state(
    before: TimeKept | None,
    wall: float,
    machine: float,
    statement: ClockStatement | None,
    bound: float | None,
) -> tuple[TimeKept, float | None]:
    """Return the present state, and the seconds by which the clock was set since the last reading,
    if it was. ``bound``: the maximum error that the site allows.
    """
    first = before is None
    before = before or TimeKept(wall, machine)
    passed = machine - before.machine
    difference = wall - before.wall - passed
    step = (
        difference
        if abs(difference)
        > (DEFAULT_STEP_SECONDS if bound is None else bound) + SLEW_RATIO * passed
        else None
    )
    stepped = before.stepped + abs(step or 0.0)
    corrected = before.corrected
    if statement is not None and statement.synchronised:
        if not first and _corrected(before, statement):
            stepped, corrected = 0.0, machine
        error: float | None = statement.greatest + stepped
        growth = statement.growth
    else:
        error, growth = None, DRIFT_RATE
        if before.error is not None:
            error = before.error + max(passed, 0.0) * DRIFT_RATE + abs(step or 0.0)
    now = TimeKept(
        wall=wall,
        machine=machine,
        error=error,
        growth=growth,
        stepped=stepped,
        steps=before.steps + (step is not None),
        stated=statement,
        corrected=corrected,
        reported_error=reported_error(before.reported_error, error, growth, bound),
        unproved=_unproved(before.unproved, error, growth, bound),
    )
    return now, step


def _corrected(before: TimeKept, statement: ClockStatement) -> bool:
    """Return True if the source has corrected the clock since the last reading, or has returned."""
    previous = before.stated
    if previous is None or not previous.synchronised or previous.by != statement.by:
        return True
    if statement.correction is not None:
        return statement.correction != previous.correction
    return statement.greatest < previous.greatest


def reported_error(
    before: float | None, error: float | None, growth: float, bound: float | None
) -> float | None:
    """Return the error that events carry from now on: 1, 2 or 5 times a power of ten, so that it
    seldom changes while the error grows.
    """
    if bound is None:
        return ERROR_WITHIN_BOUND
    if error is None:
        return None
    if error <= (bound if before == ERROR_WITHIN_BOUND else bound * CLEAR_RATIO):
        return ERROR_WITHIN_BOUND
    if before and error + growth <= before <= error * 10:
        return before
    return rounded_up(error + 2 * growth)


def rounded_up(seconds: float) -> float:
    """Round up to 1, 2 or 5 times a power of ten.

    >>> [rounded_up(each) for each in (0.101, 0.2, 0.3, 3600.0)]
    [0.2, 0.2, 0.5, 5000.0]
    """
    power = math.floor(math.log10(seconds))
    steps = (float(f"{digit}e{power}") for digit in (1, 2, 5, 10))
    return next(each for each in steps if each >= seconds)


def _limit(growth: float, bound: float) -> float:
    """Return the error at which the alert is raised."""
    return max(bound / 2, bound - WARNING_SECONDS * growth)


def _unproved(before: bool, error: float | None, growth: float, bound: float | None) -> bool:
    if bound is None:
        return False
    limit = _limit(growth, bound)
    return error is None or error >= (limit * CLEAR_RATIO if before else limit)


def crossing_time(now: TimeKept, bound: float | None) -> float | None:
    """Return when the site's bound is crossed without a correction, in seconds since 1970; None if
    it already is, or if there is no bound.
    """
    if bound is None or now.error is None or now.error > bound:
        return None
    return now.wall + (bound - now.error) / now.growth


def unproved_alert(now: TimeKept, bound: float | None) -> tuple[Stage, str] | None:
    """Return the stage and the text of the alert *time unproved*; None if it is not raised."""
    if bound is None or not now.unproved:
        return None
    crossing = crossing_time(now, bound)
    if now.error is None:
        return "unknown", (
            f"it is unknown by how much the clock may be wrong; the site allows {bound:g} s. "
            f"{REMEDY}"
        )
    if crossing is None:
        return "crossed", (
            f"the clock may be wrong by up to {rounded_up(now.error):g} s; the site allows "
            f"{bound:g} s. {REMEDY}"
        )
    return "ahead", (
        f"if nothing corrects it, the clock may be wrong by more than the {bound:g} s that the "
        f"site allows from {format_utc(crossing)[:19]}Z on. {REMEDY}"
    )
