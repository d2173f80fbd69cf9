"""What a device's own count of spins or throws proves after a silence.

A device that was switched off counts from the beginning, so a count that fits proves nothing once
the device may have been off for long enough to count as far again.
"""

from __future__ import annotations

from common.readings import (
    LinkLate,
    LinkLost,
    LinkOpen,
    LinkStale,
    LinkUnintelligible,
    LinkUp,
    Reading,
)

MAX_BRIEF_SECONDS = 20.0
"""After a silence of at most this long, the same count of the wheel is the same spin: no wheel ends
a spin, takes bets again and lets the next ball fall so soon. The two numbers of a real SS2 that
were closest were 39 s apart, and a Saturn launches no two balls within 20 s. After more it may be
another spin: a wheel that was switched off counts from the beginning, and one that gave up a spin
repeats its count. In so short a time no reader of dice counts as many throws again as before.
"""


def is_brief(reading: Reading, quiet_since: float | None) -> bool:
    """Whether this reading is of damaged or late bytes, or of a silence that was too short for the
    count to be repeated. ``quiet_since``: see :func:`quiet_since_of`. One of a lost link never is:
    its time is not known after a restart or a suspension.
    """
    if isinstance(reading, LinkLate):
        return reading.silence <= MAX_BRIEF_SECONDS
    if isinstance(reading, LinkUp):
        return quiet_since is not None and reading.at - quiet_since <= MAX_BRIEF_SECONDS
    return not isinstance(reading, LinkLost | LinkOpen | LinkUnintelligible)


def quiet_since_of(reading: Reading) -> float | None:
    """Since when a device sends nothing, on its clock; None if it is not silent in an open link."""
    return reading.at - reading.age if isinstance(reading, LinkStale) else None
