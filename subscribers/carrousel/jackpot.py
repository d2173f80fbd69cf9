"""A jackpot as a pure function: the state and a fact give the new state and its postings.

It reads no clock and no file, and stores no balance. Identical facts in identical order give an
identical ledger, byte for byte; if only the interleaving of tables differs, the balances are equal.
"""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from common.contract.jackpot import (
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
    AlertRecorded,
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
    """Return the state of a new jackpot."""
    return JackpotLedgerState(jackpot=jackpot)


def apply_fact(state: JackpotLedgerState, fact: Fact, balance_before: BalanceBefore) -> FactOutcome:
    """Apply a fact. ``held``: returns balances of the ledger before it.

    Table events are never refused: those that cannot count become notices. Raises
    :class:`subscribers.carrousel.ledger_state.OrderRefusedError` for an order that cannot be
    followed.
    """
    entry = EntryBuilder(state, balance_before, getattr(fact, "cause", None))
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
        case AlertRecorded():
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
    last_position = max(record.last, entry.state.base)
    at = fact.cause if fact.cause > last_position else successor(last_position)
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
            f"{table} reported bets after the jackpot was closed. They are in the meter: close it "
            "again.",
            table,
        )


def _caught_up(entry: EntryBuilder, fact: CaughtUp) -> None:
    record = entry.table(fact.table)
    until = Cause(time=fact.time, table=fact.table, boot="", seq=0)
    if until > record.last:
        entry.set_table(fact.table, replace(record, last=until))


def _now(state: JackpotLedgerState, time: str) -> Cause:
    """Return the position of the controller's own actions: never before a final hit."""
    return max(Cause(time=time, table="", boot="", seq=0), state.base)


class JackpotView(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of the retained state that follow from the ledger."""

    in_play: bool
    why: OutOfPlay | None
    awards: tuple[JackpotAward, ...]
    """Open awards, oldest first."""
    last: tuple[JackpotAward, ...]
    """The latest awards, newest first."""
    tables: dict[str, JackpotTable]
    authorisation: Authorisation | None
    terms_wait: bool
    asks: tuple[str, ...]
    unordered: tuple[tuple[int, ...], ...]


def view(state: JackpotLedgerState, time: str) -> JackpotView:
    """Return what is published of a jackpot. ``time``: now, UTC, which decides whether an
    authorisation has ended.
    """
    why = _out_of_play(state, time)
    reasons = {hit.number: reason for hit, reason in pending_hits(state)}
    awards = sorted(
        (_award(hit, award, reasons.get(hit.number)) for hit in state.hits for award in hit.awards),
        key=lambda award: award.award,
    )
    open_ = {
        award.number
        for hit in state.hits
        for award in hit.awards
        if is_due(award) or (not hit.fixed and not award.returned)
    }
    current = state.waiting if state.terms is None else state.terms
    return JackpotView(
        in_play=why is None,
        why=why,
        awards=tuple(award for award in awards if award.award in open_),
        last=tuple(reversed(awards[-hits.MAX_REMEMBERED_AWARDS :])),
        tables=_tables(state),
        authorisation=None if current is None else current.authorisation,
        terms_wait=state.terms is not None and state.waiting is not None,
        asks=_wanted_orders(state, awards, reasons),
        unordered=tuple(undecided_orders(state)),
    )


def _out_of_play(state: JackpotLedgerState, time: str) -> OutOfPlay | None:
    terms = state.terms
    authorisation = None if terms is None else terms.authorisation
    withdrawn = state.waiting is not None and state.waiting.authorisation is None
    if state.closed:
        return "closed"
    if (
        authorisation is None
        or withdrawn
        or (authorisation.until is not None and time[:10] > authorisation.until)
    ):
        return "not_authorised"
    return state.why or ("suspended" if state.suspended else None)


def _tables(state: JackpotLedgerState) -> dict[str, JackpotTable]:
    """Return the linked tables. One that the waiting terms do not name is out of play at once."""
    names: list[str] = []
    for terms in (state.terms, state.waiting):
        if terms is not None and terms.authorisation is not None:
            names += [table for table in terms.authorisation.tables if table not in names]
    tables = {}
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
        tables[name] = JackpotTable(in_play=why is None, why=why, since=since)
    return tables


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
    state: JackpotLedgerState,
    awards: list[JackpotAward],
    pending_reasons: dict[int, Pending | None],
) -> tuple[str, ...]:
    """Return the orders that are awaited."""
    statuses = {item.status for item in awards}
    reasons = set(pending_reasons.values())
    wanted = {
        "hits.order": bool(undecided_orders(state)),
        "hit.fix": "tables" in reasons,
        "award.decide": "amount" in reasons,
        "award.pay": "payable" in statuses,
        "award.uphold": "disputed" in statuses,
        "award.withdraw": "disputed" in statuses,
        "claim.settle": "claimed" in statuses,
        "gap.settle": any(item.why == "gap" for item in state.tables.values()),
    }
    return tuple(name for name, is_wanted in wanted.items() if is_wanted)
