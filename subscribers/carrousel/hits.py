"""Hits: hands that take a part of the meter, and tables that take one back.

All awards that a table qualifies in one play are one hit, for they are shares of the same meter:
what it held before the prizes of the play (EUS96 L1859: «Jackpoten hasierako zenbatekoaren»). In
which order the prizes of a play are paid is in the shares already: what the highest leaves is what
the next is a share of (docs/integrator/jackpots.md).
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from subscribers.carrousel.accounts import Cause
from subscribers.carrousel.entry import EntryBuilder
from subscribers.carrousel.facts import NotWon, RoundVoided, Won
from subscribers.carrousel.ledger_state import AwardChange, Hit, HitAward
from subscribers.carrousel.shares import is_share, whole
from subscribers.carrousel.stakes import round_of, terms_for

MAX_REMEMBERED_AWARDS = 25
"""The awards that are remembered when they are done."""


def on_award_won(entry: EntryBuilder, fact: Won, at: Cause) -> None:
    """A hand qualifies. Before the play has ended it belongs to the hit of the play. After that it
    comes of a correction: its share is still of the meter as of the hit, and it takes it now.
    """
    table = fact.cause.table
    if terms_for(entry, table, at) is None:
        return
    where = f"{fact.box} at {table}, round {fact.round} of session {fact.session}"
    hit = _find_hit(entry, table, fact.session, fact.round)
    round_ = round_of(entry, table, fact.session, fact.round)
    if not is_share(fact.share):
        entry.add_notice(
            "share_wrong",
            f"{where}: {fact.hand} would take {fact.share} of the meter, which is no part of it. "
            "Nothing is awarded; see the table's rules.",
            table,
        )
        return
    if fact.box not in round_.boxes:
        entry.add_notice(
            "award_without_bet",
            f"{where}: {fact.hand} qualifies, but nothing is known to be staked there. Nothing is "
            "awarded; see what was inserted, and what the table recorded.",
            table,
        )
        return
    if hit is not None and any(
        _is_same_award(each, fact) and _is_valid(each) for each in hit.awards
    ):
        entry.add_notice(
            "award_twice",
            f"{where}: {fact.hand} qualified already. It is awarded once.",
            table,
        )
        return
    award = HitAward(
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
            points = (*hit.points, AwardChange(own=at, at=at, what="won", awards=(award.number,)))
        elif whole([each.share for each in hit.awards]) and fact.share is not None:
            entry.add_notice(
                "share_wrong",
                f"{where}: {fact.hand} would take {fact.share} of a meter of which nothing is "
                "left. Nothing is awarded; see the table's rules.",
                table,
            )
            return
        else:
            points = (replace(first, awards=(*first.awards, award.number)),)
        update_hit(entry, replace(hit, awards=(*hit.awards, award), points=points))
    entry.state = replace(entry.state, award_count=award.number)
    entry.unsettled = True


def on_award_withdrawn(entry: EntryBuilder, fact: NotWon, at: Cause) -> None:
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
            if _is_same_award(award, fact) and _is_valid(award):
                withdraw_award(entry, hit, award, at)
                return
    if not any(_is_same_award(award, fact) for hit in hits for award in hit.awards):
        entry.add_notice(
            "award_unknown",
            f"{fact.box} at {table}, round {fact.round} of session {fact.session}: the table takes "
            f"back {fact.hand}, but no such award is kept. See whether it was paid, and put the "
            "meter right with meter.adjust.",
            table,
        )


def void_hit(entry: EntryBuilder, fact: RoundVoided, at: Cause) -> None:
    """A void round has no awards."""
    hit = _find_hit(entry, fact.cause.table, fact.session, fact.round)
    if hit is None:
        return
    for award in hit.awards:
        if _is_valid(award):
            withdraw_award(entry, hit_by_number(entry, hit.number), award, at)
    update_hit(entry, replace(hit_by_number(entry, hit.number), voided=True, ended=True))
    entry.unsettled = True


def end_play(entry: EntryBuilder, table: str, session: int, number: int) -> None:
    """The play has ended: its hit is whole."""
    hit = _find_hit(entry, table, session, number)
    if hit is not None and not hit.ended:
        update_hit(entry, replace(hit, ended=True))
        entry.unsettled = True


def withdraw_award(entry: EntryBuilder, hit: Hit, award: HitAward, at: Cause) -> None:
    """An award does not stand any more."""
    if award.paid:
        update_award(entry, hit, replace(award, claimed=True))
    else:
        return_to_meter(entry, hit, award, at)


def return_to_meter(entry: EntryBuilder, hit: Hit, award: HitAward, at: Cause) -> None:
    """What an award has locked goes back to the meter."""
    back = AwardChange(own=at, at=at, what="back", awards=(award.number,))
    changed = replace(award, returned=True, claimed=False, disputed=False)
    update_award(entry, replace(hit, points=(*hit.points, back)), changed)
    entry.unsettled = True


def update_award(entry: EntryBuilder, hit: Hit, award: HitAward) -> None:
    """Remember an award as it is now."""
    awards = tuple(award if each.number == award.number else each for each in hit.awards)
    update_hit(entry, replace(hit, awards=awards))


def update_hit(entry: EntryBuilder, hit: Hit) -> None:
    """Remember a hit as it is now."""
    hits = tuple(hit if each.number == hit.number else each for each in entry.state.hits)
    entry.state = replace(entry.state, hits=hits)


def hit_by_number(entry: EntryBuilder, number: int) -> Hit:
    """A hit that is kept."""
    return next(each for each in entry.state.hits if each.number == number)


def forget_done_hits(entry: EntryBuilder) -> None:
    """Forget final hits whose awards are done and not among the last."""
    state = entry.state
    if state.award_count > MAX_REMEMBERED_AWARDS:
        last = state.award_count - MAX_REMEMBERED_AWARDS
        kept = tuple(each for each in state.hits if not all(_done_conditions(each, last)))
        if len(kept) < len(state.hits):
            entry.state = replace(state, hits=kept)


def _done_conditions(hit: Hit, last: int) -> Iterator[bool]:
    yield hit.fixed
    for each in hit.awards:
        yield each.number <= last
        yield each.returned or (each.paid == each.value and not each.claimed)


def _add_hit(entry: EntryBuilder, fact: Won, at: Cause, award: HitAward, *, ended: bool) -> None:
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
        points=(AwardChange(own=at, at=at, what="won", awards=(award.number,)),),
        ended=ended,
    )
    entry.state = replace(entry.state, hits=(*entry.state.hits, hit), hit_count=number)


def _find_hit(entry: EntryBuilder, table: str, session: int, number: int) -> Hit | None:
    for each in entry.state.hits:
        if (each.table, each.session, each.round) == (table, session, number) and not each.voided:
            return each
    return None


def _is_same_award(award: HitAward, fact: Won | NotWon) -> bool:
    return (award.box, award.hand, award.cards, award.share) == (
        fact.box,
        fact.hand,
        fact.cards,
        fact.share,
    )


def _is_valid(award: HitAward) -> bool:
    return not award.returned and not award.claimed
