"""The clocks of this machine, read at one moment, and whether the kernel considers the wall clock
synchronised.
"""

from __future__ import annotations

import msgspec

from common import clock
from controller.proof.kernel_clock import read_kernel_clock

MAX_GAP_SECONDS = 0.001
"""Seconds between which two clocks count as read at one moment."""
MAX_READ_ATTEMPTS = 5
"""Maximum attempts to read both clocks without being interrupted in between."""


class ClockReading(msgspec.Struct, frozen=True):
    """``wall``: seconds since 1970. The others cannot be set: ``machine`` also runs while the
    machine sleeps, ``awake`` does not.

    ``synchronised``: whether the kernel considers the wall clock synchronised; None: unknown.
    """

    wall: float
    machine: float
    awake: float
    synchronised: bool | None


def read_clocks() -> ClockReading:
    """Read every clock now."""
    wall, machine = wall_and_machine()
    return ClockReading(wall, machine, clock.monotonic(), synchronised())


def wall_and_machine() -> tuple[float, float]:
    """Read the wall clock and the machine's clock at one moment. If the process were interrupted in
    between, the pause would look like a step of the wall clock.
    """
    found: list[tuple[float, float, float]] = []
    for _ in range(MAX_READ_ATTEMPTS):
        before = clock.boottime()
        wall = clock.wall()
        machine = clock.boottime()
        found.append((machine - before, wall, machine))
        if machine - before < MAX_GAP_SECONDS:
            break
    _, wall, machine = min(found)
    return wall, machine


def synchronised() -> bool | None:
    """Return whether the kernel considers the wall clock synchronised; None if unknown, or if the
    process may not ask.
    """
    kernel = read_kernel_clock()
    return None if kernel is None else kernel.synchronised
