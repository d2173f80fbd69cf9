"""A receipt as PDF, on A6."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from common.contract.messages.messages import text
from common.paper import Paper
from subscribers.cards import short
from subscribers.carrousel.receipt import (
    Receipt,
    amount_words,
    labelled_values,
    paid_amount,
    proof,
    title,
)

_SIZE, _MARGIN, _LABEL = (105.0, 148.0), 8.0, 26.0


def as_pdf(receipt: Receipt, language: str, house: Sequence[str] = ()) -> bytes:
    """Return the PDF document. ``house``: the lines of the letterhead."""
    created = datetime.fromisoformat(receipt.payment.time)
    head = [title(receipt, language)]
    page = Paper(
        head,
        language,
        created,
        house=house,
        code=receipt.payment.hash,
        foot=[f"{name} {value}" for name, value in proof(receipt, language)],
        size=_SIZE,
        margin=_MARGIN,
    )
    page.set_font("Helvetica", "B", 17)
    page.wrapped(paid_amount(receipt, language), 8)
    if words := amount_words(receipt, language):
        page.set_font("Helvetica", "I", 8)
        page.wrapped(words, 4)
    page.ln(1)
    page.symbols("  ".join(map(short, receipt.of.cards)), 13, 6.5)
    page.ln(7.5)
    page.labelled(labelled_values(receipt, language), _LABEL, 6.5)
    page.signature(text("book.received", language))
    return bytes(page.output())
