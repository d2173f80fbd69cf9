"""The order in which hits count, and what keeps their values from being final.

Each table stamps its hits with its node's clock. If the clocks are too inaccurate to decide which
of two hits was first, two persons decide; until then both are valued as if the clocks were right,
and are pending.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from common.contract.jackpot import Pending
from common.contract.times import format_utc, parse_utc
from subscribers.carrousel.accounts import successor
from subscribers.carrousel.ledger_state import Hit, JackpotLedgerState, TableRecord

NOT_AWAITED_REASONS = ("gap", "foreign", "not_authorised")
"""Reasons for which an out-of-play table is not awaited: it can no longer report its events, or it
has no part in this jackpot.
"""


def open_hits(state: JackpotLedgerState) -> list[Hit]:
    """Return the hits whose value is not final, in the order in which they count."""
    return [hit for hit in state.hits if not hit.fixed]


def place_hits(state: JackpotLedgerState) -> list[Hit]:
    """Return the open hits with their positions: by time, or in the order that persons decided."""
    hits = sorted(open_hits(state), key=lambda hit: hit.points[0].own)
    for answer in state.answers:
        indexes = [index for index, hit in enumerate(hits) if hit.number in answer]
        ordered = sorted(
            (hits[index] for index in indexes), key=lambda hit: answer.index(hit.number)
        )
        for index, hit in zip(indexes, ordered, strict=True):
            hits[index] = hit
    last, placed = state.base, []
    for hit in hits:
        last = max(hit.points[0].own, successor(last))
        points = [replace(hit.points[0], at=last)]
        for point in hit.points[1:]:
            points.append(replace(point, at=max(point.own, successor(points[-1].at))))
        placed.append(replace(hit, points=tuple(points)))
    return placed


def undecided_orders(state: JackpotLedgerState) -> list[tuple[int, ...]]:
    """Return groups of hits whose order is unknown, by number, in the order of their time stamps. A
    hit that its table has withdrawn entirely is in no group; it keeps the position of its time
    stamp.
    """
    groups: list[list[Hit]] = []
    valid = (
        other for other in open_hits(state) if not all(award.returned for award in other.awards)
    )
    for hit in sorted(valid, key=lambda other: other.points[0].own):
        if groups and any(_is_order_unclear(state, hit, other) for other in groups[-1]):
            groups[-1].append(hit)
        else:
            groups.append([hit])
    numbers = [tuple(other.number for other in group) for group in groups if len(group) > 1]
    return [
        group for group in numbers if not any(set(group) <= set(answer) for answer in state.answers)
    ]


def pending_hits(state: JackpotLedgerState) -> Iterator[tuple[Hit, Pending | None]]:
    """Yield each open hit in the order in which they count, with the reason why its value is not
    final. A reason applies to all later hits too.
    """
    hits = open_hits(state)
    unordered = (
        {number for group in undecided_orders(state) for number in group}
        if len(hits) > 1
        else set()
    )
    reason: Pending | None = None
    for hit in hits:
        reason = reason or ("order" if hit.number in unordered else None) or _missing(state, hit)
        yield hit, reason


def _missing(state: JackpotLedgerState, hit: Hit) -> Pending | None:
    if not hit.forced and not (hit.ended and all_tables_caught_up(state, hit)):
        return "tables"
    undecided = any(award.value is None and not award.returned for award in hit.awards)
    return "amount" if undecided else None


def all_tables_caught_up(state: JackpotLedgerState, hit: Hit) -> bool:
    """Return whether all other tables have reported everything that may precede this hit."""
    terms = state.terms
    tables: Sequence[str] = terms.authorisation.tables if terms and terms.authorisation else ()
    own = state.tables.get(hit.table, TableRecord())
    for name in tables:
        record = state.tables.get(name, TableRecord())
        if name == hit.table or record.why in NOT_AWAITED_REASONS:
            continue
        error = 0.0 if _same_node(own, record) else _clock_error(own, hit)
        if error is None:
            return False
        bound = 0.0 if _same_node(own, record) else error + record.clock_bound
        if record.last.time <= (
            format_utc(parse_utc(hit.at.time) + bound) if bound else hit.at.time
        ):
            return False
    return True


def _same_node(first: TableRecord, second: TableRecord) -> bool:
    return first.node != "" and first.node == second.node


def _is_order_unclear(state: JackpotLedgerState, one: Hit, other: Hit) -> bool:
    """Return whether the clocks are too inaccurate to decide which hit was first."""
    if one.table == other.table:
        return False
    tables = state.tables
    first, second = (tables.get(item.table, TableRecord()) for item in (one, other))
    if _same_node(first, second) and one.boot == other.boot:
        return False
    errors = _clock_error(first, one), _clock_error(second, other)
    difference = abs(parse_utc(one.points[0].own.time) - parse_utc(other.points[0].own.time))
    return None in errors or difference <= sum(item or 0.0 for item in errors)


def _clock_error(table: TableRecord, hit: Hit) -> float | None:
    """Return the maximum error of a hit's time in seconds; None if unknown."""
    return None if hit.time_bound is None else max(table.clock_bound, hit.time_bound)
