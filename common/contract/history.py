"""A line of the retained topic ``history``. Its ``kind`` names how the round ended."""

from __future__ import annotations

import msgspec

from common.contract.outcomes import AnyOutcome
from common.readings import Number, Whole


class HistoryLine(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind"):
    """The fields that every line of the history has."""

    round: Whole
    """The number of the round, counted per session from 1."""
    spin: Whole | None = None
    """The count of the spin, by the device or by its driver. It restarts, so it is not unique."""


class ResultLine(HistoryLine, frozen=True, tag="result"):
    """A round that has its result."""

    outcome: AnyOutcome
    """The outcome of the round, as in the latest ``round.result`` or ``result.corrected``."""
    corrected: bool
    """A person has corrected the result."""


class VoidLine(HistoryLine, frozen=True, tag="void"):
    """A void round: it has no result."""

    reason: str
    """Why, as in ``round.void``."""
    article: str
    """Where the rule is printed."""


class UnresolvedLine(HistoryLine, frozen=True, tag="unresolved"):
    """A round whose result is not known. A person may still give it."""

    candidate: Number | None = None
    """The number that was seen afterwards; no result until a person confirms it."""
    dice: tuple[Whole, ...] | None = None
    """Craps: the dice that were seen; no result until a person confirms them."""


AnyLine = ResultLine | VoidLine | UnresolvedLine
