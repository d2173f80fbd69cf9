"""Terms and the periods in which they apply: new terms wait until the jackpot is won."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from subscribers.carrousel.accounts import END_OF_TIME, Cause
from subscribers.carrousel.entry import EntryBuilder
from subscribers.carrousel.facts import TermsGiven
from subscribers.carrousel.ledger_state import BEGINNING_OF_TIME, HitAward, JackpotLedgerState
from subscribers.carrousel.terms import Terms, find_flaws


def on_terms_given(entry: EntryBuilder, fact: TermsGiven) -> None:
    """Apply new terms of the configuration. The first terms with an authorisation open the jackpot;
    later ones begin when it is won.

    Changes that are not parameters of the game apply at once: how long a won value is shown, and
    the number and dates of an authorisation renewed with the same percentage and tables. Removing
    the authorisation takes the jackpot out of play at once.
    """
    try:
        terms = msgspec.convert(fact.terms, Terms)
        problems = find_flaws(terms)
    except msgspec.ValidationError as error:
        problems = [str(error)]
    else:
        if terms.jackpot != entry.state.jackpot:
            problems.append(f"they belong to {terms.jackpot}")
    if problems or entry.state.closed:
        entry.add_notice(
            "terms_flawed",
            f"New terms of {entry.state.jackpot} are not applied: "
            f"{'; '.join(problems) or 'it is closed'}. Correct the configuration.",
        )
        return
    state = entry.state
    position = max(Cause(time=fact.time, table="", boot="", seq=0), state.base)
    if state.terms is None:
        if terms.authorisation is None:
            entry.state = replace(state, waiting=terms, waiting_given=position)
        else:
            _open(entry, terms, position)
        return
    renewed = _renewed(state.terms, terms)
    entry.state = state = replace(
        state, terms=renewed, waiting=None, waiting_given=BEGINNING_OF_TIME
    )
    if terms == renewed:
        return
    entry.state = replace(state, waiting=terms, waiting_given=position)
    if not is_live(entry):
        _post_seed(entry, position, terms.seed - renewed.seed)
        begin_waiting(entry, END_OF_TIME)


def begin_waiting(entry: EntryBuilder, won: Cause) -> None:
    """Begin the waiting terms if they were written before the jackpot was won. They apply to
    everything that counts after what is known now.
    """
    state = entry.state
    if (
        state.waiting is None
        or state.waiting.authorisation is None
        or not state.waiting_given < won
    ):
        return
    last_position = max(
        (record.last for record in state.tables.values()), default=BEGINNING_OF_TIME
    )
    entry.state = replace(
        state,
        former=state.terms,
        terms=state.waiting,
        given=state.waiting_given,
        since=max(last_position, state.waiting_given, state.base),
        waiting=None,
        waiting_given=BEGINNING_OF_TIME,
    )


def seed_of(state: JackpotLedgerState, won: Cause) -> int:
    """Return the seed after a hit that takes the whole meter, by the terms that begin then."""
    if (
        state.waiting is not None
        and state.waiting.authorisation is not None
        and state.waiting_given < won
    ):
        return state.waiting.seed
    if state.former is not None and won <= state.given:
        return state.former.seed
    return state.terms.seed if state.terms is not None else 0


def is_live(entry: EntryBuilder) -> bool:
    """Return whether the meter differs from its seed, or an award or hit is still open."""
    terms = entry.state.terms
    return terms is not None and (
        entry.balance("meter", END_OF_TIME) != terms.seed
        or any(is_due(award) for hit in entry.state.hits for award in hit.awards)
        or any(not hit.fixed for hit in entry.state.hits)
    )


def is_due(award: HitAward) -> bool:
    """Return whether an award still has to be decided, paid or settled."""
    return not award.returned and (award.claimed or award.value is None or award.paid < award.value)


def _open(entry: EntryBuilder, terms: Terms, position: Cause) -> None:
    entry.state = replace(
        entry.state,
        terms=terms,
        given=position,
        base=position,
        waiting=None,
        waiting_given=BEGINNING_OF_TIME,
    )
    _post_seed(entry, position, terms.seed)


def _post_seed(entry: EntryBuilder, at: Cause, amount: int) -> None:
    entry.post("seed", at, {("seed", ""): -amount, ("meter", ""): amount})


def _renewed(now: Terms, new: Terms) -> Terms:
    """Return the terms in force, with the changes that apply at once."""
    old, renewed = now.authorisation, new.authorisation
    if old and renewed and (old.percentage, old.tables) == (renewed.percentage, renewed.tables):
        return replace(now, shown=new.shown, authorisation=renewed)
    return replace(now, shown=new.shown)
