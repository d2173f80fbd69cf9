"""A permanency as PDF on A4. The numbers of a wheel are in lanes, red | 0 | black, in six columns a
page; other results are lines with their round and time, in two.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import cast

from common.contract.messages.messages import text
from common.paper import INK, LANE_INK, SOFT_INK, Paper, printable
from subscribers.display.permanency import (
    LANES,
    Permanency,
    PermanencyEntry,
    has_lanes,
    header_lines,
)
from subscribers.display.permanency_page import lane_names, local_clock

WHEEL_COLUMNS, OTHER_COLUMNS = 6, 2
_GAP, _LINE = 3.5, 4.2
_ROUND, _TIME = 7.5, 8.0
"""Widths in millimetres of the round and of its time."""


def as_pdf(permanency: Permanency, house: Sequence[str] = ()) -> bytes:
    """Return the whole document. ``house``: the lines of the letterhead."""
    document = _PermanencyPaper(permanency, house)
    for session, group in groupby(permanency.entries, key=lambda entry: entry.session):
        document.heading(text("display.session", permanency.language, session=session))
        for entry in group:
            document.entry(entry)
    return bytes(document.output())


class _PermanencyPaper(Paper):
    def __init__(self, permanency: Permanency, house: Sequence[str]) -> None:
        self._language = permanency.language
        self._has_lanes = has_lanes(permanency)
        self._columns = WHEEL_COLUMNS if self._has_lanes else OTHER_COLUMNS
        self._column, self._top = 0, 0.0
        proof = permanency.checkpoint
        super().__init__(
            [*header_lines(permanency)],
            permanency.language,
            permanency.end,
            house=house,
            code=None if proof is None else proof.hash,
        )
        self.set_auto_page_break(auto=False, margin=self.bottom)

    def header(self) -> None:
        super().header()
        self._column, self._top = 0, self.get_y()

    @property
    def _width(self) -> float:
        return (self.epw - (self._columns - 1) * _GAP) / self._columns

    @property
    def _left(self) -> float:
        return self.l_margin + self._column * (self._width + _GAP)

    def heading(self, line: str) -> None:
        """Print the heading of a session, and of its lanes."""
        self._need(4 * _LINE)
        self.set_font("Helvetica", "B", 8)
        self.set_x(self._left)
        self.cell(self._width, _LINE + 1, printable(line), new_x="LMARGIN", new_y="NEXT")
        if self._has_lanes:
            self._lanes(lane_names(self._language), 5.5)

    def entry(self, entry: PermanencyEntry) -> None:
        """Print a round or a gap."""
        if not self._has_lanes:
            self._note(entry, " ".join(filter(None, (entry.result, entry.note))))
        elif entry.kind == "result":
            self._need(_LINE)
            self._round(entry)
            lane = entry.lane if entry.lane in LANE_INK else "green"
            self._lanes({lane: entry.result}, 8.5)
            if entry.note:
                self._note(None, entry.note)
        else:
            self._note(entry, entry.note)

    def _round(self, entry: PermanencyEntry) -> None:
        number = str(entry.round) if entry.last == entry.round else f"{entry.round}-{entry.last}"
        self.set_x(self._left)
        self.set_text_color(*SOFT_INK)
        self.set_font("Helvetica", "", 6.5)
        self.cell(_ROUND, _LINE, number, align="R" if entry.last == entry.round else "L")
        time = local_clock(entry.time)
        self.set_font("Helvetica", "", 5.5)
        self.cell(_TIME, _LINE, time[:5] if self._has_lanes else time, align="R")
        self.set_text_color(*INK)

    def _lanes(self, texts: dict[str, str], size: float) -> None:
        """Print results in their lanes, with a rule below."""
        left = self._left + _ROUND + _TIME
        width = (self._width - _ROUND - _TIME) / len(LANES)
        self.set_font("Helvetica", "B", size)
        for index, lane in enumerate(LANES):
            self.set_text_color(*LANE_INK[lane])
            self.set_x(left + index * width)
            self.cell(width, _LINE, printable(texts.get(lane, "")), border="L", align="C")
        self.set_text_color(*INK)
        self.ln(_LINE)

    def _note(self, entry: PermanencyEntry | None, line: str) -> None:
        """Print text, wrapped: beside the round of its entry, or in the narrow columns of a wheel
        below it.
        """
        size, height = (5.5, 2.5) if self._has_lanes else (7.5, _LINE)
        indent = 1.0 if self._has_lanes else _ROUND + _TIME + 1
        style = "B" if entry is not None and entry.kind == "result" else "I"
        self.set_font("Helvetica", style, size)
        width = self._width - indent
        parts = cast(
            "list[str]",
            self.multi_cell(width, height, printable(line), dry_run=True, output="LINES"),
        )
        self._need(_LINE + len(parts) * height)
        if entry is not None:
            top = self.get_y()
            self._round(entry)
            self.set_y(top + _LINE if self._has_lanes else top)
        for part in parts:
            self.set_font("Helvetica", style, size)
            self.set_x(self._left + indent)
            self.cell(width, height, part, new_x="LMARGIN", new_y="NEXT")

    def _need(self, height: float) -> None:
        """Continue in the next column, or on the next page, if there is less room than this."""
        if self.get_y() + height <= self.h - self.b_margin:
            return
        if self._column + 1 == self._columns:
            self.add_page()
            return
        self._column += 1
        self.set_y(self._top)
