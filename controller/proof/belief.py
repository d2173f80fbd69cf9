"""Whether the wall clock is believed: held against what was believed before and against the clock
that nobody can set.

Nothing here decides how old anything is: that is counted by the monotonic clock alone
(:mod:`controller.proof.timekeeper`). A clock that is not believed says neither which days are over
nor that anything may be removed.
"""

from __future__ import annotations

import msgspec

from controller.contract.times import utc
from controller.proof.clocks import ClockReading

EARLIEST = 1_735_689_600.0
"""2025-01-01: this software did not exist before."""
SLACK, DRIFT = 60.0, 0.001
"""Seconds, and the share of the time that passed, by which two clocks of one machine may differ."""
ABSENCE = 7 * 86_400.0
"""Seconds for which the daemon may have been away where nobody confirms the time."""
STEADY = 86_400.0
"""Seconds after which a clock is believed again that has gone without a step."""


class Known(msgspec.Struct, frozen=True):
    """A time that was believed. ``confirmed``: it was synchronised. ``machine``: the clock of the
    machine then; None: that of a run before, which tells nothing any more.
    """

    wall: float
    confirmed: bool
    machine: float | None


class Belief(msgspec.Struct, frozen=True):
    """``known``: the last time that was believed; ``doubt``: why the clock is not believed now.
    ``since``: from when on the doubted clock has gone without a step.
    """

    known: Known | None = None
    doubt: str | None = None
    since: Known | None = None


def look(before: Belief, now: ClockReading) -> Belief:
    """What is believed after this look at the clocks."""
    here = Known(now.wall, now.synchronised is True, now.machine)
    why = contradiction(now, before.known)
    if why is None:
        return Belief(here)
    since = before.since if before.since is not None and _off(now, before.since) == 0 else here
    assert since.machine is not None
    if now.wall >= EARLIEST and now.machine - since.machine >= STEADY:
        return Belief(here)
    return Belief(before.known, why, since)


def contradiction(now: ClockReading, known: Known | None) -> str | None:
    """Why the clock is not to be believed; None: it is."""
    if now.wall < EARLIEST:
        return f"it says {_spell(now.wall)}, and this software is younger"
    if known is None or (now.synchronised and not known.confirmed):
        return None  # what nobody confirmed is no witness against what the kernel confirms
    if known.machine is not None:
        off = _off(now, known)
        return (
            f"it says {_spell(now.wall)}, and was set by {off:+.0f} s while the daemon ran"
            if off
            else None
        )
    ahead = now.wall - known.wall
    if ahead < -SLACK:
        return f"it says {_spell(now.wall)}, and the journal was written until {_spell(known.wall)}"
    if ahead > ABSENCE and not now.synchronised:
        return (
            f"it says {_spell(now.wall)}, the journal was written until {_spell(known.wall)}, "
            "and nobody confirms the days between"
        )
    return None


def _off(now: ClockReading, known: Known) -> float:
    """By how many seconds the wall clock was set meanwhile; 0: it went as the machine's did."""
    assert known.machine is not None
    passed = now.machine - known.machine
    off = now.wall - known.wall - passed
    return off if abs(off) > SLACK + abs(passed) * DRIFT else 0.0


def _spell(wall: float) -> str:
    return utc(wall)[:19] + "Z"
