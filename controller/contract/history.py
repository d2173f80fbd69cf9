"""A line of the retained topic ``history``: what became of a round. Its ``kind`` names its shape."""

from __future__ import annotations

import msgspec

from controller.contract.outcomes import AnyOutcome
from devices.readings import Number


class HistoryLine(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind"):
    """What every line of the history says."""

    round: int
    """The round of the session, from 1."""
    spin: int | None = None
    """The wheel's own count of its spins, of a wheel that counts."""


class ResultLine(HistoryLine, frozen=True, tag="result"):
    """A round that has its result."""

    outcome: AnyOutcome
    """What it came to, as the latest ``round.result`` or ``result.corrected`` told it."""
    corrected: bool
    """Whether a person has put it in the place of another."""


class VoidLine(HistoryLine, frozen=True, tag="void"):
    """A void round: it has no result."""

    reason: str
    """Why, as ``round.void`` told it."""
    article: str
    """Where the law says so."""


class UnresolvedLine(HistoryLine, frozen=True, tag="unresolved"):
    """A round the result of which is not known; a person may still give it."""

    candidate: Number | None = None
    """The number that was seen afterwards; no result until a person confirms it."""
    dice: tuple[int, ...] | None = None
    """Likewise, of dice."""


AnyLine = ResultLine | VoidLine | UnresolvedLine
