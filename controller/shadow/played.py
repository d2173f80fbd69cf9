"""The rounds of one table, from the events in its journal."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from common.chain.schema import Entry
from common.contract.events import ResultCorrected, RoundResult, RoundUnresolved, RoundVoid
from common.contract.outcomes import AnyOutcome, BouleOutcome, FortuneOutcome, RouletteOutcome
from common.contract.times import parse_utc
from controller.shadow.results import DecidedRound

_Ending = RoundResult | RoundVoid | RoundUnresolved | ResultCorrected
_ENDINGS = {"round.result", "round.void", "round.unresolved", "result.corrected"}
_decode_ending = msgspec.json.Decoder(_Ending).decode


class _Type(msgspec.Struct):
    type: str


_decode_type = msgspec.json.Decoder(_Type).decode


def played_rounds(entries: Iterable[Entry], table: str) -> tuple[DecidedRound, ...]:
    """Return the rounds of a table in the order in which they were first decided. A confirmation or
    a correction changes the round that it names, and not its time.
    """
    rounds: dict[tuple[int, int], DecidedRound] = {}
    for entry in entries:
        if entry.kind != "event" or entry.table != table:
            continue
        if _decode_type(entry.body).type not in _ENDINGS:
            continue
        event = _decode_ending(entry.body)
        if event.session is None or event.round is None:
            continue
        key = event.session, event.round
        rounds[key] = _after(rounds.get(key), event, key, parse_utc(entry.time))
    return tuple(sorted(rounds.values(), key=lambda each: each.at))


def _after(
    known: DecidedRound | None, event: _Ending, key: tuple[int, int], at: float
) -> DecidedRound:
    """Return the round after one more event of it."""
    session, number = key
    at = at if known is None else known.at
    match event:
        case RoundVoid():
            return DecidedRound(session=session, round=number, at=at, kind="void")
        case RoundUnresolved():
            return DecidedRound(session=session, round=number, at=at, kind="unresolved")
        case RoundResult():
            result, before = _number(event.outcome), None
            by_hand = event.confirmed_by is not None
        case ResultCorrected():
            result, by_hand = _number(event.outcome), True
            before = None if known is None else known.before or known.number
    return DecidedRound(
        session=session,
        round=number,
        at=at,
        kind="result",
        number=result,
        before=None if before == result else before,
        by_hand=by_hand,
    )


def _number(outcome: AnyOutcome) -> str | None:
    """Return the number of a wheel; None for the outcome of any other game."""
    if isinstance(outcome, RouletteOutcome | BouleOutcome | FortuneOutcome):
        return str(outcome.number)
    return None
