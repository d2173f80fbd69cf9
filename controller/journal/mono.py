"""The clock of ``mono_ns``: nanoseconds since this process started, modulo 2^53."""

from __future__ import annotations

from common import clock
from common.contract.mono import MONO_WRAP


def now_ns() -> int:
    """Return the current time of the clock."""
    return clock.uptime_ns() % MONO_WRAP


def age_ns(moment: int) -> int:
    """Return the nanoseconds since ``moment``, a time of this process."""
    return (clock.uptime_ns() - moment) % MONO_WRAP
