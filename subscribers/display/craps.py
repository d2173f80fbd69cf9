"""What a table of craps shows: the puck, the point, the dice of the latest throws, the shooter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from controller.contract.messages.messages import text
from controller.contract.outcomes import CrapsOutcome
from controller.contract.shown import CrapsShown
from subscribers.display.rounds import Round, last_result
from subscribers.display.seen import Seen
from subscribers.display.spins import LATEST
from subscribers.display.statistics import Share, percent, unheard

NAMED = (2, 3, 11, 12)
"""Totals that have a name at the table."""
HARD = (4, 6, 8, 10)
"""Totals that two equal dice may make the hard way."""
WINDOW = 100
"""Throws whose totals are counted."""


class Throw(msgspec.Struct, frozen=True, kw_only=True):
    """What one throw came to. A void or unresolved one has no dice."""

    round: int | None
    """None where the state alone told of it."""
    kind: Literal["result", "void", "unresolved"]
    dice: tuple[int, ...] = ()
    total: int | None = None
    said: str = ""
    """What the throw is called: craps, eleven, the hard way; empty for others."""
    point: int | None = None
    """The point that it was played against; None at a come-out."""
    ends: bool = False
    """It ends its series."""
    corrected: bool = False


class CrapsBody(msgspec.Struct, frozen=True, kw_only=True):
    """The body of the picture."""

    on: bool
    """A point is on."""
    point: int | None
    shooter: str | None
    """Who throws, in words."""
    last: Throw | None
    """The last valid throw."""
    throws: tuple[Throw, ...]
    """The latest throws, newest first."""
    totals: tuple[Share, ...]
    """How often each total came in the latest throws."""
    counted: int
    size: int
    unheard: int


def body(seen: Seen, shown: CrapsShown) -> CrapsBody:
    """What the table shows now."""
    totals = [
        each.outcome.total
        for each in reversed(seen.rounds)
        if isinstance(each.outcome, CrapsOutcome)
    ][:WINDOW]
    shooter = None
    if shown.shooter is not None:
        shooter = text("who.seat_numbered", seen.language, number=shown.shooter)
    return CrapsBody(
        on=shown.point is not None,
        point=shown.point,
        shooter=shooter,
        last=_last(seen, shown),
        throws=throws(seen.rounds, seen.language),
        totals=tuple(
            Share(str(total), str(total), count, percent(count, len(totals)))
            for total in range(2, 13)
            for count in (totals.count(total),)
        ),
        counted=len(totals),
        size=WINDOW,
        unheard=unheard(seen.rounds, WINDOW),
    )


def throws(rounds: Sequence[Round], language: str) -> tuple[Throw, ...]:
    """The latest throws, newest first."""
    return tuple(_throw(each, language) for each in reversed(rounds[-LATEST:]))


def ends(total: int, point: int | None) -> bool:
    """Whether a throw ends its series: a seven or the point after a point; seven, eleven or craps
    at a come-out.
    """
    return total in ((7, point) if point else (2, 3, 7, 11, 12))


def named(dice: Sequence[int], language: str) -> str:
    """What a throw is called."""
    total = sum(dice)
    if total in NAMED:
        return text(f"display.thrown_{total}", language)
    return text("display.hard", language) if total in HARD and len({*dice}) == 1 else ""


def _throw(each: Round, language: str) -> Throw:
    if each.kind != "result" or not isinstance(each.outcome, CrapsOutcome):
        return Throw(round=each.round, kind="void" if each.kind == "void" else "unresolved")
    outcome = each.outcome
    return Throw(
        round=each.round,
        kind="result",
        dice=outcome.dice,
        total=outcome.total,
        said=named(outcome.dice, language),
        point=outcome.point,
        ends=ends(outcome.total, outcome.point),
        corrected=each.corrected,
    )


def _last(seen: Seen, shown: CrapsShown) -> Throw | None:
    """The last valid throw, as the state has it."""
    dice = shown.last_dice
    if dice is None:
        return None
    of = last_result(seen.rounds, shown.session)
    if of is not None and isinstance(of.outcome, CrapsOutcome) and of.outcome.dice == dice:
        return _throw(of, seen.language)
    said = named(dice, seen.language)
    return Throw(round=None, kind="result", dice=dice, total=shown.last_total, said=said)
