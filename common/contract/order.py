"""Orders two events by time, as far as their clocks allow."""

from __future__ import annotations

from typing import Protocol

import msgspec

from common.contract.event_fields import MonoNs
from common.contract.times import parse_utc
from common.mono import MONO_WRAP, elapsed_ns


class Stamped(Protocol):
    """The times of an event: an event itself, or a :class:`Stamp`."""

    @property
    def table(self) -> str: ...  # noqa: D102
    @property
    def boot(self) -> str: ...  # noqa: D102
    @property
    def seq(self) -> int: ...  # noqa: D102
    @property
    def time(self) -> str: ...  # noqa: D102
    @property
    def mono_ns(self) -> int: ...  # noqa: D102
    @property
    def time_bound(self) -> float | None: ...  # noqa: D102


class Stamp(msgspec.Struct, frozen=True):
    """The times of an event, read from its message: ``msgspec.json.decode(body, type=Stamp)``."""

    table: str
    boot: str
    seq: int
    time: str
    mono_ns: MonoNs
    time_bound: float | None = 0.0


def is_before(one: Stamped, other: Stamped, allowed: float | None) -> bool | None:
    """Return True if ``one`` was before ``other``, or None if that is unknown: they then count as
    simultaneous.

    Events of one run of a daemon are ordered by a clock that cannot be set. Others are compared by
    their times, each of which may be wrong by its ``time_bound``, or else by ``allowed``: the
    seconds that the site allows (``bound`` below ``clock`` in ``health``), or None if it sets no
    limit, so that nothing is known. Raises ``ValueError`` for an invalid time.
    """
    if one.boot == other.boot:
        if one.table == other.table:
            return one.seq < other.seq if one.seq != other.seq else None
        if one.mono_ns == other.mono_ns:
            return None
        return elapsed_ns(one.mono_ns, other.mono_ns) < MONO_WRAP // 2
    bounds = [allowed if each.time_bound == 0 else each.time_bound for each in (one, other)]
    apart = round((parse_utc(other.time) - parse_utc(one.time)) * 1e6)
    known = [bound for bound in bounds if bound is not None]
    if len(known) < len(bounds) or abs(apart) <= round(sum(known) * 1e6):
        return None
    return apart > 0
