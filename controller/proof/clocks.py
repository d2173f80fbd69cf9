"""The clocks of this machine, read at one moment, and whether the kernel considers the wall clock
synchronised.
"""

from __future__ import annotations

import ctypes
import time

import msgspec

_TIME_ERROR = 5
"""What adjtimex(2) returns while nothing disciplines the clock, and from the moment somebody sets
it.
"""
_TIMEX = 512
"""Bytes; more than ``struct timex`` takes on any machine."""


class ClockReading(msgspec.Struct, frozen=True):
    """``wall``: seconds since 1970. Nobody can set the others: ``machine`` runs on while the
    machine sleeps, ``awake`` does not.

    ``synchronised``: whether the kernel considers the wall clock synchronised; None: unknown.
    """

    wall: float
    machine: float
    awake: float
    synchronised: bool | None


def read_clocks() -> ClockReading:
    """Every clock, now."""
    return ClockReading(
        time.time(), time.clock_gettime(time.CLOCK_BOOTTIME), time.monotonic(), synchronised()
    )


def synchronised() -> bool | None:
    """Whether the kernel considers the wall clock synchronised; None: unknown, or not permitted to
    ask.
    """
    try:
        state = ctypes.CDLL(None).adjtimex(
            ctypes.create_string_buffer(_TIMEX)
        )  # all zero: it only asks
    except (OSError, AttributeError):
        return None
    return None if state < 0 else state != _TIME_ERROR
