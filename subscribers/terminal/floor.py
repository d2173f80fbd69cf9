"""Several tables on one terminal: side by side and in rows where there is room, otherwise in
turn.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from rich.console import RenderableType
from rich.layout import Layout
from rich.text import Text

from subscribers.terminal.screen import ScreenTrouble, picture
from subscribers.terminal.space import TALL, rows
from subscribers.terminal.table_view import TableView

ROOM = 60
"""Columns of each of many tables in a screenshot."""
CALLS = ("waiting", "stale", "fault")
"""The summary of a table that is not visible now."""
TURN = 8.0
"""Seconds for which one table is shown if there is no room for all."""


class TableOnFloor(msgspec.Struct, frozen=True):
    """One table as far as it is known, and why it may be old."""

    view: TableView
    trouble: ScreenTrouble = ScreenTrouble()


def floor(
    tables: Sequence[TableOnFloor], width: int = 80, turn: int = 0, height: int = TALL
) -> RenderableType:
    """The picture of all tables; if they do not all fit, of those whose ``turn`` it is."""
    columns, lines = rows(len(tables), width, height)
    room = columns * lines
    pages = [tables[begin : begin + room] for begin in range(0, len(tables), room)]
    page = pages[turn % len(pages)]
    elsewhere = [
        seen.view for seen in tables if seen not in page and seen.view.state.get("status") in CALLS
    ]
    if len(page) == 1:
        turns = [each.view.table for each in tables] if room == 1 else ()
        return picture(page[0].view, page[0].trouble, width, turns, elsewhere)
    whole = Layout()
    shown = [page[begin : begin + columns] for begin in range(0, len(page), columns)]
    whole.split_column(
        *(_row(line, width, elsewhere if line is shown[-1] else ()) for line in shown)
    )
    return whole


def _row(tables: Sequence[TableOnFloor], width: int, elsewhere: Sequence[TableView]) -> Layout:
    """Tables side by side. The last one mentions ``elsewhere``."""
    own = (width - len(tables) + 1) // len(tables)
    parts: list[Layout] = []
    for index, seen in enumerate(tables):
        parts += [Layout(Text(" "), size=1)] if index else []
        calls = elsewhere if index == len(tables) - 1 else ()
        parts.append(Layout(picture(seen.view, seen.trouble, own, elsewhere=calls)))
    row = Layout()
    row.split_row(*parts)
    return row
