"""The results of one table in one day, from both sides of a comparison."""

from __future__ import annotations

from typing import Literal

import msgspec

RoundKind = Literal["result", "void", "unresolved"]


class DecidedRound(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A round of this system. ``at``: when it was decided, seconds since 1970; ``number``: its
    latest result, None without one; ``before``: its first result, if it was corrected; ``by_hand``:
    a person confirmed the result, since the device's report did not suffice.
    """

    session: int
    round: int
    at: float
    kind: RoundKind
    number: str | None = None
    before: str | None = None
    by_hand: bool = False


class ListedResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A row of the list. ``line``: its line in the file, from 1; ``at``: seconds since 1970 by the
    clock of the other system, None if the list has no times.
    """

    line: int
    number: str
    at: float | None = None
