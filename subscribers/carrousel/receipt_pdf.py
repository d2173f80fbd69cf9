"""A receipt as PDF, on A6."""

from __future__ import annotations

from datetime import datetime

from fpdf import FPDF

from common.contract.messages.messages import text
from subscribers.carrousel.receipt import Receipt, labelled_values, paid_amount, title
from subscribers.carrousel.statement_pdf import to_latin1

_MARGIN, _LABEL = 8.0, 28.0


def as_pdf(receipt: Receipt, language: str) -> bytes:
    """Return the PDF document."""
    page = FPDF(format=(105, 148))
    page.set_margins(_MARGIN, _MARGIN, _MARGIN)
    page.set_auto_page_break(auto=True, margin=_MARGIN)
    page.set_title(to_latin1(title(receipt, language)))
    page.set_lang(language)
    page.set_creator("Novamás")
    page.set_creation_date(datetime.fromisoformat(receipt.payment.time))
    page.add_page()
    page.set_font("Helvetica", "B", 12)
    page.cell(0, 7, to_latin1(title(receipt, language)), new_x="LMARGIN", new_y="NEXT")
    page.set_font("Helvetica", "B", 16)
    page.cell(0, 10, to_latin1(paid_amount(receipt, language)), new_x="LMARGIN", new_y="NEXT")
    for name, value in labelled_values(receipt, language):
        page.set_font("Helvetica", "", 7)
        page.cell(_LABEL, 4, to_latin1(name))
        page.set_font("Helvetica", "B", 7)
        page.multi_cell(0, 4, to_latin1(value), new_x="LMARGIN", new_y="NEXT", align="L")
    page.set_font("Helvetica", "", 7)
    page.ln(14)
    page.cell(0, 4, to_latin1(text("book.received", language)), border="T")
    return bytes(page.output())
