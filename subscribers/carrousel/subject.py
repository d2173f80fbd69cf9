"""What an order is about, as the ledger has it: an award, hits, a gap, the jackpot as a whole."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from controller.contract.jackpot import (
    NAMED,
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
from controller.contract.refusals import RejectedError
from subscribers.carrousel.ledger_state import (
    Award,
    Hit,
    JackpotLedgerState,
    RefusedError,
    TableRecord,
)
from subscribers.carrousel.order_of_hits import questions


def find_award(state: JackpotLedgerState, number: int) -> tuple[Hit, Award]:
    """An award and its hit. Raises :class:`RefusedError`."""
    for hit in state.hits:
        for award in hit.awards:
            if award.number == number:
                return hit, award
    if 0 < number <= state.award_count:
        raise RefusedError("award_done", award=number)
    raise RefusedError("award_unknown", award=number)


def find_gap(state: JackpotLedgerState, table: str) -> TableRecord:
    """A table with a gap. Raises :class:`RefusedError`."""
    record = state.tables.get(table)
    if record is None or record.why != "gap":
        raise RefusedError("gap_none", table=table)
    return record


def check_named(state: JackpotLedgerState, order: JackpotOrder) -> None:
    """Refuse an order whose signers saw another state of what it is about. Raises
    :class:`RefusedError`, also if there is no such award or gap.
    """
    field = NAMED.get(type(order))
    if field is None:
        return
    said, now = getattr(order, field), named(state, type(order), msgspec.structs.asdict(order))
    if said == now:
        return
    if isinstance(order, AwardPay):
        raise RefusedError("award_paid_meanwhile", award=order.award, paid=now, said=said)
    raise RefusedError("order_outdated", order=_tag(type(order)), field=field, now=now, said=said)


def is_outdated(state: JackpotLedgerState, order: JackpotOrder) -> RefusedError | None:
    """Why :func:`check_named` refuses an order, where there is such an award or gap."""
    try:
        check_named(state, order)
    except RefusedError as no:
        return no if no.refusal.key in ("award_paid_meanwhile", "order_outdated") else None
    return None


def check_complete(
    state: JackpotLedgerState, kind: type[msgspec.Struct], fields: Mapping[str, object]
) -> None:
    """Refuse an order of this kind that does not name the state that its signers saw, with what
    to name. Raises ``RejectedError``.
    """
    field = NAMED.get(kind)
    if field is not None and fields.get(field) is None:
        now = named(state, kind, fields)
        raise RejectedError("order_unnamed", order=_tag(kind), field=field, now=now)


def named(
    state: JackpotLedgerState, kind: type[msgspec.Struct], fields: Mapping[str, object]
) -> int | str:
    """What an order of this kind must have in the field of :data:`NAMED`. Raises
    :class:`RefusedError` if there is no such award or gap.
    """
    if kind is AwardPay:
        number = fields.get("award")
        return find_award(state, number if isinstance(number, int) else 0)[1].paid
    if kind is GapSettle:
        return find_gap(state, str(fields.get("table"))).since
    return state.generation


def subject(state: JackpotLedgerState, order: JackpotOrder) -> bytes:
    """The state of what an order is about. What a first person signed is valid while this stays
    the same; empty: there is no such thing any more.
    """
    try:
        return msgspec.json.encode(_subject(state, order))
    except RefusedError:
        return b""


def _subject(state: JackpotLedgerState, order: JackpotOrder) -> object:
    match order:
        case HitsOrder():
            return [group for group in questions(state) if sorted(group) == sorted(order.hits)]
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
