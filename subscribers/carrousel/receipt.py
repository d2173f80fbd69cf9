"""The receipt of a payment: what it says, as lines of text."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from controller.contract.messages.messages import text, word
from subscribers.carrousel.amounts import format_amount
from subscribers.carrousel.awards import AwardDetails, find_awards
from subscribers.carrousel.payments import AwardPayment, read_payments
from subscribers.carrousel.reading import LedgerReader
from subscribers.carrousel.schema import LedgerError
from subscribers.carrousel.statement import terms_before
from subscribers.carrousel.statement_page import format_signers, local_time
from subscribers.carrousel.terms import Terms


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """A payment, with the award that it is of. Amounts are as of the payment."""

    jackpot: str
    terms: Terms | None
    of: AwardDetails
    value: int
    """What the award was worth."""
    before: int
    """What had been paid of it before."""
    payment: AwardPayment
    ledger: str

    @property
    def left(self) -> int:
        """What was still due after it."""
        return self.value - self.before - self.payment.amount


_AWARD_VALUE_QUERY = (
    "SELECT coalesce(sum(amount), 0) FROM posting WHERE jackpot = ? AND account = 'award' "
    "AND part = ? AND what IN ('award', 'award_returned') AND position <= ?"
)


def read_receipt(file: LedgerReader, jackpot: str, number: int) -> Receipt:
    """The receipt with this number. Raises :class:`LedgerError` if there is none."""
    terms = terms_before(file, jackpot, "~")
    every = list(read_payments(file, jackpot))
    if not 1 <= number <= len(every):
        raise LedgerError(
            f"{file.path}: {jackpot} has no receipt {number}; it has {len(every)}, from 1 on"
        )
    paid = every[number - 1]
    (value,) = file.connection.execute(
        _AWARD_VALUE_QUERY, (jackpot, str(paid.award), paid.position)
    ).fetchone()
    return Receipt(
        jackpot=jackpot,
        terms=terms,
        of=find_awards(file, jackpot, {paid.award})[paid.award],
        value=int(value),
        before=sum(each.amount for each in every[: number - 1] if each.award == paid.award),
        payment=paid,
        ledger=file.id,
    )


def title(of: Receipt, language: str) -> str:
    """What stands above it."""
    return text("book.receipt_title", language, number=of.payment.receipt)


def paid_amount(of: Receipt, language: str) -> str:
    """What was paid."""
    return _format(of, of.payment.amount, language)


def labelled_values(of: Receipt, language: str) -> Iterator[tuple[str, str]]:
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
        ("time", local_time(won.time)),
        ("value", _format(of, of.value, language)),
        ("paid_until", _format(of, of.before, language)),
        ("paid_now", _format(of, paid.amount, language)),
        ("left", _format(of, of.left, language)),
        ("paid", local_time(paid.time)),
        ("persons", format_signers(paid.signed, language)),
    ):
        yield text(f"book.{name}", language), value
    yield text("book.entry", language), f"{paid.position} · {of.ledger}"
    yield text("permanency.hash", language), paid.hash


def as_text(of: Receipt, language: str) -> str:
    """It for a terminal."""
    every = list(labelled_values(of, language))
    wide = max(len(name) for name, _ in every)
    lines = [title(of, language), paid_amount(of, language), ""]
    return "\n".join([*lines, *(f"{name:{wide}}  {value}" for name, value in every), ""])


def _format(of: Receipt, amount: int, language: str) -> str:
    return format_amount(amount, "" if of.terms is None else of.terms.currency, language)
