"""Stakes, by box or as the sum of a play, and their return if a round is void.

EUS96 has both (L1853-1855): a slot per box, where each coin raises the meter before the cards are
dealt (``coins``), and a sum that a person enters when the play has ended and its prizes are paid
(``plays``). BAL05 (L2447-2458) and ARA02 (L1396-1400) have slots.
"""

from __future__ import annotations

from msgspec.structs import replace

from common.contract.messages.messages import ENGLISH
from subscribers.carrousel.accounts import Cause
from subscribers.carrousel.entry import EntryBuilder
from subscribers.carrousel.facts import PlayStaked, RoundVoided, Staked
from subscribers.carrousel.ledger_state import BoxStake, RoundStakes, TableRecord
from subscribers.carrousel.shares import Parts, contribution
from subscribers.carrousel.terms import Terms
from subscribers.money import money

REMEMBERED_ROUNDS = 21
"""Number of rounds with stakes that are remembered per table: the twenty that a table can still
correct or void, and the one in progress. If an older round is voided, persons decide.
"""


def on_staked(entry: EntryBuilder, fact: Staked, at: Cause) -> None:
    """Post a box's stake on the jackpot. Each increase is a separate stake. If the box's stake
    decreases, all of it is returned, and the remainder is staked again.
    """
    table = fact.cause.table
    terms = terms_for(entry, table, at)
    if terms is None:
        return
    round_ = round_of(entry, table, fact.session, fact.round)
    box = round_.boxes.get(fact.box, BoxStake())
    if (objection := _objection(fact.amount, box.amount, terms)) is not None:
        entry.add_notice(
            "amount_wrong",
            f"{fact.box} at {table} in round {fact.round} of session {fact.session} has "
            f"{_format(fact.amount, terms)} on the jackpot: {objection}. The meter does not "
            "rise by it; check what was inserted, and correct the table.",
            table,
        )
        _update_round(entry, table, replace(round_, refused=True))
        return
    parts = Parts()
    if terms.entry == "coins":
        parts = box.parts
        increase = fact.amount - box.amount
        if increase < 0:
            entry.post_stake("stake_returned", at, table, -parts)
            parts, increase = Parts(), fact.amount
        parts_of_increase = contribution(increase, terms)
        entry.post_stake("stake", at, table, parts_of_increase)
        parts += parts_of_increase
    boxes = {name: stake for name, stake in round_.boxes.items() if name != fact.box}
    if fact.amount:
        boxes[fact.box] = BoxStake(fact.amount, parts)
    _update_round(entry, table, replace(round_, boxes=boxes))


def on_play_staked(entry: EntryBuilder, fact: PlayStaked, at: Cause) -> None:
    """Post the sum of a play that has ended. If coins count as they fall, the sum must equal what
    was counted: an excess is posted now; a shortfall is a question for persons, and posts nothing.
    """
    table = fact.cause.table
    terms = terms_for(entry, table, at)
    if terms is None:
        return
    round_ = round_of(entry, table, fact.session, fact.round)
    counted = sum(box.amount for box in round_.boxes.values()) if terms.entry == "coins" else 0
    where = f"{table}, round {fact.round} of session {fact.session}"
    if fact.amount < 0:
        entry.add_notice(
            "amount_wrong",
            f"{where}: the play's sum is {_format(fact.amount, terms)}. Correct the table.",
            table,
        )
    elif round_.ended:
        entry.add_notice(
            "stakes_differ",
            f"{where}: the table reported the sum of the play again, now "
            f"{_format(fact.amount, terms)}. Only the first sum counts.",
            table,
        )
        return
    elif fact.amount < counted or (fact.amount > counted and round_.refused):
        entry.add_notice(
            "stakes_differ",
            f"{where}: {_format(counted, terms)} in coins were counted, but the table reports "
            f"{_format(fact.amount, terms)} for the play. The meter stays as the coins raised it; "
            "count the box, and correct the meter with meter.adjust.",
            table,
        )
    else:
        parts = contribution(fact.amount - counted, terms)
        entry.post_stake("stake" if terms.entry == "plays" else "stakes_told", at, table, parts)
        round_ = replace(round_, reported=parts)
    _update_round(entry, table, replace(round_, ended=True))


def on_round_voided(entry: EntryBuilder, fact: RoundVoided, at: Cause) -> None:
    """Return the stakes of a void round, from the accounts they went to."""
    table = fact.cause.table
    record = entry.table(table)
    round_ = _find_round(record, fact.session, fact.round)
    if round_ is None:
        if (fact.session, fact.round) <= record.forgotten:
            entry.add_notice(
                "void_unknown",
                f"{table}, round {fact.round} of session {fact.session} is void, but its "
                "stakes are no longer stored. Give the stakes back, and correct the meter with "
                "meter.adjust.",
                table,
            )
        return
    parts = sum((box.parts for box in round_.boxes.values()), round_.reported)
    entry.post_stake("stake_returned", at, table, -parts)
    entry.set_table(
        table,
        replace(record, rounds=tuple(other for other in record.rounds if other is not round_)),
    )


def terms_for(entry: EntryBuilder, table: str, at: Cause) -> Terms | None:
    """Return the terms by which a table's event counts; None, with a notice, if no terms apply."""
    terms = entry.terms_at(at)
    if terms is None or terms.authorisation is None:
        why = "the jackpot has no authorisation"
    elif table not in terms.authorisation.tables:
        why = f"authorisation {terms.authorisation.number} does not name it"
    else:
        return terms
    entry.add_notice(
        "not_authorised",
        f"{table} plays for this jackpot, but {why}. The meter is unchanged; give the stakes "
        "back, and correct the configuration.",
        table,
    )
    return None


def round_of(entry: EntryBuilder, table: str, session: int, number: int) -> RoundStakes:
    """Return a round of a table; an empty one if it has no stakes yet."""
    return _find_round(entry.table(table), session, number) or RoundStakes(
        session=session, round=number
    )


def _find_round(record: TableRecord, session: int, number: int) -> RoundStakes | None:
    for round_ in record.rounds:
        if (round_.session, round_.round) == (session, number):
            return round_
    return None


def _update_round(entry: EntryBuilder, table: str, round_: RoundStakes) -> None:
    record = entry.table(table)
    others = [
        other
        for other in record.rounds
        if (other.session, other.round) != (round_.session, round_.round)
    ]
    forgotten = record.forgotten
    if len(others) == len(record.rounds) >= record.kept:
        oldest = others.pop(0)
        forgotten = max(forgotten, (oldest.session, oldest.round))
    entry.set_table(table, replace(record, rounds=(*others, round_), forgotten=forgotten))


def _objection(amount: int, before: int, terms: Terms) -> str | None:
    """Return why a box cannot have this stake on the jackpot, or None."""
    if amount < 0:
        return "the amount is negative"
    if amount == 0:
        return "there was no stake to withdraw" if before == 0 else None
    if terms.stake is not None and amount > terms.stake:
        return f"{_format(terms.stake, terms)} is the authorised stake, and this is more"
    if terms.stake is not None and amount < terms.stake:
        return f"the authorised stake is {_format(terms.stake, terms)}"
    return None


def _format(amount: int, terms: Terms) -> str:
    return money(amount, terms.currency, ENGLISH)
