"""A jackpot as a pure function: what it remembers, and a fact, give what is posted.

It asks no clock, reads no file and keeps no balance. The same facts in the same order give the same
ledger to the byte; in another order of the tables, each in its own order, the same balances.
"""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from controller.contract.jackpot import (
    Authorisation,
    Awarded,
    JackpotAward,
    JackpotTable,
    OutOfPlay,
    Pending,
)
from subscribers.carrousel import decisions, hits, periods, stakes
from subscribers.carrousel.accounts import BalanceBefore, Cause, successor
from subscribers.carrousel.alerts import raise_alert
from subscribers.carrousel.entry import EntryBuilder
from subscribers.carrousel.facts import (
    AlertRaised,
    CaughtUp,
    Fact,
    NotWon,
    OrderGiven,
    PlayStaked,
    PlayStatus,
    RoundVoided,
    ServedBy,
    Staked,
    TermsGiven,
    TransferReceived,
    Won,
)
from subscribers.carrousel.ledger_state import FactOutcome, Hit, HitAward, JackpotLedgerState
from subscribers.carrousel.order_of_hits import pending_hits, undecided_orders
from subscribers.carrousel.periods import is_due
from subscribers.carrousel.settling import settle


def initial_state(jackpot: str) -> JackpotLedgerState:
    """A jackpot of which nothing is known yet."""
    return JackpotLedgerState(jackpot=jackpot)


def apply_fact(state: JackpotLedgerState, fact: Fact, held: BalanceBefore) -> FactOutcome:
    """Take a fact in. ``held``: what the ledger holds before it.

    What a table tells is never refused: what cannot count becomes a notice. Raises
    :class:`subscribers.carrousel.ledger_state.RefusedError` for an order that cannot be followed.
    """
    entry = EntryBuilder(state, held, getattr(fact, "cause", None))
    match fact:
        case Staked() | PlayStaked() | RoundVoided() | Won() | NotWon():
            _apply_event(entry, fact)
        case CaughtUp():
            _caught_up(entry, fact)
        case ServedBy():
            record = entry.table(fact.table)
            at_node = replace(record, node=fact.node, clock_bound=fact.clock_bound)
            entry.set_table(fact.table, replace(at_node, kept=max(fact.rounds, record.kept)))
        case PlayStatus(table=""):
            entry.state = replace(state, why=fact.why)
        case PlayStatus():
            entry.set_table(
                fact.table, replace(entry.table(fact.table), why=fact.why, since=fact.time)
            )
        case OrderGiven():
            decisions.apply_order(entry, fact, _now(state, fact.time))
        case TransferReceived():
            decisions.apply_transfer(entry, fact, _now(state, fact.time))
        case AlertRaised():
            entry.state = raise_alert(state, fact)
        case TermsGiven():
            periods.on_terms_given(entry, fact)
    settle(entry)
    return entry.build()


def _apply_event(
    entry: EntryBuilder, fact: Staked | PlayStaked | RoundVoided | Won | NotWon
) -> None:
    table = fact.cause.table
    record = entry.table(table)
    known = max(record.last, entry.state.base)
    at = fact.cause if fact.cause > known else successor(known)
    entry.set_table(table, replace(record, last=at))
    match fact:
        case Staked():
            stakes.on_staked(entry, fact, at)
        case PlayStaked():
            stakes.on_play_staked(entry, fact, at)
            hits.end_play(entry, table, fact.session, fact.round)
        case RoundVoided():
            stakes.on_round_voided(entry, fact, at)
            hits.void_hit(entry, fact, at)
        case Won():
            hits.on_award_won(entry, fact, at)
        case NotWon():
            hits.on_award_withdrawn(entry, fact, at)
    if entry.state.closed and entry.has_postings:
        entry.add_notice(
            "closed",
            f"{table} still told of bets after the jackpot was closed. What came into the meter is "
            "there: close it again.",
            table,
        )


def _caught_up(entry: EntryBuilder, fact: CaughtUp) -> None:
    record = entry.table(fact.table)
    until = Cause(time=fact.time, table=fact.table, boot="", seq=0)
    if until > record.last:
        entry.set_table(fact.table, replace(record, last=until))


def _now(state: JackpotLedgerState, time: str) -> Cause:
    """The place of what the controller does: not before what is final."""
    return max(Cause(time=time, table="", boot="", seq=0), state.base)


class JackpotView(msgspec.Struct, frozen=True, kw_only=True):
    """What the retained state says beside what only the controller's process knows."""

    in_play: bool
    why: OutOfPlay | None
    awards: tuple[JackpotAward, ...]
    """Awards that wait, oldest first."""
    last: tuple[JackpotAward, ...]
    """The last awards, newest first."""
    tables: dict[str, JackpotTable]
    authorisation: Authorisation | None
    terms_wait: bool
    asks: tuple[str, ...]
    unordered: tuple[tuple[int, ...], ...]


def view(state: JackpotLedgerState, time: str) -> JackpotView:
    """What there is to tell of a jackpot. ``time``: now, UTC, by which an authorisation ends."""
    why = _out_of_play(state, time)
    whys = {hit.number: reason for hit, reason in pending_hits(state)}
    every = sorted(
        (_award(hit, award, whys.get(hit.number)) for hit in state.hits for award in hit.awards),
        key=lambda each: each.award,
    )
    open_ = {
        each.number
        for hit in state.hits
        for each in hit.awards
        if is_due(each) or (not hit.fixed and not each.returned)
    }
    current = state.waiting if state.terms is None else state.terms
    return JackpotView(
        in_play=why is None,
        why=why,
        awards=tuple(each for each in every if each.award in open_),
        last=tuple(reversed(every[-hits.MAX_REMEMBERED_AWARDS :])),
        tables=_tables(state),
        authorisation=None if current is None else current.authorisation,
        terms_wait=state.terms is not None and state.waiting is not None,
        asks=_wanted_orders(state, every, whys),
        unordered=tuple(undecided_orders(state)),
    )


def _out_of_play(state: JackpotLedgerState, time: str) -> OutOfPlay | None:
    terms = state.terms
    given = None if terms is None else terms.authorisation
    withdrawn = state.waiting is not None and state.waiting.authorisation is None
    if state.closed:
        return "closed"
    if given is None or withdrawn or (given.until is not None and time[:10] > given.until):
        return "not_authorised"
    return state.why or ("suspended" if state.suspended else None)


def _tables(state: JackpotLedgerState) -> dict[str, JackpotTable]:
    """The linked tables. One that the terms which wait do not name is out of play at once."""
    names: list[str] = []
    for terms in (state.terms, state.waiting):
        if terms is not None and terms.authorisation is not None:
            names += [each for each in terms.authorisation.tables if each not in names]
    found = {}
    for name in names:
        record = state.tables.get(name)
        named = all(
            terms is None
            or (terms.authorisation is not None and name in terms.authorisation.tables)
            for terms in (state.terms, state.waiting)
        )
        why: OutOfPlay | None = "unheard" if record is None else record.why
        why = why if named else "not_authorised"
        since = "" if record is None else record.since
        found[name] = JackpotTable(in_play=why is None, why=why, since=since)
    return found


def _award(hit: Hit, award: HitAward, why: Pending | None) -> JackpotAward:
    status = _status(hit, award)
    return JackpotAward(
        award=award.number,
        hit=hit.number,
        table=hit.table,
        session=hit.session,
        round=hit.round,
        box=award.box,
        hand=award.hand,
        cards=award.cards,
        time=award.time,
        share=award.share,
        value=award.value,
        paid=award.paid,
        status=status,
        why=why if status == "pending" else None,
    )


def _status(hit: Hit, award: HitAward) -> Awarded:
    if award.returned:
        return "withdrawn"
    if award.claimed:
        return "claimed"
    if award.disputed:
        return "disputed"
    if not hit.fixed or award.value is None:
        return "pending"
    return "paid" if award.paid == award.value else "payable"


def _wanted_orders(
    state: JackpotLedgerState, every: list[JackpotAward], whys: dict[int, Pending | None]
) -> tuple[str, ...]:
    """The orders that are waited for."""
    statuses = {each.status for each in every}
    reasons = set(whys.values())
    wanted = {
        "hits.order": bool(undecided_orders(state)),
        "hit.fix": "tables" in reasons,
        "award.decide": "amount" in reasons,
        "award.pay": "payable" in statuses,
        "award.uphold": "disputed" in statuses,
        "award.withdraw": "disputed" in statuses,
        "claim.settle": "claimed" in statuses,
        "gap.settle": any(each.why == "gap" for each in state.tables.values()),
    }
    return tuple(name for name, asked in wanted.items() if asked)
