"""Statement of a jackpot for a range of gaming days: stakes, rise and house part per table, each
award and each payment, and the meter before and after, which must agree.

EUS96 requires it in the table's book: «Sariak banatu ondoren, ordaindutako zenbatekoak mahaiaren
kontabilitate-liburuan jaso beharko dira, eta bisorean dagokion kenkaria» (L1673, likewise L1863).

A posting belongs to the day in which its event counts (``at``), not to the day in which the
controller received it. So a statement also reports what was received after its days had ended.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import date, datetime
from typing import get_args

import msgspec

from common.contract.node import Checkpoint
from common.days import on_wire
from subscribers.carrousel.awards import AwardDetails, find_awards
from subscribers.carrousel.entry import TransactionKind
from subscribers.carrousel.facts import TermsGiven
from subscribers.carrousel.payments import AwardPayment, read_payments
from subscribers.carrousel.reading import LedgerReader, read_fact
from subscribers.carrousel.schema import LedgerError, PostingRow
from subscribers.carrousel.terms import Terms

STAKE_KINDS = ("stake", "stake_returned", "stakes_told", "gap")
"""Kinds of transactions that post stakes."""


class AccountSums(msgspec.Struct):
    """Sums posted to accounts; ``stakes``: what players staked."""

    stakes: int = 0
    meter: int = 0
    reserve: int = 0
    house: int = 0


class TableTotals(msgspec.Struct, kw_only=True):
    """Totals of a table. Its stakes are the sum of the rise, the reserve and the house's part."""

    table: str
    stakes: int = 0
    rise: int = 0
    reserve: int = 0
    house: int = 0
    awarded: int = 0
    """What awards took from the meter, less what was returned."""
    paid: int = 0


class AwardTotals(msgspec.Struct, frozen=True, kw_only=True):
    """An award with postings or payments in these days."""

    of: AwardDetails
    locked: int
    """Amount posted to it in these days, less what was returned."""
    value: int
    """Its value at the end of the days."""
    paid: int
    """Total paid until then."""
    payments: tuple[AwardPayment, ...]
    """The payments in these days."""


class JackpotStatement(msgspec.Struct, frozen=True, kw_only=True):
    """The days ``first`` to ``last`` of a jackpot, from ``begin`` on, before ``end``."""

    jackpot: str
    terms: Terms | None
    """The terms last written before the end, or None."""
    first: date
    last: date
    begin: datetime
    end: datetime
    before: AccountSums
    """Meter and reserve at the beginning."""
    movements: dict[str, AccountSums]
    """By kind of transaction."""
    after: AccountSums
    """Meter and reserve at the end."""
    tables: tuple[TableTotals, ...]
    awards: tuple[AwardTotals, ...]
    late: int
    """Number of postings written after the days had ended."""
    ledger: str
    position: int
    """The ledger's last entry, up to which this statement goes."""
    hash: str
    checkpoint: Checkpoint | None
    """The last checkpoint if it matches the ledger, else None."""

    @property
    def currency(self) -> str:
        """ISO 4217 code of the jackpot's currency; empty without terms."""
        return "" if self.terms is None else self.terms.currency

    @property
    def balances(self) -> bool:
        """Whether the beginning plus the movements equals the end."""
        return all(
            getattr(self.before, name)
            + sum(getattr(movement, name) for movement in self.movements.values())
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
_AWARDS_QUERY = (  # in one query: each query reads the whole ledger
    "SELECT CAST(part AS INTEGER), account, sum(amount) FROM posting WHERE jackpot = ? AND "
    "at_time < ? AND (account = 'award' AND what IN ('award', 'award_returned') OR "
    "account = 'paid' AND what IN ('payment', 'claim')) GROUP BY part, account"
)


def build_statement(
    file: LedgerReader, jackpot: str, first: date, last: date, begin: datetime, end: datetime
) -> JackpotStatement:
    """Build the statement of these days. Raises :class:`LedgerError` if there is no
    such jackpot.
    """
    since, until = on_wire(begin), on_wire(end)
    terms = terms_before(file, jackpot, until)
    movements: defaultdict[str, AccountSums] = defaultdict(AccountSums)
    tables: defaultdict[str, AccountSums] = defaultdict(AccountSums)
    awarded: defaultdict[str, int] = defaultdict(int)
    locked: defaultdict[int, int] = defaultdict(int)
    late = 0
    for position, *columns, entry_time in file.connection.execute(
        _POSTINGS_QUERY, (jackpot, since, until)
    ):
        del position
        posting = PostingRow(*columns)
        late += entry_time >= until
        _add(movements[posting.what], posting)
        if posting.what in STAKE_KINDS:
            _add(tables[posting.part], posting)
        elif posting.what in ("award", "award_returned") and posting.account == "meter":
            awarded[posting.part] -= posting.amount
        if posting.account in ("award", "paid"):
            locked[int(posting.part)] += posting.amount if posting.what in AWARD_KINDS else 0
    paid_now = [payment for payment in read_payments(file, jackpot) if since <= payment.at < until]
    numbers = locked.keys() | {payment.award for payment in paid_now}
    details = find_awards(file, jackpot, set(numbers)) if numbers else {}
    sums_at_end = _award_sums(file, jackpot, until)
    paid_at: defaultdict[str, int] = defaultdict(int)
    for payment in paid_now:
        paid_at[details[payment.award].table] += payment.amount
    return JackpotStatement(
        jackpot=jackpot,
        terms=terms,
        first=first,
        last=last,
        begin=begin,
        end=end,
        before=_read_balances(file, jackpot, since),
        movements={kind: movements[kind] for kind in sorted(movements, key=_kind_order)},
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
                of=details[number],
                locked=locked[number],
                value=sums_at_end[number, "award"],
                paid=sums_at_end[number, "paid"],
                payments=tuple(payment for payment in paid_now if payment.award == number),
            )
            for number in sorted(numbers)
        ),
        late=late,
        ledger=file.id,
        position=file.head.position,
        hash=file.head.hash.hex(),
        checkpoint=file.kept if _is_confirmed(file, file.kept) else None,
    )


def _kind_order(kind: str) -> tuple[int, str]:
    """Sort stakes first, as in the list of kinds; kinds of a newer release come last."""
    kinds: tuple[str, ...] = get_args(TransactionKind)
    return (kinds.index(kind) if kind in kinds else len(kinds)), kind


AWARD_KINDS = ("award", "award_returned")
"""Kinds of transactions that post to an award, or return it."""


def _add(sums: AccountSums, posting: PostingRow) -> None:
    match posting.account:
        case "stakes":
            sums.stakes -= posting.amount
        case "meter":
            sums.meter += posting.amount
        case "reserve":
            sums.reserve += posting.amount
        case "house" | "seed":
            sums.house += posting.amount


def _read_balances(file: LedgerReader, jackpot: str, before: str) -> AccountSums:
    balances = dict(file.connection.execute(_BALANCES_QUERY, (jackpot, before)).fetchall())
    return AccountSums(meter=balances.get("meter", 0), reserve=balances.get("reserve", 0))


def _award_sums(file: LedgerReader, jackpot: str, before: str) -> defaultdict[tuple[int, str], int]:
    """Return the value and the payments of each award, by its number and account."""
    sums: defaultdict[tuple[int, str], int] = defaultdict(int)
    for number, account, amount in file.connection.execute(_AWARDS_QUERY, (jackpot, before)):
        sums[number, account] = amount
    return sums


def terms_before(file: LedgerReader, jackpot: str, before: str) -> Terms | None:
    """Return the terms last written before a time. Raises :class:`LedgerError` if there is no such
    jackpot.
    """
    check_jackpot(file, jackpot)
    terms: Terms | None = None
    for (body,) in file.connection.execute(_TERMS_QUERY, (jackpot, before)):
        fact = read_fact(body)
        terms = _decode_terms(fact, terms) if isinstance(fact, TermsGiven) else terms
    return terms


def _decode_terms(fact: TermsGiven, before: Terms | None) -> Terms | None:
    try:
        return msgspec.convert(fact.terms, Terms)
    except msgspec.ValidationError:  # the controller did not apply them either
        return before


def check_jackpot(file: LedgerReader, jackpot: str) -> None:
    """Raise :class:`LedgerError` if the ledger has no such jackpot."""
    rows = file.connection.execute("SELECT DISTINCT jackpot FROM entry ORDER BY jackpot")
    names = [name for (name,) in rows]
    if jackpot not in names:
        raise LedgerError(
            f"{file.path}: there is no jackpot {jackpot}; it has {', '.join(names) or 'none'}"
        )


def _tables(terms: Terms | None) -> Iterable[str]:
    authorisation = None if terms is None else terms.authorisation
    return () if authorisation is None else authorisation.tables


def _is_confirmed(file: LedgerReader, checkpoint: Checkpoint | None) -> bool:
    if checkpoint is None or checkpoint.journal != file.id:
        return False
    digest = file.hash_at(checkpoint.position)
    return digest is not None and digest.hex() == checkpoint.hash
