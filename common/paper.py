"""The look of every paper that the program prints: permanencies, receipts, statements, protocols.

The standard fonts of PDF are used, which need no file: text in Latin 1, and the suits of cards. A
hash is at the foot of each page also as a QR code, to be compared without typing it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime

from fpdf import FPDF

INK, SOFT_INK, RULE = (17, 17, 17), (85, 85, 85), (190, 160, 70)
"""Colours of text, of what explains it, and of the line below the head."""
LANE_INK = {"red": (178, 14, 40), "green": (8, 108, 58), "black": INK}
"""Colours of results, by the name of their lane."""
MARGIN = 12.0
"""Millimetres."""
QR_SIZE = 15.0
"""Millimetres. A hash of 64 digits is a code of 37 modules, which a telephone reads at 0.4 mm."""
_SUITS = {"♠": "\u00ab", "♥": "\u00aa", "♦": "\u00a9", "♣": "\u00a8"}
"""The suits in ZapfDingbats."""
_SUIT = re.compile(f"([{''.join(_SUITS)}])")
_RED_SUITS = "♥♦"


class Paper(FPDF):
    """A document whose pages all begin with the same head, so that no sheet is without its proof.
    ``head``: lines, the first of which is the title; ``house``: the lines of the house's letterhead
    above it; ``code``: the hash that proves the document, or None; ``foot``: lines beside it.
    """

    def __init__(
        self,
        head: Sequence[str],
        language: str,
        created: datetime,
        *,
        house: Sequence[str] = (),
        code: str | None = None,
        foot: Sequence[str] = (),
        size: str | tuple[float, float] = "A4",
        landscape: bool = False,
        margin: float = MARGIN,
    ) -> None:
        super().__init__(format=size, orientation="landscape" if landscape else "portrait")
        self._head, self._house, self._foot = head, house, foot
        self._code = [] if code is None else _qr_modules(code)
        self.set_margins(margin, margin, margin)
        self.bottom = margin + (QR_SIZE + 2 if self._code else 4)
        """The height of the foot of a page, in millimetres."""
        self.set_auto_page_break(auto=True, margin=self.bottom)
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
        """Print the title, the number of the page, and the hash as a QR code."""
        top = self.h - self.bottom + 1.5
        self._qr_code(self.w - self.r_margin - QR_SIZE, top)
        self.set_text_color(*SOFT_INK)
        room = self.epw - (QR_SIZE + 3 if self._code else 0)
        self.set_y(top)
        self.set_font("Helvetica", "", 5)
        for line in self._foot:
            self.multi_cell(room, 2.4, printable(line), new_x="LMARGIN", new_y="NEXT", align="L")
        self.set_y(-self.l_margin - 3)
        self.set_font("Helvetica", "", 6.5)
        self.cell(room - 12, 3, printable(self._head[0]))
        self.cell(12, 3, f"{self.page_no()} / {{nb}}", align="R")
        self.set_text_color(*INK)

    def _qr_code(self, left: float, top: float) -> None:
        """Print the code with its upper left corner there."""
        self.set_fill_color(0, 0, 0)
        for y, row in enumerate(self._code):
            module = QR_SIZE / len(row)
            for x, is_dark in enumerate(row):
                if is_dark:
                    self.rect(left + x * module, top + y * module, module, module, "F")

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

    def symbols(self, line: str, size: float, height: float, style: str = "B") -> None:
        """Print text from the current place on, the suits of cards in their colours."""
        for part in filter(None, _SUIT.split(line)):
            if part in _SUITS:
                if part in _RED_SUITS:
                    self.set_text_color(*LANE_INK["red"])
                self.set_font("ZapfDingbats", "", size)
                self.cell(self.get_string_width(_SUITS[part]), height, _SUITS[part])
                self.set_text_color(*INK)
            else:
                self.set_font("Helvetica", style, size)
                self.cell(self.get_string_width(printable(part)), height, printable(part))

    def suited(self, line: str, size: float, height: float) -> None:
        """Print text with the suits of cards, in as many lines as it takes."""
        for word in line.split(" "):
            self.set_font("Helvetica", "", size)
            if self.get_x() + self.text_width(word) > self.w - self.r_margin:
                self.ln(height)
            self.symbols(word, size, height, "")
            self.set_x(self.get_x() + size * 0.1)
        self.ln(height)

    def text_width(self, line: str) -> float:
        """Return the width of text in the current font, in millimetres, with suits as wide as the
        widest letter.
        """
        return float(self.get_string_width(printable(_SUIT.sub("W", line))))

    def signature(self, name: str) -> None:
        """Print a line to sign on, with a name below it."""
        self.ln(12)
        self.set_font("Helvetica", "", 7)
        self.cell(
            min(90.0, self.epw), 4, printable(name), border="T", new_x="LMARGIN", new_y="NEXT"
        )


def _qr_modules(content: str) -> list[list[bool]]:
    """Return the rows of a QR code; true: a dark module."""
    import segno  # its first use is the first paper

    code = segno.make(content, error="m", micro=False)
    return [[bool(module) for module in row] for row in code.matrix]


def printable(text: str) -> str:
    """Replace characters that the standard fonts of PDF (Latin 1) lack."""
    return text.replace("’", "'").encode("latin-1", "replace").decode("latin-1")
