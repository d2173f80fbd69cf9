"""Several tables on one terminal: side by side where there is room, else one after the other."""

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
TURN = 8.0
"""Seconds for which one table is shown where there is no room for all."""


class Seen(msgspec.Struct, frozen=True):
    """One table as far as it was heard, and why it may be old."""

    view: TableView
    trouble: Trouble = Trouble()


def floor(tables: Sequence[Seen], width: int = 80, turn: int = 0) -> RenderableType:
    """The picture of all tables; of the one whose ``turn`` it is where they do not fit."""
    if len(tables) > 1 and width >= ROOM * len(tables):
        whole = Layout()
        own = (width - len(tables) + 1) // len(tables)
        columns: list[Layout] = []
        for index, each in enumerate(tables):
            columns += [Layout(Text(" "), size=1)] if index else []
            columns.append(Layout(picture(each.view, each.trouble, own)))
        whole.split_row(*columns)
        return whole
    shown = tables[turn % len(tables)]
    return picture(shown.view, shown.trouble, width, [each.view.table for each in tables])
