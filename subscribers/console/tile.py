"""The tile of a table, its latest results, and what a correction of one changes. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from common.contract.commands import Duty
from common.contract.messages.messages import word
from common.contract.shown import RouletteShown, Shown
from common.contract.times import parse_utc
from subscribers.console.evidence import PhaseStart
from subscribers.console.hands import hand_text
from subscribers.console.view import (
    Correction,
    PersonOnDuty,
    TableContext,
    TableTile,
    TileResult,
)
from subscribers.display.permanency import outcome_text
from subscribers.display.roulette import colour
from subscribers.display.rounds import PlayedRound

MAX_RESULTS = 6
"""Results on a tile: the last one and the five before it."""
PACE_SECONDS = 3600.0
"""The pace is that of the rounds decided in this time before the last one."""
MAX_PACE_ROUNDS = 120
"""Maximum number of rounds from which the pace is computed: no wheel spins more in an hour."""
MIN_PACE_ROUNDS = 5
"""Minimum number of intervals between rounds for stating a pace."""
DEALING_DUTY: Duty = "croupier"


def table_tile(context: TableContext) -> TableTile:
    """Return the tile of a table."""
    state = context.known.state
    shown = None if state is None else state.shown
    return TableTile(
        results=tuple(islice(_results(context), MAX_RESULTS)),
        since=_phase_since(context.evidence.phase, shown),
        croupiers="" if state is None else ", ".join(state.staff.get(DEALING_DUTY, ())),
        pace=pace(_of_session(context)),
        next_minimum=None if shown is None else shown.next_minimum,
        rounds_until_minimum=None if shown is None else shown.rounds_at_this_minimum,
    )


def correction_of(context: TableContext, fields: Mapping[str, Any]) -> Correction | None:
    """Return what the fields of a ``result.correct`` change; None if the round is not known, or if
    the new result is not one value.
    """
    before = next(
        (result for result in _results(context) if result.round == fields.get("round")), None
    )
    if before is None:
        return None
    if "number" in fields:
        text, number = str(fields["number"]), fields["number"]
        state = context.known.state
        is_roulette = state is not None and isinstance(state.shown, RouletteShown)
        lane = colour(number) if is_roulette and isinstance(number, int) else "none"
    elif "winner" in fields:
        text, lane = hand_text(fields["winner"], context.language), "none"
    elif "dice" in fields:
        text, lane = " + ".join(map(str, fields["dice"])), "none"
    else:
        return None
    return Correction(before, TileResult(round=before.round, text=text, lane=lane))


def _results(context: TableContext) -> Iterator[TileResult]:
    """Yield the results of the session, newest first."""
    for round_ in reversed(_of_session(context)):
        if round_.outcome is not None:
            text, lane = outcome_text(round_.outcome, context.language)
            yield TileResult(round=round_.round, text=text, lane=lane)


def on_duty(context: TableContext) -> tuple[PersonOnDuty, ...]:
    """Return the people at the table."""
    staff = {} if context.known.state is None else context.known.state.staff
    return tuple(
        PersonOnDuty(
            person=person,
            duty=duty,
            text=f"{person} · {word('role', duty, context.language)}",
        )
        for duty, names in staff.items()
        for person in names
    )


def pace(rounds: Sequence[PlayedRound]) -> int | None:
    """Return the rounds an hour, from the times of the latest ones."""
    decided = sorted(
        parse_utc(round_.time) for round_ in rounds[-MAX_PACE_ROUNDS:] if round_.time is not None
    )
    times = [time for time in decided if time >= decided[-1] - PACE_SECONDS]
    intervals = len(times) - 1
    if intervals < MIN_PACE_ROUNDS or times[-1] <= times[0]:
        return None
    return round(intervals * 3600 / (times[-1] - times[0]))


def _of_session(context: TableContext) -> tuple[PlayedRound, ...]:
    """Return the known rounds of the current session, oldest first."""
    state = context.known.state
    session = None if state is None else state.shown.session
    return tuple(round_ for round_ in context.rounds if round_.session == session)


def _phase_since(phase: PhaseStart | None, shown: Shown | None) -> str | None:
    if phase is None or shown is None:
        return None
    is_same = (phase.session, phase.round, phase.phase) == (
        shown.session,
        shown.round,
        shown.phase,
    )
    return phase.since if is_same else None
