"""The book of a jackpot for some days of play: per table what was staked, by what the meter rose
and fell, what stayed with the house, each award and each payment; the meter before and after, and
that both agree.

EUS96 wants it in the table's book: «Sariak banatu ondoren, ordaindutako zenbatekoak mahaiaren
kontabilitate-liburuan jaso beharko dira, eta bisorean dagokion kenkaria» (L1673, likewise L1863).

A posting belongs to the day in which its event counts (``at``), not to that in which the controller
heard of it; so a statement says what was heard after the days had ended.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import date, datetime
from typing import get_args

import msgspec

from controller.contract.node import Checkpoint
from subscribers.carrousel.awards import AwardDetails, find_awards
from subscribers.carrousel.entry import TransactionKind
from subscribers.carrousel.facts import TermsGiven
from subscribers.carrousel.payments import AwardPayment, read_payments
from subscribers.carrousel.reading import LedgerReader, read_fact
from subscribers.carrousel.schema import LedgerError, PostingRow
from subscribers.carrousel.terms import Terms
from subscribers.days import on_wire

STAKE_KINDS = ("stake", "stake_returned", "stakes_told", "gap")
"""What is posted for what players staked."""


class AccountSums(msgspec.Struct):
    """What went into each account; ``stakes``: what players staked."""

    stakes: int = 0
    meter: int = 0
    reserve: int = 0
    house: int = 0


class TableTotals(msgspec.Struct, kw_only=True):
    """A table. What is staked there is the sum of the rise, the reserve and the house's part."""

    table: str
    stakes: int = 0
    rise: int = 0
    reserve: int = 0
    house: int = 0
    awarded: int = 0
    """What awards took of the meter, less what came back."""
    paid: int = 0


class AwardTotals(msgspec.Struct, frozen=True, kw_only=True):
    """An award that something was posted for, or paid of."""

    of: AwardDetails
    locked: int
    """What was put to it, less what was taken back, in these days."""
    value: int
    """What it is worth at their end."""
    paid: int
    """What had been paid of it by then."""
    payments: tuple[AwardPayment, ...]
    """Those of these days."""


class JackpotStatement(msgspec.Struct, frozen=True, kw_only=True):
    """The days ``first`` to ``last`` of a jackpot, from ``begin`` on, before ``end``."""

    jackpot: str
    terms: Terms | None
    """As they were written last before the end; None: there were none."""
    first: date
    last: date
    begin: datetime
    end: datetime
    before: AccountSums
    """What meter and reserve held at the beginning."""
    movements: dict[str, AccountSums]
    """By what was posted."""
    after: AccountSums
    """What they held at the end."""
    tables: tuple[TableTotals, ...]
    awards: tuple[AwardTotals, ...]
    late: int
    """Postings that were written only after the days had ended."""
    ledger: str
    position: int
    """The last entry of the ledger, up to which this statement goes."""
    hash: str
    checkpoint: Checkpoint | None
    """The last one that was signed and that the ledger holds; None: there is none."""

    @property
    def currency(self) -> str:
        """ISO 4217."""
        return "" if self.terms is None else self.terms.currency

    @property
    def balances(self) -> bool:
        """Whether beginning and movements are the end."""
        return all(
            getattr(self.before, name)
            + sum(getattr(each, name) for each in self.movements.values())
            == getattr(self.after, name)
            for name in ("meter", "reserve")
        )


_BALANCES_QUERY = (
    "SELECT account, sum(amount) FROM posting WHERE account IN ('meter', 'reserve') "
    "AND jackpot = ? AND at_time < ? GROUP BY account"
)
_POSTINGS_QUERY = (
    "SELECT posting.*, entry.time FROM posting JOIN entry USING (position) "
    "WHERE posting.jackpot = ? AND at_time >= ? AND at_time < ? ORDER BY position, line"
)
_TERMS_QUERY = (
    "SELECT fact FROM entry WHERE jackpot = ? AND time < ? AND cause_table IS NULL "
    """AND CAST(fact AS TEXT) LIKE '{"fact":"terms_given"%' ORDER BY position"""
)
_AWARDS_QUERY = (  # all at once: each look goes through the whole ledger
    "SELECT CAST(part AS INTEGER), account, sum(amount) FROM posting WHERE jackpot = ? AND "
    "at_time < ? AND (account = 'award' AND what IN ('award', 'award_returned') OR "
    "account = 'paid' AND what IN ('payment', 'claim')) GROUP BY part, account"
)


def build_statement(
    file: LedgerReader, jackpot: str, first: date, last: date, begin: datetime, end: datetime
) -> JackpotStatement:
    """The statement of these days. Raises :class:`LedgerError` if there is no such jackpot."""
    since, until = on_wire(begin), on_wire(end)
    terms = terms_before(file, jackpot, until)
    movements: defaultdict[str, AccountSums] = defaultdict(AccountSums)
    tables: defaultdict[str, AccountSums] = defaultdict(AccountSums)
    awarded: defaultdict[str, int] = defaultdict(int)
    locked: defaultdict[int, int] = defaultdict(int)
    late = 0
    for position, *columns, written in file.connection.execute(
        _POSTINGS_QUERY, (jackpot, since, until)
    ):
        del position
        line = PostingRow(*columns)
        late += written >= until
        _add(movements[line.what], line)
        if line.what in STAKE_KINDS:
            _add(tables[line.part], line)
        elif line.what in ("award", "award_returned") and line.account == "meter":
            awarded[line.part] -= line.amount
        if line.account in ("award", "paid"):
            locked[int(line.part)] += line.amount if line.what in AWARD_KINDS else 0
    paid = [each for each in read_payments(file, jackpot) if since <= each.at < until]
    numbers = locked.keys() | {each.award for each in paid}
    known = find_awards(file, jackpot, set(numbers)) if numbers else {}
    put_to = _award_sums(file, jackpot, until)
    paid_at: defaultdict[str, int] = defaultdict(int)
    for each in paid:
        paid_at[known[each.award].table] += each.amount
    return JackpotStatement(
        jackpot=jackpot,
        terms=terms,
        first=first,
        last=last,
        begin=begin,
        end=end,
        before=_read_balances(file, jackpot, since),
        movements={what: movements[what] for what in sorted(movements, key=_kind_order)},
        after=_read_balances(file, jackpot, until),
        tables=tuple(
            TableTotals(
                table=table,
                stakes=tables[table].stakes,
                rise=tables[table].meter,
                reserve=tables[table].reserve,
                house=tables[table].house,
                awarded=awarded[table],
                paid=paid_at[table],
            )
            for table in sorted({*tables, *awarded, *paid_at, *_tables(terms)})
        ),
        awards=tuple(
            AwardTotals(
                of=known[number],
                locked=locked[number],
                value=put_to[number, "award"],
                paid=put_to[number, "paid"],
                payments=tuple(each for each in paid if each.award == number),
            )
            for number in sorted(numbers)
        ),
        late=late,
        ledger=file.id,
        position=file.head.position,
        hash=file.head.hash.hex(),
        checkpoint=file.kept if _is_confirmed(file, file.kept) else None,
    )


def _kind_order(what: str) -> tuple[int, str]:
    """Stakes first, as the accounts list them; what only a newer release posts comes last."""
    known: tuple[str, ...] = get_args(TransactionKind)
    return (known.index(what) if what in known else len(known)), what


AWARD_KINDS = ("award", "award_returned")
"""What puts money to an award, and takes it back."""


def _add(sums: AccountSums, line: PostingRow) -> None:
    match line.account:
        case "stakes":
            sums.stakes -= line.amount
        case "meter":
            sums.meter += line.amount
        case "reserve":
            sums.reserve += line.amount
        case "house" | "seed":
            sums.house += line.amount


def _read_balances(file: LedgerReader, jackpot: str, before: str) -> AccountSums:
    found = dict(file.connection.execute(_BALANCES_QUERY, (jackpot, before)).fetchall())
    return AccountSums(meter=found.get("meter", 0), reserve=found.get("reserve", 0))


def _award_sums(file: LedgerReader, jackpot: str, before: str) -> defaultdict[tuple[int, str], int]:
    """The value of each award, and what was paid of it, by its number and account."""
    found: defaultdict[tuple[int, str], int] = defaultdict(int)
    for number, account, amount in file.connection.execute(_AWARDS_QUERY, (jackpot, before)):
        found[number, account] = amount
    return found


def terms_before(file: LedgerReader, jackpot: str, before: str) -> Terms | None:
    """The terms that were written last before a time. Raises :class:`LedgerError` if there is no
    such jackpot.
    """
    check_jackpot(file, jackpot)
    found: Terms | None = None
    for (body,) in file.connection.execute(_TERMS_QUERY, (jackpot, before)):
        fact = read_fact(body)
        found = _decode_terms(fact, found) if isinstance(fact, TermsGiven) else found
    return found


def _decode_terms(fact: TermsGiven, before: Terms | None) -> Terms | None:
    try:
        return msgspec.convert(fact.terms, Terms)
    except msgspec.ValidationError:  # they were not taken either
        return before


def check_jackpot(file: LedgerReader, jackpot: str) -> None:
    """Raise :class:`LedgerError` if the ledger has no such jackpot."""
    rows = file.connection.execute("SELECT DISTINCT jackpot FROM entry ORDER BY jackpot")
    names = [name for (name,) in rows]
    if jackpot not in names:
        raise LedgerError(
            f"{file.path}: there is no jackpot {jackpot}; there is: {', '.join(names) or 'none'}"
        )


def _tables(terms: Terms | None) -> Iterable[str]:
    given = None if terms is None else terms.authorisation
    return () if given is None else given.tables


def _is_confirmed(file: LedgerReader, checkpoint: Checkpoint | None) -> bool:
    if checkpoint is None or checkpoint.journal != file.id:
        return False
    there = file.hash_at(checkpoint.position)
    return there is not None and there.hex() == checkpoint.hash
