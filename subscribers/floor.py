"""Several tables on one terminal: side by side and one above the other where there is room, else in turns."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from rich.console import RenderableType
from rich.layout import Layout
from rich.text import Text

from subscribers.screen import Trouble, picture
from subscribers.table_view import TableView

ROOM = 60
"""Columns that each of several tables needs beside the others."""
TALL = 24
"""Lines that a table needs above others."""
TURN = 8.0
"""Seconds for which one table is shown where there is no room for all."""


class Seen(msgspec.Struct, frozen=True):
    """One table as far as it was heard, and why it may be old."""

    view: TableView
    trouble: Trouble = Trouble()


def floor(tables: Sequence[Seen], width: int = 80, turn: int = 0, height: int = TALL) -> RenderableType:
    """The picture of all tables; of those whose ``turn`` it is where they do not all fit."""
    columns, rows = max(1, min(len(tables), width // ROOM)), max(1, height // TALL)
    room = columns * rows
    if room == 1:
        shown = tables[turn % len(tables)]
        return picture(shown.view, shown.trouble, width, [each.view.table for each in tables])
    pages = [tables[begin : begin + room] for begin in range(0, len(tables), room)]
    page = pages[turn % len(pages)]
    if len(page) == 1:
        return picture(page[0].view, page[0].trouble, width)
    whole = Layout()
    whole.split_column(*(_row(page[begin : begin + columns], columns, width) for begin in range(0, len(page), columns)))
    return whole


def _row(tables: Sequence[Seen], columns: int, width: int) -> Layout:
    """Tables side by side; where there are fewer than columns, the place of the others is empty."""
    own = (width - columns + 1) // columns
    parts: list[Layout] = []
    for index in range(columns):
        parts += [Layout(Text(" "), size=1)] if index else []
        seen = tables[index] if index < len(tables) else None
        parts.append(Layout(picture(seen.view, seen.trouble, own) if seen else Text(" ")))
    row = Layout()
    row.split_row(*parts)
    return row
