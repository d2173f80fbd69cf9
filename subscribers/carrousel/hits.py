"""Hits: hands that take a part of the meter, and tables that take one back.

All awards that a table qualifies in one play are one hit, for they are shares of the same meter:
what it held before the prizes of the play (EUS96 L1859: «Jackpoten hasierako zenbatekoaren»). In
which order the prizes of a play are paid is in the shares already: what the highest leaves is what
the next is a share of (docs/integrator/mqtt.md).
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from subscribers.carrousel.accounts import Cause
from subscribers.carrousel.entry import Entry
from subscribers.carrousel.facts import NotWon, RoundVoided, Won
from subscribers.carrousel.ledger_state import Award, Hit, Point
from subscribers.carrousel.shares import is_share, whole
from subscribers.carrousel.stakes import authorised, found

LAST = 25
"""The awards that are remembered when they are done."""


def won(entry: Entry, fact: Won, at: Cause) -> None:
    """A hand qualifies. Before the play has ended it belongs to the hit of the play. After that it
    comes of a correction: its share is still of the meter as of the hit, and it takes it now.
    """
    table = fact.cause.table
    if authorised(entry, table, at) is None:
        return
    where = f"{fact.box} at {table}, round {fact.round} of session {fact.session}"
    hit = _hit(entry, table, fact.session, fact.round)
    round_ = found(entry, table, fact.session, fact.round)
    if not is_share(fact.share):
        entry.notice(
            "share_wrong",
            f"{where}: {fact.hand} would take {fact.share} of the meter, which is no part of it. "
            "Nothing is awarded; see the table's rules.",
            table,
        )
        return
    if fact.box not in round_.boxes:
        entry.notice(
            "award_without_bet",
            f"{where}: {fact.hand} qualifies, but nothing is known to be staked there. Nothing is "
            "awarded; see what was inserted, and what the table recorded.",
            table,
        )
        return
    if hit is not None and any(_same(each, fact) and _stands(each) for each in hit.awards):
        entry.notice(
            "award_twice",
            f"{where}: {fact.hand} qualified already. It is awarded once.",
            table,
        )
        return
    award = Award(
        number=entry.state.award_count + 1,
        box=fact.box,
        hand=fact.hand,
        cards=fact.cards,
        time=fact.cause.time,
        share=fact.share,
    )
    if hit is None:
        _add_hit(entry, fact, at, award, ended=round_.ended)
    else:
        first = hit.points[0]
        if hit.ended or hit.fixed or len(hit.points) > 1:
            points = (*hit.points, Point(own=at, at=at, what="won", awards=(award.number,)))
        elif whole([each.share for each in hit.awards]) and fact.share is not None:
            entry.notice(
                "share_wrong",
                f"{where}: {fact.hand} would take {fact.share} of a meter of which nothing is "
                "left. Nothing is awarded; see the table's rules.",
                table,
            )
            return
        else:
            points = (replace(first, awards=(*first.awards, award.number)),)
        keep(entry, replace(hit, awards=(*hit.awards, award), points=points))
    entry.state = replace(entry.state, award_count=award.number)
    entry.unsettled = True


def not_won(entry: Entry, fact: NotWon, at: Cause) -> None:
    """The table takes an award back. What was paid of it becomes a claim, and nothing moves; what
    was not goes back to the meter, from now on.
    """
    table = fact.cause.table
    hits = [
        each
        for each in entry.state.hits
        if (each.table, each.session, each.round) == (table, fact.session, fact.round)
    ]
    for hit in reversed(hits):
        for award in reversed(hit.awards):
            if _same(award, fact) and _stands(award):
                take_back(entry, hit, award, at)
                return
    if not any(_same(award, fact) for hit in hits for award in hit.awards):
        entry.notice(
            "award_unknown",
            f"{fact.box} at {table}, round {fact.round} of session {fact.session}: the table takes "
            f"back {fact.hand}, but no such award is kept. See whether it was paid, and put the "
            "meter right with meter.adjust.",
            table,
        )


def voided(entry: Entry, fact: RoundVoided, at: Cause) -> None:
    """A void round has no awards."""
    hit = _hit(entry, fact.cause.table, fact.session, fact.round)
    if hit is None:
        return
    for award in hit.awards:
        if _stands(award):
            take_back(entry, by_number(entry, hit.number), award, at)
    keep(entry, replace(by_number(entry, hit.number), voided=True, ended=True))
    entry.unsettled = True


def ended(entry: Entry, table: str, session: int, number: int) -> None:
    """The play has ended: its hit is whole."""
    hit = _hit(entry, table, session, number)
    if hit is not None and not hit.ended:
        keep(entry, replace(hit, ended=True))
        entry.unsettled = True


def take_back(entry: Entry, hit: Hit, award: Award, at: Cause) -> None:
    """An award does not stand any more."""
    if award.paid:
        keep_award(entry, hit, replace(award, claimed=True))
    else:
        give_back(entry, hit, award, at)


def give_back(entry: Entry, hit: Hit, award: Award, at: Cause) -> None:
    """What an award has locked goes back to the meter."""
    back = Point(own=at, at=at, what="back", awards=(award.number,))
    changed = replace(award, returned=True, claimed=False, disputed=False)
    keep_award(entry, replace(hit, points=(*hit.points, back)), changed)
    entry.unsettled = True


def keep_award(entry: Entry, hit: Hit, award: Award) -> None:
    """Remember an award as it is now."""
    awards = tuple(award if each.number == award.number else each for each in hit.awards)
    keep(entry, replace(hit, awards=awards))


def keep(entry: Entry, hit: Hit) -> None:
    """Remember a hit as it is now."""
    hits = tuple(hit if each.number == hit.number else each for each in entry.state.hits)
    entry.state = replace(entry.state, hits=hits)


def by_number(entry: Entry, number: int) -> Hit:
    """A hit that is kept."""
    return next(each for each in entry.state.hits if each.number == number)


def forget(entry: Entry) -> None:
    """Forget final hits whose awards are done and not among the last."""
    state = entry.state
    if state.award_count > LAST:
        last = state.award_count - LAST
        kept = tuple(each for each in state.hits if not all(_done(each, last)))
        if len(kept) < len(state.hits):
            entry.state = replace(state, hits=kept)


def _done(hit: Hit, last: int) -> Iterator[bool]:
    yield hit.fixed
    for each in hit.awards:
        yield each.number <= last
        yield each.returned or (each.paid == each.value and not each.claimed)


def _add_hit(entry: Entry, fact: Won, at: Cause, award: Award, *, ended: bool) -> None:
    number = entry.state.hit_count + 1
    hit = Hit(
        number=number,
        table=fact.cause.table,
        boot=fact.cause.boot,
        session=fact.session,
        round=fact.round,
        time=fact.cause.time,
        time_bound=fact.time_bound,
        awards=(award,),
        points=(Point(own=at, at=at, what="won", awards=(award.number,)),),
        ended=ended,
    )
    entry.state = replace(entry.state, hits=(*entry.state.hits, hit), hit_count=number)


def _hit(entry: Entry, table: str, session: int, number: int) -> Hit | None:
    for each in entry.state.hits:
        if (each.table, each.session, each.round) == (table, session, number) and not each.voided:
            return each
    return None


def _same(award: Award, fact: Won | NotWon) -> bool:
    return (award.box, award.hand, award.cards, award.share) == (
        fact.box,
        fact.hand,
        fact.cards,
        fact.share,
    )


def _stands(award: Award) -> bool:
    return not award.returned and not award.claimed
