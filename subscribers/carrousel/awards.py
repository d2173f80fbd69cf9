"""Details of awards. Postings have only an award's number; its hand and table are in the facts."""

from __future__ import annotations

import msgspec

from subscribers.carrousel.facts import Won
from subscribers.carrousel.ledger_state import JackpotLedgerState
from subscribers.carrousel.reading import LedgerReader, read_fact, saved_states
from subscribers.carrousel.replay import Replay
from subscribers.carrousel.schema import LedgerError


class AwardDetails(msgspec.Struct, frozen=True, kw_only=True):
    """An award, and where it was won."""

    award: int
    hit: int
    time: str
    table: str
    session: int
    round: int
    box: str
    hand: str
    cards: tuple[str, ...]


def find_awards(file: LedgerReader, jackpot: str, numbers: set[int]) -> dict[int, AwardDetails]:
    """Return the awards with these numbers. The last saved state has the open and the latest
    awards; for older ones all facts are replayed. Raises :class:`LedgerError`.
    """
    saved = saved_states(file.connection).get(jackpot)
    details = (
        {}
        if saved is None
        else _details_by_number(msgspec.json.decode(saved[1], type=JackpotLedgerState))
    )
    if numbers <= details.keys():
        return details
    replay = Replay()
    try:
        for row, postings in file.entries():
            if row.jackpot != jackpot:
                continue
            fact = read_fact(row.fact)
            if (
                difference := replay.find_difference(row.position, jackpot, fact, postings)
            ) is not None:
                raise LedgerError(
                    f"{file.path}: entry {row.position}: {difference}; run `novamas carrousel "
                    "verify` for all findings"
                )
            if isinstance(fact, Won):
                details |= _details_by_number(replay.states[jackpot])
    finally:
        replay.close()
    if missing := sorted(numbers - details.keys()):
        raise LedgerError(f"{file.path}: {jackpot} has no award {missing[0]}")
    return details


def _details_by_number(state: JackpotLedgerState) -> dict[int, AwardDetails]:
    return {
        award.number: AwardDetails(
            award=award.number,
            hit=hit.number,
            time=award.time,
            table=hit.table,
            session=hit.session,
            round=hit.round,
            box=award.box,
            hand=award.hand,
            cards=award.cards,
        )
        for hit in state.hits
        for award in hit.awards
    }
