"""Decides whether the wall clock is believed: it is compared with the last believed time, and with
the clock that cannot be set.

Nothing here decides how old anything is: only the monotonic clock counts age
(:mod:`controller.proof.timekeeper`). A clock that is not believed decides neither which days are
over nor what may be removed.
"""

from __future__ import annotations

import msgspec

from common.contract.times import format_utc
from controller.proof.clocks import ClockReading

EARLIEST_TIME = 1_735_689_600.0
"""2025-01-01: this software did not exist before."""
SLACK_SECONDS, DRIFT_RATIO = 60.0, 0.001
"""Seconds, and the share of the elapsed time, by which two clocks of one machine may differ."""
MAX_ABSENCE_SECONDS = 7 * 86_400.0
"""Seconds for which the daemon may have been off if the time is unconfirmed."""
STEADY_SECONDS = 86_400.0
"""Seconds without a step after which a doubted clock is believed again."""


class BelievedTime(msgspec.Struct, frozen=True):
    """A time that was believed. ``confirmed``: the clock was synchronised. ``machine``: the
    machine's clock at that moment; None for an earlier run, with which it cannot be compared.
    """

    wall: float
    confirmed: bool
    machine: float | None


class Belief(msgspec.Struct, frozen=True):
    """``known``: the last believed time; ``doubt``: why the clock is not believed now; ``since``:
    when the doubted clock was last set.
    """

    known: BelievedTime | None = None
    doubt: str | None = None
    since: BelievedTime | None = None


def update_belief(before: Belief, now: ClockReading) -> Belief:
    """Return the belief after a reading of the clocks."""
    here = BelievedTime(now.wall, now.synchronised is True, now.machine)
    why = contradiction(now, before.known)
    if why is None:
        return Belief(here)
    since = before.since if before.since is not None and _off(now, before.since) == 0 else here
    assert since.machine is not None
    if now.wall >= EARLIEST_TIME and now.machine - since.machine >= STEADY_SECONDS:
        return Belief(here)
    return Belief(before.known, why, since)


def contradiction(now: ClockReading, known: BelievedTime | None) -> str | None:
    """Return why the clock cannot be believed, or None."""
    if now.wall < EARLIEST_TIME:
        return f"it says {_spell(now.wall)}, and this software is younger"
    if known is None or (now.synchronised and not known.confirmed):
        return None  # an unconfirmed time does not contradict one that the kernel confirms
    if known.machine is not None:
        off = _off(now, known)
        return (
            f"it says {_spell(now.wall)}, and was set by {off:+.0f} s while the daemon ran"
            if off
            else None
        )
    ahead = now.wall - known.wall
    if ahead < -SLACK_SECONDS:
        return f"it says {_spell(now.wall)}, and the journal was written until {_spell(known.wall)}"
    if ahead > MAX_ABSENCE_SECONDS and not now.synchronised:
        return (
            f"it says {_spell(now.wall)}, the journal was written until {_spell(known.wall)}, "
            "and nobody confirms the days between"
        )
    return None


def _off(now: ClockReading, known: BelievedTime) -> float:
    """Return the seconds by which the wall clock was set in the meantime; 0 if it ran like the
    machine's.
    """
    assert known.machine is not None
    passed = now.machine - known.machine
    off = now.wall - known.wall - passed
    return off if abs(off) > SLACK_SECONDS + abs(passed) * DRIFT_RATIO else 0.0


def _spell(wall: float) -> str:
    return format_utc(wall)[:19] + "Z"
