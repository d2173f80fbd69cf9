"""A statement as PDF, on A4 landscape. Each page begins with the complete header, so that none
lacks its proof.
"""

from __future__ import annotations

from collections.abc import Sequence

from common.contract.messages.messages import text
from common.paper import Paper, printable
from subscribers.carrousel.statement import JackpotStatement
from subscribers.carrousel.statement_page import (
    StatementSection,
    footer_lines,
    header_lines,
    sections,
)


def as_pdf(statement: JackpotStatement, language: str, house: Sequence[str] = ()) -> bytes:
    """Return the PDF document. ``house``: the lines of the letterhead."""
    page = _StatementPaper(statement, language, house)
    for section in sections(statement, language):
        page.section(section)
    page.set_font("Helvetica", "B", 8)
    for line in footer_lines(statement, language):
        page.wrapped(line, 4.5)
    return bytes(page.output())


_SIZE, _ROW = 7.0, 4.0
"""Points of the text of a table, and millimetres of a row."""


class _StatementPaper(Paper):
    def __init__(self, statement: JackpotStatement, language: str, house: Sequence[str]) -> None:
        self._language = language
        head = [*header_lines(statement, language)]
        super().__init__(
            head, language, statement.end, house=house, code=statement.hash, landscape=True
        )

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
        self.set_font("Helvetica", "B", _SIZE)  # the widest font style
        widths = [max(map(self.text_width, column)) + 3 for column in zip(*rows, strict=True)]
        self._scale = min(1.0, self.epw / sum(widths))
        for number, row in enumerate(rows):
            is_total = bool(section.total) and number == len(rows) - 1
            if self.will_page_break(_ROW):
                self.add_page()
                self._row(section, section.columns, widths, "B")
            self._row(section, row, widths, "B" if number == 0 or is_total else "")
        self.ln(3)

    def _row(
        self, section: StatementSection, row: Sequence[str], widths: Sequence[float], style: str
    ) -> None:
        """Print a row, with a rule below it."""
        for column, (cell, width) in enumerate(zip(row, widths, strict=True)):
            room, left, size = width * self._scale, self.get_x(), _SIZE * self._scale
            if column >= section.amounts:
                self.set_font("Helvetica", style, size)
                self.set_x(left + room - self.text_width(cell) - 2 * self.c_margin)
            self.symbols(cell, size, _ROW, style)
            self.set_x(left + room)
        self.line(self.l_margin, self.get_y() + _ROW, self.get_x(), self.get_y() + _ROW)
        self.ln(_ROW)
