"""The rounds of a table, from its events, and from ``history`` for earlier ones.

A round is identified by session and number, across runs of the daemon. A correction replaces its
outcome, and a void or unresolved round may still get a result.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from common.contract.events import ResultCorrected, RoundResult, RoundUnresolved, RoundVoid
from common.contract.history import AnyLine, ResultLine, UnresolvedLine, VoidLine
from common.contract.outcomes import AnyOutcome
from common.contract.retained import History

MAX_ROUNDS = 600
"""Rounds kept in memory; the longest statistic counts 500."""

EndingEvent = RoundResult | RoundVoid | RoundUnresolved | ResultCorrected
"""The events that end or correct a round."""


class PlayedRound(msgspec.Struct, frozen=True, kw_only=True):
    """A round and its outcome."""

    session: int
    round: int
    kind: Literal["result", "void", "unresolved"]
    outcome: AnyOutcome | None = None
    corrected: bool = False
    time: str | None = None
    """When it was decided: UTC, ISO 8601; None if known only from ``history``."""
    reason: str = ""
    """Why it is void or unresolved: the wire word."""
    was: str = ""
    """The number or winner before a correction, if it differed and an event reported it."""


def round_from_event(event: EndingEvent) -> PlayedRound | None:
    """Return the round that an event ended or corrected; None if it has no session or number."""
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
    return PlayedRound(
        session=event.session,
        round=event.round,
        kind=kind,
        outcome=outcome,
        corrected=isinstance(event, ResultCorrected),
        time=event.time,
        reason=reason,
        was=was,
    )


def round_from_line(session: int, line: AnyLine) -> PlayedRound:
    """Return the round of a line of ``history``."""
    match line:
        case ResultLine():
            return PlayedRound(
                session=session,
                round=line.round,
                kind="result",
                outcome=line.outcome,
                corrected=line.corrected,
            )
        case VoidLine():
            return PlayedRound(session=session, round=line.round, kind="void", reason=line.reason)
        case UnresolvedLine():
            return PlayedRound(session=session, round=line.round, kind="unresolved")


def ended_rounds(known: tuple[PlayedRound, ...], leaf: str, body: bytes) -> list[PlayedRound]:
    """Return the rounds that a message on a table's topic ``leaf`` ends or corrects, however old:
    that of an event, or those of ``history`` that differ from ``known``.
    """
    try:
        if leaf == "event":
            ended = round_from_event(msgspec.json.decode(body, type=EndingEvent))
            return [] if ended is None else [ended]
        if leaf == "history" and body:
            return _missed_rounds(known, msgspec.json.decode(body, type=History))
    except (ValueError, RecursionError):  # another event, or unreadable
        pass
    return []


def _missed_rounds(known: tuple[PlayedRound, ...], history: History) -> list[PlayedRound]:
    by_number = {(round_.session, round_.round): round_ for round_ in known}
    published = [round_from_line(history.session, line) for line in history.results]
    return [
        round_
        for round_ in published
        if _differs(by_number.get((round_.session, round_.round)), round_)
    ]


def _differs(known: PlayedRound | None, published: PlayedRound) -> bool:
    """Return True if ``history`` has details of a round that its received events lack."""
    return known is None or (known.kind, known.outcome) != (published.kind, published.outcome)


def merge_rounds(
    rounds: tuple[PlayedRound, ...], new: Iterable[PlayedRound]
) -> tuple[PlayedRound, ...]:
    """Merge new rounds into the rounds, in order, keeping the latest. Details that the new one
    lacks are kept from the old: when it was first decided, why, and the value before a correction.
    """
    by_number = {(round_.session, round_.round): round_ for round_ in rounds}
    for round_ in new:
        key = round_.session, round_.round
        existing = by_number.get(key)
        by_number[key] = round_ if existing is None else _merge(existing, round_)
    return tuple(by_number[key] for key in sorted(by_number))[-MAX_ROUNDS:]


def _merge(old: PlayedRound, new: PlayedRound) -> PlayedRound:
    same_kind = old.kind == new.kind
    return msgspec.structs.replace(
        new,
        time=old.time or new.time,
        reason=new.reason or (old.reason if same_kind else ""),
        was=new.was or (old.was if new.corrected else ""),
    )


def last_result(rounds: tuple[PlayedRound, ...], session: int) -> PlayedRound | None:
    """Return the latest round of the session that has a result."""
    return next(
        (
            round_
            for round_ in reversed(rounds)
            if round_.session == session and round_.kind == "result"
        ),
        None,
    )
