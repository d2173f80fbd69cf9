"""The rounds of a table, as far as they were heard: from its events, and from ``history`` for those
before.

A round is identified by its session and number, whatever the run of the daemon; a correction
replaces its outcome, and a void or unresolved round may still become a result.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from controller.contract.events import ResultCorrected, RoundResult, RoundUnresolved, RoundVoid
from controller.contract.history import AnyLine, ResultLine, UnresolvedLine, VoidLine
from controller.contract.outcomes import AnyOutcome

KEPT = 600
"""Rounds that are kept in memory; the longest statistic counts 500."""

Ending = RoundResult | RoundVoid | RoundUnresolved | ResultCorrected
"""The events that say what became of a round."""


class Round(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one round."""

    session: int
    round: int
    kind: Literal["result", "void", "unresolved"]
    outcome: AnyOutcome | None = None
    corrected: bool = False
    time: str | None = None
    """When it was decided: UTC, ISO 8601; None where only ``history`` told of it."""
    reason: str = ""
    """Why it is void or unresolved: the word on the wire."""
    was: str = ""
    """The number or winner before a correction, where it was another and an event told it."""


def round_of(event: Ending) -> Round | None:
    """The round that an event ended or corrected; None for one without session and number."""
    if event.session is None or event.round is None:
        return None
    kind: Literal["result", "void", "unresolved"] = "result"
    outcome, reason, was = None, "", ""
    match event:
        case RoundResult() | ResultCorrected():
            outcome = event.outcome
            if isinstance(event, ResultCorrected) and event.was is not None:
                was = str(event.was)
        case RoundVoid():
            kind, reason = "void", event.reason
        case RoundUnresolved():
            kind, reason = "unresolved", event.why
    return Round(
        session=event.session,
        round=event.round,
        kind=kind,
        outcome=outcome,
        corrected=isinstance(event, ResultCorrected),
        time=event.time,
        reason=reason,
        was=was,
    )


def round_in(session: int, line: AnyLine) -> Round:
    """The round of a line of ``history``."""
    match line:
        case ResultLine():
            return Round(
                session=session,
                round=line.round,
                kind="result",
                outcome=line.outcome,
                corrected=line.corrected,
            )
        case VoidLine():
            return Round(session=session, round=line.round, kind="void", reason=line.reason)
        case UnresolvedLine():
            return Round(session=session, round=line.round, kind="unresolved")


def put(rounds: tuple[Round, ...], found: Iterable[Round]) -> tuple[Round, ...]:
    """The rounds with these put in their places, in order; the latest are kept. What was known of a
    round and is not told again stays: when it was first decided, why, and what it was before.
    """
    by_number = {(each.session, each.round): each for each in rounds}
    for each in found:
        place = each.session, each.round
        before = by_number.get(place)
        by_number[place] = each if before is None else _again(before, each)
    return tuple(by_number[place] for place in sorted(by_number))[-KEPT:]


def _again(before: Round, each: Round) -> Round:
    same = before.kind == each.kind
    return msgspec.structs.replace(
        each,
        time=before.time or each.time,
        reason=each.reason or (before.reason if same else ""),
        was=each.was or (before.was if each.corrected else ""),
    )


def last_result(rounds: tuple[Round, ...], session: int) -> Round | None:
    """The latest round of the session that has its result."""
    return next(
        (each for each in reversed(rounds) if each.session == session and each.kind == "result"),
        None,
    )
