"""Hits: hands that win a share of the meter, and awards that tables withdraw.

All awards that a table reports in one play form one hit, because they are shares of the same meter:
its value before the prizes of the play (EUS96 L1859: «Jackpoten hasierako zenbatekoaren»). The
order in which the prizes of a play are paid is part of their shares already: each share is of what
the higher ones leave (docs/integrator/jackpots.md).
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
"""Number of closed awards that are remembered."""


def on_award_won(entry: EntryBuilder, fact: Won, at: Cause) -> None:
    """Add an award. Before the play has ended it belongs to the play's hit. Later it results from a
    correction: its share is still of the meter as of the hit, but it is taken now.
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
            f"{where}: {fact.hand} would take {fact.share} of the meter, which is not a valid "
            "share. Nothing is awarded; check the table's rules.",
            table,
        )
        return
    if fact.box not in round_.boxes:
        entry.add_notice(
            "award_without_bet",
            f"{where}: {fact.hand} qualifies, but no stake is known there. Nothing is awarded; "
            "check what was inserted, and what the table recorded.",
            table,
        )
        return
    if hit is not None and any(
        _is_same_award(other, fact) and _is_valid(other) for other in hit.awards
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
        first_change = hit.points[0]
        if hit.ended or hit.fixed or len(hit.points) > 1:
            points = (*hit.points, AwardChange(own=at, at=at, what="won", awards=(award.number,)))
        elif whole([other.share for other in hit.awards]) and fact.share is not None:
            entry.add_notice(
                "share_wrong",
                f"{where}: {fact.hand} would take {fact.share} of a meter of which nothing is "
                "left. Nothing is awarded; check the table's rules.",
                table,
            )
            return
        else:
            points = (replace(first_change, awards=(*first_change.awards, award.number)),)
        update_hit(entry, replace(hit, awards=(*hit.awards, award), points=points))
    entry.state = replace(entry.state, award_count=award.number)
    entry.unsettled = True


def on_award_withdrawn(entry: EntryBuilder, fact: NotWon, at: Cause) -> None:
    """Withdraw an award. A paid part becomes a claim, and nothing is posted; an unpaid award
    returns to the meter now.
    """
    table = fact.cause.table
    hits = [
        hit
        for hit in entry.state.hits
        if (hit.table, hit.session, hit.round) == (table, fact.session, fact.round)
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
            f"back {fact.hand}, but no such award is stored. Find out whether it was paid, and "
            "correct the meter with meter.adjust.",
            table,
        )


def void_hit(entry: EntryBuilder, fact: RoundVoided, at: Cause) -> None:
    """Withdraw all awards of a void round."""
    hit = _find_hit(entry, fact.cause.table, fact.session, fact.round)
    if hit is None:
        return
    for award in hit.awards:
        if _is_valid(award):
            withdraw_award(entry, hit_by_number(entry, hit.number), award, at)
    update_hit(entry, replace(hit_by_number(entry, hit.number), voided=True, ended=True))
    entry.unsettled = True


def end_play(entry: EntryBuilder, table: str, session: int, number: int) -> None:
    """Mark a hit as complete: its play has ended."""
    hit = _find_hit(entry, table, session, number)
    if hit is not None and not hit.ended:
        update_hit(entry, replace(hit, ended=True))
        entry.unsettled = True


def withdraw_award(entry: EntryBuilder, hit: Hit, award: HitAward, at: Cause) -> None:
    """Make an award invalid: a claim if it was paid in part, otherwise returned to the meter."""
    if award.paid:
        update_award(entry, hit, replace(award, claimed=True))
    else:
        return_to_meter(entry, hit, award, at)


def return_to_meter(entry: EntryBuilder, hit: Hit, award: HitAward, at: Cause) -> None:
    """Return the amount that an award has locked to the meter."""
    change = AwardChange(own=at, at=at, what="back", awards=(award.number,))
    changed = replace(award, returned=True, claimed=False, disputed=False)
    update_award(entry, replace(hit, points=(*hit.points, change)), changed)
    entry.unsettled = True


def update_award(entry: EntryBuilder, hit: Hit, award: HitAward) -> None:
    """Replace an award."""
    awards = tuple(award if other.number == award.number else other for other in hit.awards)
    update_hit(entry, replace(hit, awards=awards))


def update_hit(entry: EntryBuilder, hit: Hit) -> None:
    """Replace a hit."""
    hits = tuple(hit if other.number == hit.number else other for other in entry.state.hits)
    entry.state = replace(entry.state, hits=hits)


def hit_by_number(entry: EntryBuilder, number: int) -> Hit:
    """Return a stored hit."""
    return next(hit for hit in entry.state.hits if hit.number == number)


def forget_done_hits(entry: EntryBuilder) -> None:
    """Drop final hits whose awards are closed and not among the latest."""
    state = entry.state
    if state.award_count > MAX_REMEMBERED_AWARDS:
        last = state.award_count - MAX_REMEMBERED_AWARDS
        remaining = tuple(hit for hit in state.hits if not all(_done_conditions(hit, last)))
        if len(remaining) < len(state.hits):
            entry.state = replace(state, hits=remaining)


def _done_conditions(hit: Hit, last: int) -> Iterator[bool]:
    yield hit.fixed
    for award in hit.awards:
        yield award.number <= last
        yield award.returned or (award.paid == award.value and not award.claimed)


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
    for hit in entry.state.hits:
        if (hit.table, hit.session, hit.round) == (table, session, number) and not hit.voided:
            return hit
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
