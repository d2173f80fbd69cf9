"""What is staked, box by box or told as the sum of a play, and what goes back when a round is void.

EUS96 has both (L1853-1855): a slot per box, where each coin raises the meter before the cards come
(``coins``), and the sum that a person enters when the play has ended and its prizes are paid
(``plays``). BAL05 (L2447-2458) and ARA02 (L1396-1400) have slots.
"""

from __future__ import annotations

from msgspec.structs import replace

from controller.contract.messages.messages import ENGLISH
from subscribers.carrousel.accounts import Cause
from subscribers.carrousel.entry import EntryBuilder
from subscribers.carrousel.facts import PlayStaked, RoundVoided, Staked
from subscribers.carrousel.ledger_state import BoxStake, StakedRound, TableRecord
from subscribers.carrousel.shares import Parts, contribution
from subscribers.carrousel.terms import Terms
from subscribers.money import money

REMEMBERED_ROUNDS = 21
"""The rounds with stakes that are remembered of each table: the twenty that a table can still
correct or make void, and the one in progress. A round that is made void after more of them is a
question for persons.
"""


def on_staked(entry: EntryBuilder, fact: Staked, at: Cause) -> None:
    """A box has so much on the jackpot. Each amount that comes to it is a stake of its own. Where a
    box has less than before, all of it goes back, and what it still has is staked anew.
    """
    table = fact.cause.table
    terms = terms_for(entry, table, at)
    if terms is None:
        return
    kept = round_of(entry, table, fact.session, fact.round)
    box = kept.boxes.get(fact.box, BoxStake())
    if (objection := _objection(fact.amount, box.amount, terms)) is not None:
        entry.add_notice(
            "amount_wrong",
            f"{fact.box} at {table} in round {fact.round} of session {fact.session} has "
            f"{_format(fact.amount, terms)} on the jackpot: {objection}. The meter does not "
            "rise by it; see what was inserted, and put the table right.",
            table,
        )
        _update_round(entry, table, replace(kept, refused=True))
        return
    parts = Parts()
    if terms.entry == "coins":
        parts = box.parts
        more = fact.amount - box.amount
        if more < 0:
            entry.post_stake("stake_returned", at, table, -parts)
            parts, more = Parts(), fact.amount
        brings = contribution(more, terms)
        entry.post_stake("stake", at, table, brings)
        parts += brings
    boxes = {name: each for name, each in kept.boxes.items() if name != fact.box}
    if fact.amount:
        boxes[fact.box] = BoxStake(fact.amount, parts)
    _update_round(entry, table, replace(kept, boxes=boxes))


def on_play_staked(entry: EntryBuilder, fact: PlayStaked, at: Cause) -> None:
    """The play has ended. Where coins count as they fall, the sum must be what was counted: what
    the table proves beyond that is posted now; what it lacks is a question, and stays.
    """
    table = fact.cause.table
    terms = terms_for(entry, table, at)
    if terms is None:
        return
    kept = round_of(entry, table, fact.session, fact.round)
    counted = sum(each.amount for each in kept.boxes.values()) if terms.entry == "coins" else 0
    where = f"{table}, round {fact.round} of session {fact.session}"
    if fact.amount < 0:
        entry.add_notice(
            "amount_wrong",
            f"{where}: the play staked {_format(fact.amount, terms)}. Put the table right.",
            table,
        )
    elif kept.ended:
        entry.add_notice(
            "stakes_differ",
            f"{where}: the table reported the sum of the play again, now "
            f"{_format(fact.amount, terms)}. Only the first sum counts.",
            table,
        )
        return
    elif fact.amount < counted or (fact.amount > counted and kept.refused):
        entry.add_notice(
            "stakes_differ",
            f"{where}: {_format(counted, terms)} in coins were counted, but the table reports "
            f"{_format(fact.amount, terms)} for the play. The meter stays as the coins raised it; "
            "count the box, and correct the meter with meter.adjust.",
            table,
        )
    else:
        brings = contribution(fact.amount - counted, terms)
        entry.post_stake("stake" if terms.entry == "plays" else "stakes_told", at, table, brings)
        kept = replace(kept, told=brings)
    _update_round(entry, table, replace(kept, ended=True))


def on_round_voided(entry: EntryBuilder, fact: RoundVoided, at: Cause) -> None:
    """The stakes of a void round go back, out of where they went."""
    table = fact.cause.table
    record = entry.table(table)
    kept = _find_round(record, fact.session, fact.round)
    if kept is None:
        if (fact.session, fact.round) <= record.forgotten:
            entry.add_notice(
                "void_unknown",
                f"{table}, round {fact.round} of session {fact.session} is void, but what was "
                "staked in it is not kept any more. Give the stakes back, and put the meter right "
                "with meter.adjust.",
                table,
            )
        return
    parts = sum((each.parts for each in kept.boxes.values()), kept.told)
    entry.post_stake("stake_returned", at, table, -parts)
    entry.set_table(
        table, replace(record, rounds=tuple(each for each in record.rounds if each is not kept))
    )


def terms_for(entry: EntryBuilder, table: str, at: Cause) -> Terms | None:
    """The terms by which a table's event counts; None, with a notice, where there are none."""
    terms = entry.terms_at(at)
    if terms is None or terms.authorisation is None:
        why = "the jackpot has no authorisation"
    elif table not in terms.authorisation.tables:
        why = f"authorisation {terms.authorisation.number} does not name it"
    else:
        return terms
    entry.add_notice(
        "not_authorised",
        f"{table} plays for this jackpot, but {why}. The meter stays as it is; give the stakes "
        "back, and put the configuration right.",
        table,
    )
    return None


def round_of(entry: EntryBuilder, table: str, session: int, number: int) -> StakedRound:
    """A round of a table, if need be as yet without stakes."""
    return _find_round(entry.table(table), session, number) or StakedRound(
        session=session, round=number
    )


def _find_round(record: TableRecord, session: int, number: int) -> StakedRound | None:
    for each in record.rounds:
        if (each.session, each.round) == (session, number):
            return each
    return None


def _update_round(entry: EntryBuilder, table: str, kept: StakedRound) -> None:
    record = entry.table(table)
    others = [
        each for each in record.rounds if (each.session, each.round) != (kept.session, kept.round)
    ]
    forgotten = record.forgotten
    if len(others) == len(record.rounds) >= record.kept:
        oldest = others.pop(0)
        forgotten = max(forgotten, (oldest.session, oldest.round))
    entry.set_table(table, replace(record, rounds=(*others, kept), forgotten=forgotten))


def _objection(amount: int, before: int, terms: Terms) -> str | None:
    """Why a box cannot have this on the jackpot."""
    if amount < 0:
        return "an amount is not negative"
    if amount == 0:
        return "nothing was there that could be withdrawn" if before == 0 else None
    if terms.stake is not None and amount > terms.stake:
        return f"{_format(terms.stake, terms)} is authorised, and this is above it"
    if terms.stake is not None and amount < terms.stake:
        return f"only {_format(terms.stake, terms)} takes part"
    return None


def _format(amount: int, terms: Terms) -> str:
    """An amount, for the person who reads the notice."""
    return money(amount, terms.currency, ENGLISH)
