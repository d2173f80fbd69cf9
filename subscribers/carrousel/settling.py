"""Values of awards, recalculated whenever an earlier event arrives, until they are final.

Each hit takes its shares of the meter as of the hit. Only the difference between what should be
posted for it and what was posted is posted: the ledger is never rewritten. So its balances do not
depend on the order in which the tables' events arrive.

Between two hits the meter stays within its bounds: an excess over its limit goes to the reserve,
and the house advances what it lacks if stakes are returned that an award has already taken. Both
depend only on what counts between the two hits, so later events undo them where necessary.
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
    """Post what hits and bounds require now, and make final what can be."""
    unfinished = True
    while unfinished:
        if entry.unsettled:
            entry.unsettled = False
            _place_hits(entry)
            _revalue(entry)
        unfinished = entry.unsettled = _fix_next(entry)
    forget_done_hits(entry)


def _place_hits(entry: EntryBuilder) -> None:
    """Assign each open hit its position. Postings at its former position are reversed there."""
    state = entry.state
    for hit in place_hits(state):
        before = hit_by_number(entry, hit.number)
        if hit.at != before.at:
            _post_difference(entry, before.at, before.level, ())
            hit = replace(hit, level=())
        points = []
        for point, former in zip(hit.points, before.points, strict=True):
            if point.at != former.at and former.posted is not None:
                _post_difference(entry, former.at, former.posted, ())
                point = replace(point, posted=None)
            points.append(point)
        update_hit(entry, replace(hit, points=tuple(points)))
    hits = sorted(entry.state.hits, key=lambda item: (not item.fixed, item.at))
    entry.state = replace(entry.state, hits=tuple(hits))


def _revalue(entry: EntryBuilder) -> None:
    """Recalculate everything open, in the order in which it counts."""
    steps = sorted(
        (point.at, hit.number, index)
        for hit in entry.state.hits
        for index, point in enumerate(hit.points)
        if not hit.fixed or point.posted is None
    )
    previous: int | None = None
    for at, number, index in steps:
        if index == 0:
            _post_level(entry, previous, at)
            previous = number
            _set_meter(entry, number)
        _post_point(entry, number, index)
    _post_level(entry, previous, END_OF_TIME)


def _set_meter(entry: EntryBuilder, number: int) -> None:
    """Set the meter as of a hit, and the amounts required from the house and the reserve.

    The seed of the next period comes from the reserve as far as possible, otherwise from the house
    (EUS96 L1849: a jackpot begins with at least 1,000 times the bet).
    """
    hit = hit_by_number(entry, number)
    terms = entry.terms_at(hit.at)
    assert terms is not None  # on_award_won() has checked
    meter = entry.balance("meter", hit.at)
    hit = replace(hit, meter=meter, added=max(0, terms.least - meter))
    seed = seed_of(entry.state, hit.at)
    reserve = min(seed, max(0, entry.balance("reserve", hit.at))) if _takes_all(hit, 1) else 0
    update_hit(entry, replace(hit, seed=(reserve, seed - reserve)))


def _takes_all(hit: Hit, points: int) -> bool:
    """Return whether the awards after the first ``points`` changes take the whole meter: by their
    shares, or because persons have assigned all of it to awards without a share.
    """
    numbers: set[int] = set()
    for point in hit.points[:points]:
        if point.what == "won":
            numbers.update(point.awards)
        else:
            numbers.difference_update(point.awards)
    awards = [award for award in hit.awards if award.number in numbers]
    if whole([award.share for award in awards]):
        return True
    decided = any(award.share is None and award.value for award in awards)
    return decided and sum(award.value or 0 for award in awards) >= hit.meter


def _post_point(entry: EntryBuilder, number: int, index: int) -> None:
    hit = hit_by_number(entry, number)
    point = hit.points[index]
    terms = entry.terms_at(hit.at)
    assert terms is not None
    before, after = _takes_all(hit, index), _takes_all(hit, index + 1)
    awards = [award for award in hit.awards if award.number in point.awards]
    if point.what == "won":
        worth = hit.meter + hit.added if after else hit.meter
        shares_ = [award.share for award in awards if award.share is not None]
        share_values = iter(values(shares_, worth, first=terms.remainder == "first"))
        awards = [
            award if award.share is None else replace(award, value=next(share_values))
            for award in awards
        ]
        hit = replace(hit, awards=_replace_awards(hit.awards, awards))
    sign = 1 if point.what == "won" else -1
    kind: Literal["award", "award_returned"] = "award" if sign > 0 else "award_returned"
    postings: list[HitPosting] = []
    for award in awards:
        postings += [
            HitPosting(kind, "award", str(award.number), _signed_value(award, sign)),
            HitPosting(kind, "meter", hit.table, -_signed_value(award, sign)),
        ]
    if terms.kind == "fixed":
        # «Finkoa» (EUS96 L1847): the house restores it after each play
        restored = sum(_signed_value(award, sign) for award in awards)
        postings += [
            HitPosting("seed", "meter", "", restored),
            HitPosting("seed", "seed", "", -restored),
        ]
    elif before != after:
        direction = 1 if after else -1
        reserve, house = hit.seed
        postings += [
            HitPosting("seed", "meter", "", direction * (reserve + house)),
            HitPosting("seed", "reserve", "", -direction * reserve),
            HitPosting("seed", "seed", "", -direction * house),
        ]
    if before != after and hit.added:
        direction = 1 if after else -1
        postings += [
            HitPosting("seed", "meter", "", direction * hit.added),
            HitPosting("seed", "house", "", -direction * hit.added),
        ]
    posted = tuple(postings)
    _post_difference(entry, point.at, point.posted or (), posted)
    points = list(hit.points)
    points[index] = replace(point, posted=posted)
    update_hit(entry, replace(hit, points=tuple(points)))


def _signed_value(award: HitAward, sign: int) -> int:
    return sign * (award.value or 0)


def _replace_awards(
    awards: Iterable[HitAward], changed: Iterable[HitAward]
) -> tuple[HitAward, ...]:
    by_number = {award.number: award for award in changed}
    return tuple(by_number.get(award.number, award) for award in awards)


def _post_level(entry: EntryBuilder, number: int | None, end: Cause) -> None:
    """Keep the meter within its bounds from a hit, or from the last final one, to the next."""
    hit = None if number is None else hit_by_number(entry, number)
    posted = entry.state.level if hit is None else hit.level
    terms = entry.terms_at(end)
    if terms is None:
        return
    meter = entry.balance("meter", end) - _sum_of(posted, "meter")
    reserve = entry.balance("reserve", end) - _sum_of(posted, "reserve")
    excess = max(0, meter - terms.limit) if terms.limit is not None else 0
    shortage, reserve_shortage = max(0, -meter), max(0, -(reserve + excess))
    wanted = tuple(
        posting
        for posting in (
            HitPosting("limit", "meter", "", -excess),
            HitPosting("limit", "reserve", "", excess),
            HitPosting("advance", "meter", "", shortage),
            HitPosting("advance", "reserve", "", reserve_shortage),
            HitPosting("advance", "house", "", -shortage - reserve_shortage),
        )
        if posting.amount
    )
    if wanted == posted:
        return
    if hit is None:
        _post_difference(entry, entry.state.base, posted, wanted)
        entry.state = replace(entry.state, level=wanted)
    else:
        _post_difference(entry, hit.at, posted, wanted)
        update_hit(entry, replace(hit, level=wanted))


def _sum_of(postings: HitPostings, account: Account) -> int:
    return sum(posting.amount for posting in postings if posting.account == account)


def _post_difference(
    entry: EntryBuilder, at: Cause, posted: HitPostings, wanted: HitPostings
) -> None:
    """Post what is wanted and not yet posted."""
    if posted == wanted:
        return
    changes = sorted(
        [
            *((posting.what, posting.account, posting.part, posting.amount) for posting in wanted),
            *((posting.what, posting.account, posting.part, -posting.amount) for posting in posted),
        ]
    )
    for kind, group in groupby(changes, key=lambda posting: posting[0]):
        entry.post(kind, at, sum_by_account([change[1:] for change in group]))


def _fix_next(entry: EntryBuilder) -> bool:
    """Make the value of the first open hit final if nothing is missing."""
    state = entry.state
    if not state.hits or state.hits[-1].fixed:
        return False
    hit, reason = next(pending_hits(state))
    if reason is not None:
        return False
    update_hit(entry, replace(hit, fixed=True, level=()))
    entry.state = replace(entry.state, base=hit.at, level=hit.level)
    if _takes_all(hit, 1):
        begin_waiting(entry, hit.at)
    return True
