"""A permanency as PDF on A4, with four columns of rounds per page."""

from __future__ import annotations

from itertools import groupby
from typing import cast

from fpdf import FPDF

from common.contract.messages.messages import text
from subscribers.display.permanency import Permanency, PermanencyEntry, header_lines
from subscribers.display.permanency_page import local_clock

COLUMNS_PER_PAGE = 4
_MARGIN, _GAP, _LINE = 12.0, 4.0, 4.2
_WIDTH = (210.0 - 2 * _MARGIN - (COLUMNS_PER_PAGE - 1) * _GAP) / COLUMNS_PER_PAGE
_COLOURS = {"red": (178, 14, 40), "green": (8, 108, 58)}


def as_pdf(permanency: Permanency) -> bytes:
    """Return the whole document."""
    document = _PermanencyDocument(permanency)
    document.set_title(f"{permanency.table} {permanency.day.isoformat()}")
    document.set_lang(permanency.language)
    document.set_creator("Novamás")
    document.set_creation_date(permanency.end)
    document.set_auto_page_break(auto=False)
    document.add_page()
    for session, group in groupby(permanency.entries, key=lambda entry: entry.session):
        document.line_of(text("display.session", permanency.language, session=session), "B")
        for entry in group:
            document.entry(entry)
    return bytes(document.output())


class _PermanencyDocument(FPDF):
    """The document; each page repeats the whole header, so that no sheet is without its proof."""

    def __init__(self, permanency: Permanency) -> None:
        super().__init__(format="A4")
        self._permanency = permanency
        self._column, self._top = 0, 0.0
        self.set_margins(_MARGIN, _MARGIN, _MARGIN)

    def header(self) -> None:
        """Print the header of a page."""
        for number, line in enumerate(header_lines(self._permanency)):
            self.set_font("Helvetica", "B" if number == 0 else "", 12 if number == 0 else 7)
            self.set_x(_MARGIN)
            self.multi_cell(
                0, 6 if number == 0 else 3.2, _latin(line), new_x="LMARGIN", new_y="NEXT"
            )
        self._top, self._column = self.get_y() + 2, 0
        self.set_xy(_MARGIN, self._top)

    def footer(self) -> None:
        self.set_y(-_MARGIN + 2)
        self.set_font("Helvetica", "", 7)
        self.cell(0, 3, f"{self.page_no()}", align="C")

    def entry(self, entry: PermanencyEntry) -> None:
        """Print a round or a gap."""
        number = str(entry.round) if entry.last == entry.round else f"{entry.round}-{entry.last}"
        line = f"{number}   {local_clock(entry.time)}   {entry.result}"
        if entry.note:
            line += f"  {entry.note}"
        self.line_of(line, "I" if entry.kind != "result" else "", entry.lane)

    def line_of(self, line: str, style: str, lane: str = "") -> None:
        """Print a line in the current column, wrapping long text, and continue in the next column
        or on the next page when full.
        """
        self.set_font("Helvetica", style, 8)
        parts = self.multi_cell(_WIDTH, _LINE, _latin(line), dry_run=True, output="LINES")
        for part in cast("list[str]", parts):
            if self.get_y() + _LINE > 297 - 2 * _MARGIN:
                self._next_column()
                self.set_font("Helvetica", style, 8)
            self.set_text_color(*_COLOURS.get(lane, (0, 0, 0)))
            self.set_x(_MARGIN + self._column * (_WIDTH + _GAP))
            self.cell(_WIDTH, _LINE, part, new_x="LMARGIN", new_y="NEXT")
            self.set_text_color(0, 0, 0)

    def _next_column(self) -> None:
        if self._column + 1 == COLUMNS_PER_PAGE:
            self.add_page()
            return
        self._column += 1
        self.set_y(self._top)


def _latin(value: str) -> str:
    """Replace characters outside Latin 1, which the standard PDF fonts lack."""
    return value.encode("latin-1", "replace").decode("latin-1")
