"""What awards are worth, reckoned anew whenever something before them is heard, until it is final.

Each hit takes its shares of the meter as of the hit. What the ledger has posted for it is compared
with what it must have, and only the difference is posted: the ledger is never rewritten. So its
balances are the same in whatever order the tables are heard.

Between two hits the meter stays within its bounds: what exceeds its limit goes to the reserve, and
what it lacks, where stakes go back that an award took, is advanced by the house. Both are functions
of all that counts between the two hits, so what comes back below the limit, or raises the meter
again, undoes them.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Literal

from msgspec.structs import replace

from subscribers.carrousel.accounts import END, Account, Cause
from subscribers.carrousel.entry import Entry, together
from subscribers.carrousel.hits import by_number, forget, keep
from subscribers.carrousel.ledger_state import Award, Hit, Line, Lines
from subscribers.carrousel.order_of_hits import pending, placed
from subscribers.carrousel.periods import begin_waiting, seed_of
from subscribers.carrousel.shares import values, whole


def settle(entry: Entry) -> None:
    """Post what hits and bounds want by now, and make final what can be."""
    again = True
    while again:
        if entry.unsettled:
            entry.unsettled = False
            _place(entry)
            _reckon(entry)
        again = entry.unsettled = _fix_next(entry)
    forget(entry)


def _place(entry: Entry) -> None:
    """Give each open hit its place. What was posted at another place is taken back there."""
    state = entry.state
    for hit in placed(state):
        old = by_number(entry, hit.number)
        if hit.at != old.at:
            _difference(entry, old.at, old.level, ())
            hit = replace(hit, level=())
        points = []
        for point, was in zip(hit.points, old.points, strict=True):
            if point.at != was.at and was.posted is not None:
                _difference(entry, was.at, was.posted, ())
                point = replace(point, posted=None)
            points.append(point)
        keep(entry, replace(hit, points=tuple(points)))
    hits = sorted(entry.state.hits, key=lambda each: (not each.fixed, each.at))
    entry.state = replace(entry.state, hits=tuple(hits))


def _reckon(entry: Entry) -> None:
    """Go through all that is open in the order in which it counts."""
    steps = sorted(
        (point.at, hit.number, index)
        for hit in entry.state.hits
        for index, point in enumerate(hit.points)
        if not hit.fixed or point.posted is None
    )
    last: int | None = None
    for at, number, index in steps:
        if index == 0:
            _keep_level(entry, last, at)
            last = number
            _value(entry, number)
        _post_point(entry, number, index)
    _keep_level(entry, last, END)


def _value(entry: Entry, number: int) -> None:
    """The meter as of a hit, and what the hit would want of the house and the reserve.

    The seed of the next period comes from the reserve as far as that goes, and else from the house
    (EUS96 L1849: a jackpot begins with at least 1,000 times the bet).
    """
    hit = by_number(entry, number)
    terms = entry.terms_at(hit.at)
    assert terms is not None  # no hit is taken without
    meter = entry.held("meter", hit.at)
    hit = replace(hit, meter=meter, added=max(0, terms.least - meter))
    seed = seed_of(entry.state, hit.at)
    reserve = min(seed, max(0, entry.held("reserve", hit.at))) if _takes_all(hit, 1) else 0
    keep(entry, replace(hit, seed=(reserve, seed - reserve)))


def _takes_all(hit: Hit, points: int) -> bool:
    """Whether what stands after so many points takes the whole: by its shares, or because persons
    have given all of it to those of whom the decree says nothing.
    """
    standing: set[int] = set()
    for point in hit.points[:points]:
        if point.what == "won":
            standing.update(point.awards)
        else:
            standing.difference_update(point.awards)
    awards = [each for each in hit.awards if each.number in standing]
    if whole([each.share for each in awards]):
        return True
    decided = any(each.share is None and each.value for each in awards)
    return decided and sum(each.value or 0 for each in awards) >= hit.meter


def _post_point(entry: Entry, number: int, index: int) -> None:
    hit = by_number(entry, number)
    point = hit.points[index]
    terms = entry.terms_at(hit.at)
    assert terms is not None
    before, after = _takes_all(hit, index), _takes_all(hit, index + 1)
    awards = [each for each in hit.awards if each.number in point.awards]
    if point.what == "won":
        worth = hit.meter + hit.added if after else hit.meter
        told = [each.share for each in awards if each.share is not None]
        shares = iter(values(told, worth, first=terms.remainder == "first"))
        awards = [
            each if each.share is None else replace(each, value=next(shares)) for each in awards
        ]
        hit = replace(hit, awards=_with(hit.awards, awards))
    sign = 1 if point.what == "won" else -1
    what: Literal["award", "award_returned"] = "award" if sign > 0 else "award_returned"
    taken: list[Line] = []
    for each in awards:
        taken += [
            Line(what, "award", str(each.number), _of(each, sign)),
            Line(what, "meter", hit.table, -_of(each, sign)),
        ]
    if terms.kind == "fixed":
        # «Finkoa» (EUS96 L1847): the house restores it after each play
        restored = sum(_of(each, sign) for each in awards)
        taken += [Line("seed", "meter", "", restored), Line("seed", "seed", "", -restored)]
    elif before != after:
        way = 1 if after else -1
        reserve, house = hit.seed
        taken += [
            Line("seed", "meter", "", way * (reserve + house)),
            Line("seed", "reserve", "", -way * reserve),
            Line("seed", "seed", "", -way * house),
        ]
    if before != after and hit.added:
        way = 1 if after else -1
        taken += [
            Line("seed", "meter", "", way * hit.added),
            Line("seed", "house", "", -way * hit.added),
        ]
    lines = tuple(taken)
    _difference(entry, point.at, point.posted or (), lines)
    points = list(hit.points)
    points[index] = replace(point, posted=lines)
    keep(entry, replace(hit, points=tuple(points)))


def _of(award: Award, sign: int) -> int:
    return sign * (award.value or 0)


def _with(awards: Iterable[Award], changed: Iterable[Award]) -> tuple[Award, ...]:
    by_number = {each.number: each for each in changed}
    return tuple(by_number.get(each.number, each) for each in awards)


def _keep_level(entry: Entry, number: int | None, end: Cause) -> None:
    """Keep the meter within its bounds from a hit, or the last final one, to the next."""
    hit = None if number is None else by_number(entry, number)
    posted = entry.state.level if hit is None else hit.level
    terms = entry.terms_at(end)
    if terms is None:
        return
    meter = entry.held("meter", end) - _sum(posted, "meter")
    reserve = entry.held("reserve", end) - _sum(posted, "reserve")
    over = max(0, meter - terms.limit) if terms.limit is not None else 0
    lacks, reserve_lacks = max(0, -meter), max(0, -(reserve + over))
    lines = tuple(
        each
        for each in (
            Line("limit", "meter", "", -over),
            Line("limit", "reserve", "", over),
            Line("advance", "meter", "", lacks),
            Line("advance", "reserve", "", reserve_lacks),
            Line("advance", "house", "", -lacks - reserve_lacks),
        )
        if each.amount
    )
    if lines == posted:
        return
    if hit is None:
        _difference(entry, entry.state.base, posted, lines)
        entry.state = replace(entry.state, level=lines)
    else:
        _difference(entry, hit.at, posted, lines)
        keep(entry, replace(hit, level=lines))


def _sum(lines: Lines, account: Account) -> int:
    return sum(each.amount for each in lines if each.account == account)


def _difference(entry: Entry, at: Cause, posted: Lines, wanted: Lines) -> None:
    """Post what is wanted and not yet posted."""
    if posted == wanted:
        return
    every = sorted(
        [
            *((each.what, each.account, each.part, each.amount) for each in wanted),
            *((each.what, each.account, each.part, -each.amount) for each in posted),
        ]
    )
    for what, lines in groupby(every, key=lambda each: each[0]):
        entry.post(what, at, together([line[1:] for line in lines]))


def _fix_next(entry: Entry) -> bool:
    """Make the value of the first open hit final, if nothing is missing."""
    state = entry.state
    if not state.hits or state.hits[-1].fixed:
        return False
    hit, why = next(pending(state))
    if why is not None:
        return False
    keep(entry, replace(hit, fixed=True, level=()))
    entry.state = replace(entry.state, base=hit.at, level=hit.level)
    if _takes_all(hit, 1):
        begin_waiting(entry, hit.at)
    return True
