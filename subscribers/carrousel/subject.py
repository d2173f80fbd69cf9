"""The subject of an order in the ledger: an award, hits, a gap, or the jackpot as a whole."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from common.contract.jackpot import (
    STATE_FIELDS,
    AwardPay,
    GapSettle,
    HitFix,
    HitsOrder,
    JackpotAlertAcknowledge,
    JackpotAlertClear,
    JackpotOrder,
    JackpotResume,
    JackpotSuspend,
    MeterAdjust,
    PoolClose,
    PoolTransfer,
)
from common.contract.refusals import RejectedError
from subscribers.carrousel.ledger_state import (
    Hit,
    HitAward,
    JackpotLedgerState,
    OrderRefusedError,
    TableRecord,
)
from subscribers.carrousel.order_of_hits import undecided_orders


def find_award(state: JackpotLedgerState, number: int) -> tuple[Hit, HitAward]:
    """Return an award and its hit. Raises :class:`OrderRefusedError`."""
    for hit in state.hits:
        for award in hit.awards:
            if award.number == number:
                return hit, award
    if 0 < number <= state.award_count:
        raise OrderRefusedError("award_done", award=number)
    raise OrderRefusedError("award_unknown", award=number)


def find_gap(state: JackpotLedgerState, table: str) -> TableRecord:
    """Return a table with a gap. Raises :class:`OrderRefusedError`."""
    record = state.tables.get(table)
    if record is None or record.why != "gap":
        raise OrderRefusedError("gap_none", table=table)
    return record


def check_named_value(state: JackpotLedgerState, order: JackpotOrder) -> None:
    """Refuse an order whose signers saw another state of its subject. Raises
    :class:`OrderRefusedError`, also if the award or gap does not exist.
    """
    field = STATE_FIELDS.get(type(order))
    if field is None:
        return
    seen, current = (
        getattr(order, field),
        named_value(state, type(order), msgspec.structs.asdict(order)),
    )
    if seen == current:
        return
    if isinstance(order, AwardPay):
        raise OrderRefusedError("award_paid_meanwhile", award=order.award, paid=current, said=seen)
    raise OrderRefusedError(
        "order_outdated", order=_tag(type(order)), field=field, now=current, said=seen
    )


def is_outdated(state: JackpotLedgerState, order: JackpotOrder) -> OrderRefusedError | None:
    """Return why :func:`check_named_value` refuses an order whose award or gap exists, or None."""
    try:
        check_named_value(state, order)
    except OrderRefusedError as refusal:
        return (
            refusal if refusal.refusal.key in ("award_paid_meanwhile", "order_outdated") else None
        )
    return None


def check_complete(
    state: JackpotLedgerState, kind: type[msgspec.Struct], fields: Mapping[str, object]
) -> None:
    """Refuse an order of this kind that does not name the state its signers saw, and say what to
    name. Raises ``RejectedError``.
    """
    field = STATE_FIELDS.get(kind)
    if field is not None and fields.get(field) is None:
        now = named_value(state, kind, fields)
        raise RejectedError("order_unnamed", order=_tag(kind), field=field, now=now)


def named_value(
    state: JackpotLedgerState, kind: type[msgspec.Struct], fields: Mapping[str, object]
) -> int | str:
    """Return the required value of the field in :data:`STATE_FIELDS` for an order of this kind.

    Raises :class:`OrderRefusedError` if the award or gap does not exist.
    """
    if kind is AwardPay:
        number = fields.get("award")
        return find_award(state, number if isinstance(number, int) else 0)[1].paid
    if kind is GapSettle:
        return find_gap(state, str(fields.get("table"))).since
    return state.generation


def subject(state: JackpotLedgerState, order: JackpotOrder) -> bytes:
    """Return the state of an order's subject. A first signature is valid while it stays the same;
    empty if the subject no longer exists.
    """
    try:
        return msgspec.json.encode(_subject(state, order))
    except OrderRefusedError:
        return b""


def _subject(state: JackpotLedgerState, order: JackpotOrder) -> object:
    match order:
        case HitsOrder():
            return [
                group for group in undecided_orders(state) if sorted(group) == sorted(order.hits)
            ]
        case HitFix():
            return [
                (hit.number, hit.forced, hit.fixed) for hit in state.hits if hit.number == order.hit
            ]
        case GapSettle():
            return find_gap(state, order.table).since
        case JackpotAlertAcknowledge() | JackpotAlertClear():
            return state.alerts.get(order.alert)
        case MeterAdjust() | PoolTransfer() | PoolClose() | JackpotSuspend() | JackpotResume():
            return state.generation
        case _:
            hit, award = find_award(state, order.award)
            return hit.fixed, award


def _tag(kind: type[msgspec.Struct]) -> str:
    return str(kind.__struct_config__.tag)
