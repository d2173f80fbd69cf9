"""Computes how old a touch is when its request arrives, whatever delayed the request: a browser
with all connections in use, a suspended tablet, a slow network.

Every beat of a stream carries this server's clock. A page sends the last beat before the touch, and
for how long it had had it, by a monotonic clock. The time since that beat on this server, less that
duration, is an upper bound of the touch's delay: no wall clock of the page's machine is trusted,
and nothing that was queued on the way counts as new.
"""

from __future__ import annotations

import re
from functools import cache
from math import inf

import msgspec

from common import clock, randomness

HEADER = "x-novamas-touch"
"""``<beat> <milliseconds>``: the beat, and how long after its arrival the touch came."""
_SENT = re.compile(r"([0-9a-f]{8})\.([0-9]{1,15}) (-?[0-9]{1,15})", re.ASCII)
CLOCK_TOLERANCE_SECONDS = 1.0
"""Time by which a touch may seem to lie in the future, because the clocks run at slightly different
rates.
"""


def beat() -> bytes:
    """A beat, as JSON: its text, and the time as milliseconds since 1970."""
    return msgspec.json.encode((f"{_run()}.{_milliseconds()}", round(clock.wall() * 1000)))


def age(sent: str | None) -> float:
    """Seconds since a touch, at most, by the header of its request; infinite if that is missing,
    cannot be read, or names a beat of another run of the server.
    """
    found = _SENT.fullmatch(sent or "")
    if found is None or found[1] != _run():
        return inf
    seconds = (_milliseconds() - int(found[2]) - int(found[3])) / 1000
    return max(0.0, seconds) if seconds > -CLOCK_TOLERANCE_SECONDS else inf


@cache
def _run() -> str:
    return randomness.token_hex(4)


def _milliseconds() -> int:
    # this clock keeps running while the machine is suspended
    return clock.boottime_ns() // 1_000_000
