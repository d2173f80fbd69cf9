"""The receipt of a payment, as lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from common.contract.messages.messages import text, word
from subscribers.cards import short
from subscribers.carrousel.amount_words import amount_in_words
from subscribers.carrousel.amounts import format_amount
from subscribers.carrousel.awards import AwardDetails, find_awards
from subscribers.carrousel.payments import AwardPayment, read_payments
from subscribers.carrousel.reading import LedgerReader
from subscribers.carrousel.schema import LedgerError
from subscribers.carrousel.statement import terms_before
from subscribers.carrousel.statement_page import format_signers, local_time
from subscribers.carrousel.terms import Terms


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """A payment and its award. Amounts are as of the payment."""

    jackpot: str
    terms: Terms | None
    of: AwardDetails
    value: int
    """Value of the award."""
    before: int
    """Total paid before."""
    payment: AwardPayment
    ledger: str

    @property
    def left(self) -> int:
        """Amount still due after the payment."""
        return self.value - self.before - self.payment.amount


_AWARD_VALUE_QUERY = (
    "SELECT coalesce(sum(amount), 0) FROM posting WHERE jackpot = ? AND account = 'award' "
    "AND part = ? AND what IN ('award', 'award_returned') AND position <= ?"
)


def read_receipt(file: LedgerReader, jackpot: str, number: int) -> Receipt:
    """Return the receipt with this number. Raises :class:`LedgerError` if it does not exist."""
    terms = terms_before(file, jackpot, "~")
    all_payments = list(read_payments(file, jackpot))
    if not 1 <= number <= len(all_payments):
        raise LedgerError(
            f"{file.path}: {jackpot} has no receipt {number}; it has {len(all_payments)}, "
            "counted from 1"
        )
    payment = all_payments[number - 1]
    (value,) = file.connection.execute(
        _AWARD_VALUE_QUERY, (jackpot, str(payment.award), payment.position)
    ).fetchone()
    return Receipt(
        jackpot=jackpot,
        terms=terms,
        of=find_awards(file, jackpot, {payment.award})[payment.award],
        value=int(value),
        before=sum(
            other.amount for other in all_payments[: number - 1] if other.award == payment.award
        ),
        payment=payment,
        ledger=file.id,
    )


def title(receipt: Receipt, language: str) -> str:
    """Return the heading."""
    return text("book.receipt_title", language, number=receipt.payment.receipt)


def paid_amount(receipt: Receipt, language: str) -> str:
    """Return the paid amount as text."""
    return _format(receipt, receipt.payment.amount, language)


def amount_words(receipt: Receipt, language: str) -> str | None:
    """Return the paid amount in words, or None."""
    currency = "" if receipt.terms is None else receipt.terms.currency
    return amount_in_words(receipt.payment.amount, currency, language)


def labelled_values(receipt: Receipt, language: str) -> Iterator[tuple[str, str]]:
    """Yield the label and value of each line, without the cards, the proof, and the paid amount of
    the heading.
    """
    award, payment = receipt.of, receipt.payment
    authorisation = None if receipt.terms is None else receipt.terms.authorisation
    for name, value in (
        (
            "jackpot",
            receipt.jackpot
            if authorisation is None
            else f"{receipt.jackpot} ({authorisation.number})",
        ),
        ("award", str(award.award)),
        ("table", award.table),
        ("session", str(award.session)),
        ("round", str(award.round)),
        ("box", award.box.removeprefix("box:")),
        ("hand", word("hand", award.hand, language)),
        ("time", local_time(award.time, language)),
        ("value", _format(receipt, receipt.value, language)),
        ("paid_until", _format(receipt, receipt.before, language)),
        ("paid_now", _format(receipt, payment.amount, language)),
        ("left", _format(receipt, receipt.left, language)),
        ("paid", local_time(payment.time, language)),
        ("persons", format_signers(payment.signed, language)),
    ):
        yield text(f"book.{name}", language), value


def proof(receipt: Receipt, language: str) -> Iterator[tuple[str, str]]:
    """Yield the label and value of what identifies the payment in the ledger."""
    yield text("book.entry", language), f"{receipt.payment.position} · {receipt.ledger}"
    yield text("permanency.hash", language), receipt.payment.hash


def as_text(receipt: Receipt, language: str, house: Sequence[str] = ()) -> str:
    """Return the receipt for a terminal. ``house``: the lines of the letterhead."""
    cards = text("book.cards", language), " ".join(short(card) for card in receipt.of.cards)
    rows = [cards, *labelled_values(receipt, language), *proof(receipt, language)]
    width = max(len(name) for name, _ in rows)
    heading = [
        *house,
        title(receipt, language),
        paid_amount(receipt, language),
        *filter(None, (amount_words(receipt, language),)),
        "",
    ]
    return "\n".join([*heading, *(f"{name:{width}}  {value}" for name, value in rows), ""])


def _format(receipt: Receipt, amount: int, language: str) -> str:
    return format_amount(amount, "" if receipt.terms is None else receipt.terms.currency, language)
