"""The receipt of a payment: what it says, as lines of text."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from controller.contract.messages.messages import text, word
from subscribers.carrousel.amounts import said
from subscribers.carrousel.awards import AwardOf, awards
from subscribers.carrousel.payments import Payment, payments
from subscribers.carrousel.reading import Reading
from subscribers.carrousel.schema import LedgerError
from subscribers.carrousel.statement import terms_before
from subscribers.carrousel.statement_page import clock, persons
from subscribers.carrousel.terms import Terms


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """A payment, with the award that it is of. Amounts are as of the payment."""

    jackpot: str
    terms: Terms | None
    of: AwardOf
    value: int
    """What the award was worth."""
    before: int
    """What had been paid of it before."""
    payment: Payment
    ledger: str

    @property
    def left(self) -> int:
        """What was still due after it."""
        return self.value - self.before - self.payment.amount


_VALUE = (
    "SELECT coalesce(sum(amount), 0) FROM posting WHERE jackpot = ? AND account = 'award' "
    "AND part = ? AND what IN ('award', 'award_returned') AND position <= ?"
)


def receipt(file: Reading, jackpot: str, number: int) -> Receipt:
    """The receipt with this number. Raises :class:`LedgerError` if there is none."""
    terms = terms_before(file, jackpot, "~")
    every = list(payments(file, jackpot))
    if not 1 <= number <= len(every):
        raise LedgerError(
            f"{file.path}: {jackpot} has no receipt {number}; it has {len(every)}, from 1 on"
        )
    paid = every[number - 1]
    (value,) = file.connection.execute(_VALUE, (jackpot, str(paid.award), paid.position)).fetchone()
    return Receipt(
        jackpot=jackpot,
        terms=terms,
        of=awards(file, jackpot, {paid.award})[paid.award],
        value=int(value),
        before=sum(each.amount for each in every[: number - 1] if each.award == paid.award),
        payment=paid,
        ledger=file.id,
    )


def title(of: Receipt, language: str) -> str:
    """What stands above it."""
    return text("book.receipt_title", language, number=of.payment.receipt)


def amount(of: Receipt, language: str) -> str:
    """What was paid."""
    return _said(of, of.payment.amount, language)


def facts(of: Receipt, language: str) -> Iterator[tuple[str, str]]:
    """What it says, each with what it is called; the amount stands by itself."""
    won, paid = of.of, of.payment
    given = None if of.terms is None else of.terms.authorisation
    for name, value in (
        ("jackpot", of.jackpot if given is None else f"{of.jackpot} ({given.number})"),
        ("award", str(won.award)),
        ("table", won.table),
        ("session", str(won.session)),
        ("round", str(won.round)),
        ("box", won.box.removeprefix("box:")),
        ("hand", word("hand", won.hand, language)),
        ("cards", " ".join(won.cards)),
        ("time", clock(won.time)),
        ("value", _said(of, of.value, language)),
        ("paid_until", _said(of, of.before, language)),
        ("paid_now", _said(of, paid.amount, language)),
        ("left", _said(of, of.left, language)),
        ("paid", clock(paid.time)),
        ("persons", persons(paid.signed, language)),
    ):
        yield text(f"book.{name}", language), value
    yield text("book.entry", language), f"{paid.position} · {of.ledger}"
    yield text("permanency.hash", language), paid.hash


def as_text(of: Receipt, language: str) -> str:
    """It for a terminal."""
    every = list(facts(of, language))
    wide = max(len(name) for name, _ in every)
    lines = [title(of, language), amount(of, language), ""]
    return "\n".join([*lines, *(f"{name:{wide}}  {value}" for name, value in every), ""])


def _said(of: Receipt, amount: int, language: str) -> str:
    return said(amount, "" if of.terms is None else of.terms.currency, language)
