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

from subscribers.carrousel.accounts import END_OF_TIME, Account, Cause
from subscribers.carrousel.entry import EntryBuilder, sum_by_account
from subscribers.carrousel.hits import forget_done_hits, hit_by_number, update_hit
from subscribers.carrousel.ledger_state import Hit, HitAward, HitPosting, HitPostings
from subscribers.carrousel.order_of_hits import pending_hits, place_hits
from subscribers.carrousel.periods import begin_waiting, seed_of
from subscribers.carrousel.shares import values, whole


def settle(entry: EntryBuilder) -> None:
    """Post what hits and bounds want by now, and make final what can be."""
    again = True
    while again:
        if entry.unsettled:
            entry.unsettled = False
            _place_hits(entry)
            _revalue(entry)
        again = entry.unsettled = _fix_next(entry)
    forget_done_hits(entry)


def _place_hits(entry: EntryBuilder) -> None:
    """Give each open hit its place. What was posted at another place is taken back there."""
    state = entry.state
    for hit in place_hits(state):
        old = hit_by_number(entry, hit.number)
        if hit.at != old.at:
            _post_difference(entry, old.at, old.level, ())
            hit = replace(hit, level=())
        points = []
        for point, was in zip(hit.points, old.points, strict=True):
            if point.at != was.at and was.posted is not None:
                _post_difference(entry, was.at, was.posted, ())
                point = replace(point, posted=None)
            points.append(point)
        update_hit(entry, replace(hit, points=tuple(points)))
    hits = sorted(entry.state.hits, key=lambda each: (not each.fixed, each.at))
    entry.state = replace(entry.state, hits=tuple(hits))


def _revalue(entry: EntryBuilder) -> None:
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
            _post_level(entry, last, at)
            last = number
            _set_meter(entry, number)
        _post_point(entry, number, index)
    _post_level(entry, last, END_OF_TIME)


def _set_meter(entry: EntryBuilder, number: int) -> None:
    """The meter as of a hit, and what the hit would want of the house and the reserve.

    The seed of the next period comes from the reserve as far as that goes, and else from the house
    (EUS96 L1849: a jackpot begins with at least 1,000 times the bet).
    """
    hit = hit_by_number(entry, number)
    terms = entry.terms_at(hit.at)
    assert terms is not None  # no hit is taken without
    meter = entry.balance("meter", hit.at)
    hit = replace(hit, meter=meter, added=max(0, terms.least - meter))
    seed = seed_of(entry.state, hit.at)
    reserve = min(seed, max(0, entry.balance("reserve", hit.at))) if _takes_all(hit, 1) else 0
    update_hit(entry, replace(hit, seed=(reserve, seed - reserve)))


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


def _post_point(entry: EntryBuilder, number: int, index: int) -> None:
    hit = hit_by_number(entry, number)
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
        hit = replace(hit, awards=_replace_awards(hit.awards, awards))
    sign = 1 if point.what == "won" else -1
    what: Literal["award", "award_returned"] = "award" if sign > 0 else "award_returned"
    taken: list[HitPosting] = []
    for each in awards:
        taken += [
            HitPosting(what, "award", str(each.number), _signed_value(each, sign)),
            HitPosting(what, "meter", hit.table, -_signed_value(each, sign)),
        ]
    if terms.kind == "fixed":
        # «Finkoa» (EUS96 L1847): the house restores it after each play
        restored = sum(_signed_value(each, sign) for each in awards)
        taken += [
            HitPosting("seed", "meter", "", restored),
            HitPosting("seed", "seed", "", -restored),
        ]
    elif before != after:
        way = 1 if after else -1
        reserve, house = hit.seed
        taken += [
            HitPosting("seed", "meter", "", way * (reserve + house)),
            HitPosting("seed", "reserve", "", -way * reserve),
            HitPosting("seed", "seed", "", -way * house),
        ]
    if before != after and hit.added:
        way = 1 if after else -1
        taken += [
            HitPosting("seed", "meter", "", way * hit.added),
            HitPosting("seed", "house", "", -way * hit.added),
        ]
    lines = tuple(taken)
    _post_difference(entry, point.at, point.posted or (), lines)
    points = list(hit.points)
    points[index] = replace(point, posted=lines)
    update_hit(entry, replace(hit, points=tuple(points)))


def _signed_value(award: HitAward, sign: int) -> int:
    return sign * (award.value or 0)


def _replace_awards(
    awards: Iterable[HitAward], changed: Iterable[HitAward]
) -> tuple[HitAward, ...]:
    hit_by_number = {each.number: each for each in changed}
    return tuple(hit_by_number.get(each.number, each) for each in awards)


def _post_level(entry: EntryBuilder, number: int | None, end: Cause) -> None:
    """Keep the meter within its bounds from a hit, or the last final one, to the next."""
    hit = None if number is None else hit_by_number(entry, number)
    posted = entry.state.level if hit is None else hit.level
    terms = entry.terms_at(end)
    if terms is None:
        return
    meter = entry.balance("meter", end) - _sum_of(posted, "meter")
    reserve = entry.balance("reserve", end) - _sum_of(posted, "reserve")
    over = max(0, meter - terms.limit) if terms.limit is not None else 0
    lacks, reserve_lacks = max(0, -meter), max(0, -(reserve + over))
    lines = tuple(
        each
        for each in (
            HitPosting("limit", "meter", "", -over),
            HitPosting("limit", "reserve", "", over),
            HitPosting("advance", "meter", "", lacks),
            HitPosting("advance", "reserve", "", reserve_lacks),
            HitPosting("advance", "house", "", -lacks - reserve_lacks),
        )
        if each.amount
    )
    if lines == posted:
        return
    if hit is None:
        _post_difference(entry, entry.state.base, posted, lines)
        entry.state = replace(entry.state, level=lines)
    else:
        _post_difference(entry, hit.at, posted, lines)
        update_hit(entry, replace(hit, level=lines))


def _sum_of(lines: HitPostings, account: Account) -> int:
    return sum(each.amount for each in lines if each.account == account)


def _post_difference(
    entry: EntryBuilder, at: Cause, posted: HitPostings, wanted: HitPostings
) -> None:
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
        entry.post(what, at, sum_by_account([line[1:] for line in lines]))


def _fix_next(entry: EntryBuilder) -> bool:
    """Make the value of the first open hit final, if nothing is missing."""
    state = entry.state
    if not state.hits or state.hits[-1].fixed:
        return False
    hit, why = next(pending_hits(state))
    if why is not None:
        return False
    update_hit(entry, replace(hit, fixed=True, level=()))
    entry.state = replace(entry.state, base=hit.at, level=hit.level)
    if _takes_all(hit, 1):
        begin_waiting(entry, hit.at)
    return True
