"""A permanency as PDF, on A4: four columns of rounds a page."""

from __future__ import annotations

from itertools import groupby
from typing import cast

from fpdf import FPDF

from controller.contract.messages.messages import text
from subscribers.display.permanency import Entry, Permanency, head
from subscribers.display.permanency_page import clock

COLUMNS = 4
_MARGIN, _GAP, _LINE = 12.0, 4.0, 4.2
_WIDTH = (210.0 - 2 * _MARGIN - (COLUMNS - 1) * _GAP) / COLUMNS
_COLOURS = {"red": (178, 14, 40), "green": (8, 108, 58)}


def as_pdf(permanency: Permanency) -> bytes:
    """The whole document."""
    page = _Pages(permanency)
    page.set_title(f"{permanency.table} {permanency.day.isoformat()}")
    page.set_lang(permanency.language)
    page.set_creator("Novamás")
    page.set_creation_date(permanency.end)
    page.set_auto_page_break(auto=False)
    page.add_page()
    for session, group in groupby(permanency.entries, key=lambda each: each.session):
        page.line_of(text("display.session", permanency.language, session=session), "B")
        for each in group:
            page.entry(each)
    return bytes(page.output())


class _Pages(FPDF):
    """The pages; each begins with the whole head, so that no sheet stands without its proof."""

    def __init__(self, permanency: Permanency) -> None:
        super().__init__(format="A4")
        self._permanency = permanency
        self._column, self._top = 0, 0.0
        self.set_margins(_MARGIN, _MARGIN, _MARGIN)

    def header(self) -> None:
        """What stands above each page."""
        for number, line in enumerate(head(self._permanency)):
            self.set_font("Helvetica", "B" if number == 0 else "", 12 if number == 0 else 7)
            self.set_x(_MARGIN)
            self.multi_cell(
                0, 6 if number == 0 else 3.2, _latin(line), new_x="LMARGIN", new_y="NEXT"
            )
        self._top, self._column = self.get_y() + 2, 0
        self.set_xy(_MARGIN, self._top)

    def footer(self) -> None:
        """The number of the page."""
        self.set_y(-_MARGIN + 2)
        self.set_font("Helvetica", "", 7)
        self.cell(0, 3, f"{self.page_no()}", align="C")

    def entry(self, each: Entry) -> None:
        """One round, or a gap."""
        number = str(each.round) if each.last == each.round else f"{each.round}-{each.last}"
        said = f"{number}   {clock(each.time)}   {each.result}"
        if each.note:
            said += f"  {each.note}"
        self.line_of(said, "I" if each.kind != "result" else "", each.lane)

    def line_of(self, said: str, style: str, lane: str = "") -> None:
        """One line, in the next column or on the next page where this one is full. What is too long
        goes on in the next line.
        """
        self.set_font("Helvetica", style, 8)
        parts = self.multi_cell(_WIDTH, _LINE, _latin(said), dry_run=True, output="LINES")
        for part in cast("list[str]", parts):
            if self.get_y() + _LINE > 297 - 2 * _MARGIN:
                self._next_column()
                self.set_font("Helvetica", style, 8)
            self.set_text_color(*_COLOURS.get(lane, (0, 0, 0)))
            self.set_x(_MARGIN + self._column * (_WIDTH + _GAP))
            self.cell(_WIDTH, _LINE, part, new_x="LMARGIN", new_y="NEXT")
            self.set_text_color(0, 0, 0)

    def _next_column(self) -> None:
        if self._column + 1 == COLUMNS:
            self.add_page()
            return
        self._column += 1
        self.set_y(self._top)


def _latin(said: str) -> str:
    """The fonts that every reader of PDF has know Latin 1."""
    return said.encode("latin-1", "replace").decode("latin-1")
