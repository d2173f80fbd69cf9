"""A statement as PDF, on A4 landscape. Each page begins with the complete header, so that none
lacks its proof.
"""

from __future__ import annotations

from fpdf import FPDF
from fpdf.fonts import FontFace

from common.contract.messages.messages import text
from subscribers.carrousel.statement import JackpotStatement
from subscribers.carrousel.statement_page import (
    StatementSection,
    footer_lines,
    header_lines,
    sections,
)

_MARGIN = 12.0


def as_pdf(statement: JackpotStatement, language: str) -> bytes:
    """Return the PDF document."""
    page = _StatementPdf(statement, language)
    page.set_title(f"{statement.jackpot} {statement.first.isoformat()}")
    page.set_lang(language)
    page.set_creator("Novamás")
    page.set_creation_date(statement.end)
    page.set_auto_page_break(auto=True, margin=_MARGIN)
    page.add_page()
    for section in sections(statement, language):
        page.section(section)
    page.set_font("Helvetica", "B", 8)
    for line in footer_lines(statement, language):
        page.multi_cell(0, 4.5, to_latin1(line), new_x="LMARGIN", new_y="NEXT")
    return bytes(page.output())


class _StatementPdf(FPDF):
    def __init__(self, statement: JackpotStatement, language: str) -> None:
        super().__init__(format="A4", orientation="landscape")
        self._statement, self._language = statement, language
        self.set_margins(_MARGIN, _MARGIN, _MARGIN)

    def header(self) -> None:
        for number, line in enumerate(header_lines(self._statement, self._language)):
            self.set_font("Helvetica", "B" if number == 0 else "", 12 if number == 0 else 7)
            height = 6 if number == 0 else 3.2
            self.multi_cell(0, height, to_latin1(line), new_x="LMARGIN", new_y="NEXT")
        self.ln(2)

    def footer(self) -> None:
        self.set_y(-_MARGIN + 2)
        self.set_font("Helvetica", "", 7)
        self.cell(0, 3, f"{self.page_no()}", align="C")

    def section(self, section: StatementSection) -> None:
        """Print one table of the statement."""
        self.set_font("Helvetica", "B", 9)
        self.cell(0, 6, to_latin1(section.title), new_x="LMARGIN", new_y="NEXT")
        if not section.rows:
            self.set_font("Helvetica", "", 7)
            none = text("book.none", self._language)
            self.cell(0, 5, to_latin1(none), new_x="LMARGIN", new_y="NEXT")
            return
        rows = [section.columns, *section.rows, *([section.total] if section.total else [])]
        self.set_font("Helvetica", "B", 7)  # the widest font style
        widths = tuple(
            max(self.get_string_width(to_latin1(cell)) for cell in column) + 3
            for column in zip(*rows, strict=True)
        )
        alignments = tuple(
            "RIGHT" if column >= section.amounts else "LEFT"
            for column in range(len(section.columns))
        )
        self.set_font("Helvetica", "", 7)
        with self.table(
            col_widths=widths,
            width=min(sum(widths), self.epw),
            align="LEFT",
            text_align=alignments,
            line_height=4,
            borders_layout="HORIZONTAL_LINES",
            headings_style=FontFace(emphasis="BOLD"),
        ) as table:
            for number, row in enumerate(rows):
                is_total = bool(section.total) and number == len(rows) - 1
                style = FontFace(emphasis="BOLD") if is_total else None
                table_row = table.row(style=style)
                for cell in row:
                    table_row.cell(to_latin1(cell))
        self.ln(3)


def to_latin1(text: str) -> str:
    """Replace characters that the standard PDF fonts (Latin 1) lack."""
    return text.replace("’", "'").encode("latin-1", "replace").decode("latin-1")
