"""A statement as PDF, on A4 landscape. Each page begins with the complete header, so that none
lacks its proof.
"""

from __future__ import annotations

from fpdf.fonts import FontFace

from common.contract.messages.messages import text
from common.paper import Paper, printable
from subscribers.carrousel.statement import JackpotStatement
from subscribers.carrousel.statement_page import (
    StatementSection,
    footer_lines,
    header_lines,
    sections,
)


def as_pdf(statement: JackpotStatement, language: str) -> bytes:
    """Return the PDF document."""
    page = _StatementPaper(statement, language)
    for section in sections(statement, language):
        page.section(section)
    page.set_font("Helvetica", "B", 8)
    for line in footer_lines(statement, language):
        page.wrapped(line, 4.5)
    return bytes(page.output())


class _StatementPaper(Paper):
    def __init__(self, statement: JackpotStatement, language: str) -> None:
        self._language = language
        head = [*header_lines(statement, language)]
        super().__init__(head, language, statement.end, landscape=True)

    def section(self, section: StatementSection) -> None:
        """Print one table of the statement."""
        self.set_font("Helvetica", "B", 9)
        self.cell(0, 6, printable(section.title), new_x="LMARGIN", new_y="NEXT")
        if not section.rows:
            self.set_font("Helvetica", "", 7)
            none = text("book.none", self._language)
            self.cell(0, 5, printable(none), new_x="LMARGIN", new_y="NEXT")
            return
        rows = [section.columns, *section.rows, *([section.total] if section.total else [])]
        self.set_font("Helvetica", "B", 7)  # the widest font style
        widths = tuple(
            max(self.get_string_width(printable(cell)) for cell in column) + 3
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
                    table_row.cell(printable(cell))
        self.ln(3)
