"""Orders of persons: payments, disputes, the order of hits, corrections and transfers."""

from __future__ import annotations

from msgspec.structs import replace

from common.contract.jackpot import (
    STATE_FIELDS,
    AwardDecide,
    AwardDispute,
    AwardPay,
    AwardUphold,
    AwardWithdraw,
    ClaimSettle,
    GapSettle,
    HitFix,
    HitsOrder,
    JackpotAlertAcknowledge,
    JackpotAlertClear,
    JackpotResume,
    JackpotSuspend,
    MeterAdjust,
    PoolClose,
    PoolTransfer,
)
from subscribers.carrousel.accounts import END_OF_TIME, Account, Cause
from subscribers.carrousel.alerts import acknowledge_alert, clear_alert
from subscribers.carrousel.authority import check_signers
from subscribers.carrousel.entry import EntryBuilder
from subscribers.carrousel.facts import OrderGiven, TransferReceived
from subscribers.carrousel.hits import return_to_meter, update_award, update_hit
from subscribers.carrousel.ledger_state import BEGINNING_OF_TIME, Hit, HitAward, OrderRefusedError
from subscribers.carrousel.order_of_hits import all_tables_caught_up, open_hits, undecided_orders
from subscribers.carrousel.periods import is_due
from subscribers.carrousel.shares import contribution
from subscribers.carrousel.subject import check_named_value, find_award, find_gap


def apply_order(entry: EntryBuilder, fact: OrderGiven, at: Cause) -> None:
    """Follow an order. Raises :class:`OrderRefusedError`, in which case nothing has changed."""
    order = fact.order
    check_signers(order, fact.signed)
    if isinstance(order, JackpotAlertAcknowledge):
        entry.state = acknowledge_alert(entry.state, order, fact.time)
        return
    if isinstance(order, JackpotAlertClear):
        entry.state = clear_alert(entry.state, order)
        return
    if entry.state.terms is None:
        raise OrderRefusedError("jackpot_unauthorised")
    if not fact.unnamed:
        check_named_value(entry.state, order)
    match order:
        case HitsOrder():
            _order_hits(entry, order)
        case HitFix():
            _fix_hit(entry, order, with_withdrawn=fact.with_withdrawn)
        case GapSettle():
            _settle_gap(entry, order, fact.time, at)
        case MeterAdjust():
            _adjust(entry, order, at)
        case PoolTransfer():
            _transfer(entry, order, fact.time, at)
        case PoolClose():
            _close(entry, order, fact.time, at)
        case JackpotSuspend() | JackpotResume():
            _suspend(entry, suspended=isinstance(order, JackpotSuspend))
        case _:
            _apply_award_order(entry, order, at)
    if STATE_FIELDS.get(type(order)) == "generation" and not fact.unnamed:
        entry.state = replace(entry.state, generation=entry.state.generation + 1)


def _fix_hit(entry: EntryBuilder, order: HitFix, *, with_withdrawn: bool) -> None:
    _open_hit(entry, order.hit)
    for hit in open_hits(entry.state):
        is_withdrawn = all(award.returned for award in hit.awards)
        if hit.number == order.hit or (with_withdrawn and is_withdrawn):
            update_hit(entry, replace(hit, forced=True))
        if hit.number == order.hit:
            return


def _apply_award_order(
    entry: EntryBuilder,
    order: AwardPay | AwardDecide | AwardDispute | AwardUphold | AwardWithdraw | ClaimSettle,
    at: Cause,
) -> None:
    match order:
        case AwardPay():
            _pay(entry, order, at)
        case AwardDecide():
            _decide(entry, order)
        case AwardDispute():
            _dispute(entry, order)
        case AwardUphold():
            hit, award = _disputed(entry, order.award)
            update_award(entry, hit, replace(award, disputed=False))
        case AwardWithdraw():
            hit, award = _disputed(entry, order.award)
            if award.paid:
                raise OrderRefusedError("award_paid_in_part", award=award.number, paid=award.paid)
            return_to_meter(entry, hit, award, at)
        case ClaimSettle():
            _settle_claim(entry, order, at)


def apply_transfer(entry: EntryBuilder, fact: TransferReceived, at: Cause) -> None:
    """Receive money from another jackpot. Raises :class:`OrderRefusedError`."""
    terms = entry.state.terms
    name = entry.state.jackpot
    if terms is None or terms.authorisation is None:
        raise OrderRefusedError("pool_unauthorised", jackpot=name)
    if entry.state.closed:
        raise OrderRefusedError("pool_closed", jackpot=name)
    if terms.currency != fact.currency:
        raise OrderRefusedError(
            "pool_currency", jackpot=name, currency=terms.currency, other=fact.currency
        )
    if terms.kind == "fixed":
        raise OrderRefusedError("pool_fixed", jackpot=name)
    entry.post("transfer", at, {("transfer", fact.of): -fact.amount, ("meter", ""): fact.amount})
    entry.unsettled = True


def _valid_award(entry: EntryBuilder, number: int) -> tuple[Hit, HitAward]:
    hit, award = find_award(entry.state, number)
    if award.returned:
        raise OrderRefusedError("award_withdrawn", award=number)
    if award.claimed:
        raise OrderRefusedError("award_claimed", award=number)
    return hit, award


def _pay(entry: EntryBuilder, order: AwardPay, at: Cause) -> None:
    hit, award = _valid_award(entry, order.award)
    if award.disputed:
        raise OrderRefusedError("award_disputed", award=award.number)
    if not hit.fixed or award.value is None:
        raise OrderRefusedError("award_not_final", award=award.number)
    due = award.value - award.paid
    if order.amount > due:
        raise OrderRefusedError("award_due", award=award.number, due=due, amount=order.amount)
    part = str(award.number)
    entry.post("payment", at, {("award", part): -order.amount, ("paid", part): order.amount})
    update_award(entry, hit, replace(award, paid=award.paid + order.amount))
    entry.receipt = entry.state.receipt_count + 1
    entry.state = replace(entry.state, receipt_count=entry.receipt)


def _decide(entry: EntryBuilder, order: AwardDecide) -> None:
    hit, award = _valid_award(entry, order.award)
    if award.share is not None:
        raise OrderRefusedError("award_set", award=award.number)
    if award.disputed:
        raise OrderRefusedError("award_disputed", award=award.number)
    if hit.fixed:
        raise OrderRefusedError("award_decided", award=award.number)
    first = open_hits(entry.state)[0]
    if first.number != hit.number:
        raise OrderRefusedError("hit_before", hit=first.number)
    if any(hit.number in group for group in undecided_orders(entry.state)):
        raise OrderRefusedError("hit_unordered")
    if not hit.forced and not (hit.ended and all_tables_caught_up(entry.state, hit)):
        raise OrderRefusedError("hit_waits")
    if order.amount < 0:
        raise OrderRefusedError("award_negative")
    others = sum(
        other.value or 0
        for other in hit.awards
        if not other.returned and other.number != award.number
    )
    available = hit.meter + hit.added - others
    if order.amount > available:
        raise OrderRefusedError("award_left", left=available, amount=order.amount)
    update_award(entry, hit, replace(award, value=order.amount))
    entry.unsettled = True


def _dispute(entry: EntryBuilder, order: AwardDispute) -> None:
    hit, award = _valid_award(entry, order.award)
    if award.disputed:
        raise OrderRefusedError("award_disputed_already", award=award.number)
    if hit.fixed and not is_due(award):
        raise OrderRefusedError("award_nothing_due", award=award.number)
    update_award(entry, hit, replace(award, disputed=True))


def _disputed(entry: EntryBuilder, number: int) -> tuple[Hit, HitAward]:
    hit, award = _valid_award(entry, number)
    if not award.disputed:
        raise OrderRefusedError("award_undisputed", award=number)
    return hit, award


def _settle_claim(entry: EntryBuilder, order: ClaimSettle, at: Cause) -> None:
    hit, award = find_award(entry.state, order.award)
    if not award.claimed:
        raise OrderRefusedError("claim_unknown", award=award.number)
    if order.how == "stands":
        update_award(entry, hit, replace(award, claimed=False))
        return
    part = str(award.number)
    if order.how == "recovered":
        entry.post("claim", at, {("paid", part): -award.paid, ("award", part): award.paid})
        award = replace(award, paid=0)
    else:
        entry.post("claim", at, {("house", hit.table): -award.paid, ("award", part): award.paid})
    return_to_meter(entry, hit, award, at)


def _order_hits(entry: EntryBuilder, order: HitsOrder) -> None:
    undecided = undecided_orders(entry.state)
    if not any(sorted(group) == sorted(order.hits) for group in undecided):
        groups = tuple(", ".join(map(str, group)) for group in undecided)
        raise OrderRefusedError("hits_order_unasked", hits="; ".join(groups) or "–")
    entry.state = replace(entry.state, answers=(*entry.state.answers, order.hits))
    entry.unsettled = True


def _open_hit(entry: EntryBuilder, number: int) -> Hit:
    for hit in entry.state.hits:
        if hit.number == number and not hit.fixed:
            return hit
    if 0 < number <= entry.state.hit_count:
        raise OrderRefusedError("hit_final", hit=number)
    raise OrderRefusedError("hit_unknown", hit=number)


def _settle_gap(entry: EntryBuilder, order: GapSettle, time: str, at: Cause) -> None:
    """Post the amount that persons can prove for a gap as one stake, at the time of the order."""
    record = find_gap(entry.state, order.table)
    terms = entry.state.terms
    assert terms is not None  # apply_order() has checked
    entry.post_stake("gap", at, order.table, contribution(order.amount, terms))
    entry.set_table(order.table, replace(record, why="unheard", since=time))
    entry.unsettled = True


def _adjust(entry: EntryBuilder, order: MeterAdjust, at: Cause) -> None:
    if not (order.note and order.note.strip()):
        raise OrderRefusedError("adjust_unexplained")
    if order.amount == 0:
        raise OrderRefusedError("adjust_nothing")
    meter = entry.balance("meter", END_OF_TIME)
    if meter + order.amount < 0:
        raise OrderRefusedError("meter_holds", meter=meter, amount=-order.amount)
    entry.post("adjustment", at, {("adjusted", ""): -order.amount, ("meter", ""): order.amount})
    entry.unsettled = True


def _transfer(entry: EntryBuilder, order: PoolTransfer, time: str, at: Cause) -> None:
    _check_no_open_hits(entry)
    state = entry.state
    assert state.terms is not None  # apply_order() has checked
    if order.to == state.jackpot:
        raise OrderRefusedError("pool_to_itself")
    if state.terms.kind == "fixed":
        raise OrderRefusedError("pool_keeps")
    meter = entry.balance("meter", END_OF_TIME)
    if order.amount > meter:
        raise OrderRefusedError("meter_holds", meter=meter, amount=order.amount)
    at = _close_books(entry, at)
    entry.post("transfer", at, {("meter", ""): -order.amount, ("transfer", order.to): order.amount})
    _send(entry, order.to, order.amount, time)


def _close(entry: EntryBuilder, order: PoolClose, time: str, at: Cause) -> None:
    _check_no_open_hits(entry)
    state = entry.state
    if order.to == state.jackpot:
        raise OrderRefusedError("pool_to_itself")
    if due := [award.number for hit in state.hits for award in hit.awards if is_due(award)]:
        raise OrderRefusedError("pool_awards_open", awards=tuple(map(str, due)))
    meter, reserve = entry.balance("meter", END_OF_TIME), entry.balance("reserve", END_OF_TIME)
    if state.closed and not meter + reserve:
        raise OrderRefusedError("pool_empty")
    at = _close_books(entry, at)
    to: tuple[Account, str] = ("house", "") if order.to is None else ("transfer", order.to)
    entry.post("close", at, {("meter", ""): -meter, ("reserve", ""): -reserve, to: meter + reserve})
    if order.to is not None and meter + reserve:
        _send(entry, order.to, meter + reserve, time)
    entry.state = replace(entry.state, closed=True, waiting=None, waiting_given=BEGINNING_OF_TIME)


def _check_no_open_hits(entry: EntryBuilder) -> None:
    if numbers := [str(hit.number) for hit in open_hits(entry.state)]:
        raise OrderRefusedError("hits_not_final", hits=tuple(numbers))


def _close_books(entry: EntryBuilder, at: Cause) -> Cause:
    """Keep what is known now as it is; events that arrive later count after it."""
    state = entry.state
    at = max(at, *(record.last for record in state.tables.values()), state.base)
    entry.state = replace(state, base=at, level=())
    return at


def _send(entry: EntryBuilder, to: str, amount: int, time: str) -> None:
    terms = entry.state.terms
    assert terms is not None  # apply_order() has checked
    entry.send(
        TransferReceived(
            time=time,
            jackpot=to,
            of=entry.state.jackpot,
            currency=terms.currency,
            amount=amount,
        )
    )


def _suspend(entry: EntryBuilder, *, suspended: bool) -> None:
    if entry.state.suspended == suspended:
        raise OrderRefusedError("suspended_already" if suspended else "resumed_already")
    entry.state = replace(entry.state, suspended=suspended)
