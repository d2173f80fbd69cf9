"""Several tables on one terminal: side by side and in rows if they fit, otherwise in turn."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import RenderableType
from rich.layout import Layout
from rich.text import Text

from subscribers.display.picture import Picture
from subscribers.terminal.screen import draw
from subscribers.terminal.space import MIN_TABLE_LINES, rows
from subscribers.terminal.table import TerminalTable

SCREENSHOT_COLUMNS = 60
"""Columns per table in a screenshot of many tables."""
CALLING_STATUSES = ("waiting", "stale", "fault")
"""Statuses of a table that are mentioned while it is not visible."""
TURN_SECONDS = 8.0
"""Seconds for which one page of tables is shown if they do not all fit."""


def draw_floor(
    tables: Sequence[TerminalTable], width: int = 80, turn: int = 0, height: int = MIN_TABLE_LINES
) -> RenderableType:
    """Return the drawing of all tables; if they do not all fit, of page ``turn``."""
    columns, lines = rows(len(tables), width, height)
    room = columns * lines
    pages = [tables[begin : begin + room] for begin in range(0, len(tables), room)]
    page = pages[turn % len(pages)]
    elsewhere = [
        table.picture
        for table in tables
        if table not in page and table.picture.status.id in CALLING_STATUSES
    ]
    if len(page) == 1:
        turns = [table.picture.table for table in tables] if room == 1 else ()
        return draw(page[0], width, turns, elsewhere)
    whole = Layout()
    shown = [page[begin : begin + columns] for begin in range(0, len(page), columns)]
    whole.split_column(
        *(_row(line, width, elsewhere if line is shown[-1] else ()) for line in shown)
    )
    return whole


def _row(tables: Sequence[TerminalTable], width: int, elsewhere: Sequence[Picture]) -> Layout:
    """Tables side by side. The last one mentions ``elsewhere``."""
    own = (width - len(tables) + 1) // len(tables)
    parts: list[Layout] = []
    for index, table in enumerate(tables):
        parts += [Layout(Text(" "), size=1)] if index else []
        calls = elsewhere if index == len(tables) - 1 else ()
        parts.append(Layout(draw(table, own, elsewhere=calls)))
    row = Layout()
    row.split_row(*parts)
    return row
