"""A receipt as PDF, on A6."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from common.contract.messages.messages import text
from common.paper import Paper
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
    page = Paper(head, language, created, house=house, size=_SIZE, margin=_MARGIN)
    page.set_font("Helvetica", "B", 17)
    page.wrapped(paid_amount(receipt, language), 8)
    if words := amount_words(receipt, language):
        page.set_font("Helvetica", "I", 8)
        page.wrapped(words, 4)
    page.ln(1)
    page.cards(receipt.of.cards, 13)
    page.ln(1)
    page.labelled(labelled_values(receipt, language), _LABEL, 7)
    page.signature(text("book.received", language))
    page.ln(1)
    page.labelled(proof(receipt, language), _LABEL, 5.5)
    return bytes(page.output())
