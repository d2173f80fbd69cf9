"""The display of craps: puck, point, the latest throws, and the shooter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from common.contract.messages.messages import text
from common.contract.outcomes import CrapsOutcome
from common.contract.shown import CrapsShown
from subscribers.display.context import PictureContext
from subscribers.display.rounds import PlayedRound, last_result
from subscribers.display.spins import MAX_LATEST_SPINS
from subscribers.display.statistics import Share, missing_rounds, percent

NAMED_TOTALS = (2, 3, 11, 12)
"""Totals that have a name at the table."""
HARD_TOTALS = (4, 6, 8, 10)
"""Totals that two equal dice make the hard way."""
WINDOW_THROWS = 100
"""Number of throws whose totals are counted."""


class ThrowPicture(msgspec.Struct, frozen=True, kw_only=True):
    """One throw. A void or unresolved one has no dice."""

    round: int | None
    """None if it is known only from the state."""
    kind: Literal["result", "void", "unresolved"]
    dice: tuple[int, ...] = ()
    total: int | None = None
    said: str = ""
    """The name of the throw: craps, eleven, the hard way; empty for others."""
    point: int | None = None
    """The point it was played against; None at a come-out."""
    ends: bool = False
    """It ends its series."""
    corrected: bool = False


class CrapsBody(msgspec.Struct, frozen=True, kw_only=True):
    """The body of the picture."""

    on: bool
    """A point is on."""
    point: int | None
    shooter: str | None
    """Who throws, as text."""
    last: ThrowPicture | None
    """The last valid throw."""
    throws: tuple[ThrowPicture, ...]
    """The latest throws, newest first."""
    totals: tuple[Share, ...]
    """Frequency of each total in the latest throws."""
    counted: int
    size: int
    unheard: int


def body(context: PictureContext, shown: CrapsShown) -> CrapsBody:
    """Return the body for the current state."""
    totals = [
        round_.outcome.total
        for round_ in reversed(context.rounds)
        if isinstance(round_.outcome, CrapsOutcome)
    ][:WINDOW_THROWS]
    shooter = None
    if shown.shooter is not None:
        shooter = text("who.seat_numbered", context.language, number=shown.shooter)
    return CrapsBody(
        on=shown.point is not None,
        point=shown.point,
        shooter=shooter,
        last=_last(context, shown),
        throws=throws(context.rounds, context.language),
        totals=tuple(
            Share(str(total), str(total), count, percent(count, len(totals)))
            for total in range(2, 13)
            for count in (totals.count(total),)
        ),
        counted=len(totals),
        size=WINDOW_THROWS,
        unheard=missing_rounds(context.rounds, WINDOW_THROWS),
    )


def throws(rounds: Sequence[PlayedRound], language: str) -> tuple[ThrowPicture, ...]:
    """Return the latest throws, newest first."""
    return tuple(_throw(round_, language) for round_ in reversed(rounds[-MAX_LATEST_SPINS:]))


def ends_series(total: int, point: int | None) -> bool:
    """Return True if a throw ends its series: a seven or the point after a point; seven, eleven or
    craps at a come-out.
    """
    return total in ((7, point) if point else (2, 3, 7, 11, 12))


def throw_name(dice: Sequence[int], language: str) -> str:
    """Return the name of a throw."""
    total = sum(dice)
    if total in NAMED_TOTALS:
        return text(f"display.thrown_{total}", language)
    return text("display.hard", language) if total in HARD_TOTALS and len({*dice}) == 1 else ""


def _throw(round_: PlayedRound, language: str) -> ThrowPicture:
    if round_.kind != "result" or not isinstance(round_.outcome, CrapsOutcome):
        return ThrowPicture(
            round=round_.round, kind="void" if round_.kind == "void" else "unresolved"
        )
    outcome = round_.outcome
    return ThrowPicture(
        round=round_.round,
        kind="result",
        dice=outcome.dice,
        total=outcome.total,
        said=throw_name(outcome.dice, language),
        point=outcome.point,
        ends=ends_series(outcome.total, outcome.point),
        corrected=round_.corrected,
    )


def _last(context: PictureContext, shown: CrapsShown) -> ThrowPicture | None:
    """Return the last valid throw, according to the state."""
    dice = shown.last_dice
    if dice is None:
        return None
    round_ = last_result(context.rounds, shown.session)
    if (
        round_ is not None
        and isinstance(round_.outcome, CrapsOutcome)
        and round_.outcome.dice == dice
    ):
        return _throw(round_, context.language)
    name = throw_name(dice, context.language)
    return ThrowPicture(round=None, kind="result", dice=dice, total=shown.last_total, said=name)
