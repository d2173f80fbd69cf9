"""A receipt as PDF, on A6."""

from __future__ import annotations

from datetime import datetime

from fpdf import FPDF

from controller.contract.messages.messages import text
from subscribers.carrousel.receipt import Receipt, amount, facts, title
from subscribers.carrousel.statement_pdf import latin

_MARGIN, _LABEL = 8.0, 28.0


def as_pdf(of: Receipt, language: str) -> bytes:
    """The whole document."""
    page = FPDF(format=(105, 148))
    page.set_margins(_MARGIN, _MARGIN, _MARGIN)
    page.set_auto_page_break(auto=True, margin=_MARGIN)
    page.set_title(latin(title(of, language)))
    page.set_lang(language)
    page.set_creator("Novamás")
    page.set_creation_date(datetime.fromisoformat(of.payment.time))
    page.add_page()
    page.set_font("Helvetica", "B", 12)
    page.cell(0, 7, latin(title(of, language)), new_x="LMARGIN", new_y="NEXT")
    page.set_font("Helvetica", "B", 16)
    page.cell(0, 10, latin(amount(of, language)), new_x="LMARGIN", new_y="NEXT")
    for name, value in facts(of, language):
        page.set_font("Helvetica", "", 7)
        page.cell(_LABEL, 4, latin(name))
        page.set_font("Helvetica", "B", 7)
        page.multi_cell(0, 4, latin(value), new_x="LMARGIN", new_y="NEXT", align="L")
    page.set_font("Helvetica", "", 7)
    page.ln(14)
    page.cell(0, 4, latin(text("book.received", language)), border="T")
    return bytes(page.output())
