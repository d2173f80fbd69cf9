"""Several tables on one terminal: side by side and in rows where there is room, otherwise in
turn.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from rich.console import RenderableType
from rich.layout import Layout
from rich.text import Text

from subscribers.screen import Trouble, picture
from subscribers.table_view import TableView

ROOM = 60
"""Columns that each table needs beside others."""
TALL = 24
"""Lines that a table needs above others."""
CALLS = ("waiting", "stale", "fault")
"""What is shown of a table that is not visible now."""
TURN = 8.0
"""Seconds for which one table is shown if there is no room for all."""


class TableOnFloor(msgspec.Struct, frozen=True):
    """One table as far as it is known, and why it may be old."""

    view: TableView
    trouble: Trouble = Trouble()


def floor(
    tables: Sequence[TableOnFloor], width: int = 80, turn: int = 0, height: int = TALL
) -> RenderableType:
    """The picture of all tables; if they do not all fit, of those whose ``turn`` it is."""
    columns, rows = max(1, min(len(tables), width // ROOM)), max(1, height // TALL)
    room = columns * rows
    pages = [tables[begin : begin + room] for begin in range(0, len(tables), room)]
    page = pages[turn % len(pages)]
    elsewhere = [
        seen.view for seen in tables if seen not in page and seen.view.state.get("status") in CALLS
    ]
    if len(page) == 1:
        turns = [each.view.table for each in tables] if room == 1 else ()
        return picture(page[0].view, page[0].trouble, width, turns, elsewhere)
    whole = Layout()
    lines = [page[begin : begin + columns] for begin in range(0, len(page), columns)]
    whole.split_column(
        *(_row(line, columns, width, elsewhere if line is lines[-1] else ()) for line in lines)
    )
    return whole


def _row(
    tables: Sequence[TableOnFloor], columns: int, width: int, elsewhere: Sequence[TableView]
) -> Layout:
    """Tables side by side, padded with empty columns. The last one mentions ``elsewhere``."""
    own = (width - columns + 1) // columns
    parts: list[Layout] = []
    for index in range(columns):
        parts += [Layout(Text(" "), size=1)] if index else []
        seen = tables[index] if index < len(tables) else None
        calls = elsewhere if index == len(tables) - 1 else ()
        parts.append(
            Layout(picture(seen.view, seen.trouble, own, elsewhere=calls) if seen else Text(" "))
        )
    row = Layout()
    row.split_row(*parts)
    return row
