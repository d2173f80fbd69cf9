"""In which order hits count, and what keeps their values from being final.

Each table stamps its hits with its node's clock. Where two clocks cannot say which of two hits was
first, two persons say it; until then both are reckoned as if the clocks were right, and are
pending.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from controller.contract.jackpot import Pending
from controller.contract.times import moment, utc
from subscribers.carrousel.accounts import successor
from subscribers.carrousel.ledger_state import Hit, JackpotLedgerState, TableRecord

NOT_AWAITED_REASONS = ("gap", "foreign", "not_authorised")
"""Why a table is out of play whose word nobody waits for: it cannot tell any more what it did, or
it has no part in this jackpot.
"""


def open_hits(state: JackpotLedgerState) -> list[Hit]:
    """The hits whose value is not final, in the order in which they count."""
    return [each for each in state.hits if not each.fixed]


def place_hits(state: JackpotLedgerState) -> list[Hit]:
    """The open hits, each with its place: by time, and where persons have said otherwise, directly
    after the one that they have put before it.
    """
    hits = sorted(open_hits(state), key=lambda each: each.points[0].own)
    for answer in state.answers:
        places = [place for place, each in enumerate(hits) if each.number in answer]
        said = sorted((hits[place] for place in places), key=lambda each: answer.index(each.number))
        for place, hit in zip(places, said, strict=True):
            hits[place] = hit
    last, found = state.base, []
    for hit in hits:
        last = max(hit.points[0].own, successor(last))
        points = [replace(hit.points[0], at=last)]
        for point in hit.points[1:]:
            points.append(replace(point, at=max(point.own, successor(points[-1].at))))
        found.append(replace(hit, points=tuple(points)))
    return found


def undecided_orders(state: JackpotLedgerState) -> list[tuple[int, ...]]:
    """Groups of hits of which nobody knows the order, by number, in the order of their stamps. A
    hit that its table has taken back as a whole asks nobody: it keeps the place of its stamp.
    """
    groups: list[list[Hit]] = []
    standing = (each for each in open_hits(state) if not all(won.returned for won in each.awards))
    for hit in sorted(standing, key=lambda each: each.points[0].own):
        if groups and any(_is_order_unclear(state, hit, each) for each in groups[-1]):
            groups[-1].append(hit)
        else:
            groups.append([hit])
    numbers = [tuple(each.number for each in group) for group in groups if len(group) > 1]
    return [
        group for group in numbers if not any(set(group) <= set(said) for said in state.answers)
    ]


def pending_hits(state: JackpotLedgerState) -> Iterator[tuple[Hit, Pending | None]]:
    """Each open hit, in the order in which they count, with why its value is not final. What keeps
    an earlier one from it keeps the later ones too.
    """
    hits = open_hits(state)
    asked = (
        {number for group in undecided_orders(state) for number in group}
        if len(hits) > 1
        else set()
    )
    why: Pending | None = None
    for hit in hits:
        why = why or ("order" if hit.number in asked else None) or _missing(state, hit)
        yield hit, why


def _missing(state: JackpotLedgerState, hit: Hit) -> Pending | None:
    if not hit.forced and not (hit.ended and all_tables_caught_up(state, hit)):
        return "tables"
    undecided = any(each.value is None and not each.returned for each in hit.awards)
    return "amount" if undecided else None


def all_tables_caught_up(state: JackpotLedgerState, hit: Hit) -> bool:
    """Whether all other tables have told everything that may have been before this hit."""
    terms = state.terms
    tables: Sequence[str] = terms.authorisation.tables if terms and terms.authorisation else ()
    own = state.tables.get(hit.table, TableRecord())
    for name in tables:
        record = state.tables.get(name, TableRecord())
        if name == hit.table or record.why in NOT_AWAITED_REASONS:
            continue
        wrong = 0.0 if _same_node(own, record) else _clock_error(own, hit)
        if wrong is None:
            return False
        bound = 0.0 if _same_node(own, record) else wrong + record.clock_bound
        if record.last.time <= (utc(moment(hit.at.time) + bound) if bound else hit.at.time):
            return False
    return True


def _same_node(one: TableRecord, other: TableRecord) -> bool:
    return one.node != "" and one.node == other.node


def _is_order_unclear(state: JackpotLedgerState, one: Hit, other: Hit) -> bool:
    """Whether the clocks cannot tell which was first."""
    if one.table == other.table:
        return False
    tables = state.tables
    first, second = (tables.get(each.table, TableRecord()) for each in (one, other))
    if _same_node(first, second) and one.boot == other.boot:
        return False
    wrong = _clock_error(first, one), _clock_error(second, other)
    apart = abs(moment(one.points[0].own.time) - moment(other.points[0].own.time))
    return None in wrong or apart <= sum(each or 0.0 for each in wrong)


def _clock_error(table: TableRecord, hit: Hit) -> float | None:
    """By how many seconds the time of a hit may be wrong; None: nobody knows."""
    return None if hit.time_bound is None else max(table.clock_bound, hit.time_bound)
