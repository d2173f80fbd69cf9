"""The look of every paper that the program prints: permanencies, receipts, statements, protocols.

The standard fonts of PDF are used, which need no file: text in Latin 1, and the suits of cards.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from fpdf import FPDF

INK, SOFT_INK, RULE = (17, 17, 17), (85, 85, 85), (190, 160, 70)
"""Colours of text, of what explains it, and of the line below the head."""
LANE_INK = {"red": (178, 14, 40), "green": (8, 108, 58), "black": INK}
"""Colours of results, by the name of their lane."""
MARGIN = 12.0
"""Millimetres."""
_SUITS = {"s": "\u00ab", "h": "\u00aa", "d": "\u00a9", "c": "\u00a8"}
"""The suits in ZapfDingbats."""
_RED_SUITS = "hd"


class Paper(FPDF):
    """A document whose pages all begin with the same head, so that no sheet is without its proof.
    ``head``: lines, the first of which is the title; ``house``: the lines of the house's letterhead
    above it.
    """

    def __init__(
        self,
        head: Sequence[str],
        language: str,
        created: datetime,
        *,
        house: Sequence[str] = (),
        size: str | tuple[float, float] = "A4",
        landscape: bool = False,
        margin: float = MARGIN,
    ) -> None:
        super().__init__(format=size, orientation="landscape" if landscape else "portrait")
        self._head, self._house = head, house
        self.set_margins(margin, margin, margin)
        self.set_auto_page_break(auto=True, margin=margin + 4)
        self.set_title(printable(head[0]))
        self.set_lang(language)
        self.set_creator("Novamás")
        self.set_creation_date(created)
        self.add_page()

    def header(self) -> None:
        """Print the letterhead and the head of a page."""
        self.set_text_color(*INK)
        for number, line in enumerate(self._house):
            self.set_font("Helvetica", "B" if number == 0 else "", 9 if number == 0 else 7)
            self.wrapped(line, 4.2 if number == 0 else 3.4)
        if self._house:
            self.ln(1.5)
        title, *lines = self._head
        self.set_font("Helvetica", "B", 13)
        self.wrapped(title, 6.5)
        self.set_draw_color(*RULE)
        self.set_line_width(0.5)
        self.line(self.l_margin, self.get_y() + 0.5, self.w - self.r_margin, self.get_y() + 0.5)
        self.ln(1.8)
        self.set_text_color(*SOFT_INK)
        self.set_font("Helvetica", "", 6.5)
        for line in lines:
            self.wrapped(line, 3)
        self.set_text_color(*INK)
        self.set_draw_color(*SOFT_INK)
        self.set_line_width(0.2)
        self.ln(2)

    def footer(self) -> None:
        """Print the title and the number of the page."""
        self.set_y(-self.b_margin + 1)
        self.set_font("Helvetica", "", 6.5)
        self.set_text_color(*SOFT_INK)
        self.cell(self.epw / 2, 3, printable(self._head[0]))
        self.cell(0, 3, f"{self.page_no()} / {{nb}}", align="R")
        self.set_text_color(*INK)

    def wrapped(self, line: str, height: float) -> None:
        """Print text in the current font, in as many lines as it takes."""
        self.multi_cell(0, height, printable(line), new_x="LMARGIN", new_y="NEXT", align="L")

    def labelled(self, rows: Iterable[tuple[str, str]], label: float, size: float = 8) -> None:
        """Print a label and a value in each row. ``label``: width of the labels in millimetres."""
        height = size * 0.55
        for name, value in rows:
            self.set_font("Helvetica", "", size)
            self.set_text_color(*SOFT_INK)
            self.cell(label, height, printable(name))
            self.set_text_color(*INK)
            self.set_font("Helvetica", "B", size)
            self.wrapped(value, height)

    def cards(self, cards: Iterable[str], size: float) -> None:
        """Print cards such as ``Th`` in a row, the suits as symbols in their colours."""
        for card in cards:
            rank, suit = card[:-1], card[-1:]
            if suit not in _SUITS:
                rank, suit = card, ""
            self.set_text_color(*(LANE_INK["red"] if suit and suit in _RED_SUITS else INK))
            self.set_font("Helvetica", "B", size)
            text = printable("10" if rank == "T" else rank)
            self.cell(self.get_string_width(text) + 0.3, size * 0.5, text)
            if suit:
                self.set_font("ZapfDingbats", "", size)
                self.cell(self.get_string_width(_SUITS[suit]) + 2, size * 0.5, _SUITS[suit])
        self.set_text_color(*INK)
        self.ln()

    def signature(self, name: str) -> None:
        """Print a line to sign on, with a name below it."""
        self.ln(14)
        self.set_font("Helvetica", "", 7)
        self.cell(
            min(90.0, self.epw), 4, printable(name), border="T", new_x="LMARGIN", new_y="NEXT"
        )


def printable(text: str) -> str:
    """Replace characters that the standard fonts of PDF (Latin 1) lack."""
    return text.replace("’", "'").encode("latin-1", "replace").decode("latin-1")
