"""Layout: shares of lines and columns, between tables and between the parts of one table."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

from subscribers.terminal.current import Printable

MIN_TABLE_COLUMNS, MIN_TABLE_LINES = 48, 24
"""Minimum size of a table that shares the terminal with others."""
FULL_TABLE_COLUMNS = 80
"""Columns from which no part of a table is shortened."""
SIDE_COLUMNS = ((100, 45), (70, 31), (60, 25))
"""Minimum width and the columns then used beside the round; in less width that part is below it."""
MAX_BELOW_LINES, MIN_BELOW_LINES, MIN_BODY_LINES = 9, 5, 13
"""Maximum and minimum lines of the part below the round, and minimum lines of the round above it,
with their frames.
"""
MIN_ROUND_LINES = 17
"""Minimum lines of the round, regardless of the number of notes."""
NOTES_SHARE = 3
"""Notes may use this fraction of the height: one third."""
FRAME_LINES = 2
"""Lines of a frame; also the head line and the foot line of a table."""
FRAME_COLUMNS = 4
"""Columns of a frame with its padding."""


class Room(NamedTuple):
    """The columns and lines inside a frame."""

    width: int
    height: int


class Shares(NamedTuple):
    """The parts of one table, in columns or lines with their frames. ``beside``: columns of the
    part beside the round; ``below``: lines of the same, below it; 0: none. ``notes``: lines.
    """

    now: Room
    side: Room
    beside: int
    below: int
    notes: int


def shares(width: int, height: int, noted: int) -> Shares:
    """Return the parts of a table of this size. ``noted``: lines of notes."""
    whole = height - FRAME_LINES
    max_notes = min(
        max(whole // NOTES_SHARE, whole - MIN_ROUND_LINES),
        max(whole - MIN_ROUND_LINES, FRAME_LINES + 1),
    )
    notes = min(noted + FRAME_LINES, max_notes) if noted else 0
    remaining = whole - notes
    beside = next((columns for min_width, columns in SIDE_COLUMNS if width >= min_width), 0)
    below = (
        0
        if beside or remaining < MIN_BELOW_LINES + MIN_BODY_LINES
        else min(MAX_BELOW_LINES, remaining - MIN_BODY_LINES)
    )
    side = (
        Room(beside - FRAME_COLUMNS, remaining - FRAME_LINES)
        if beside
        else Room(width - FRAME_COLUMNS, below - FRAME_LINES)
    )
    return Shares(
        Room(width - beside - FRAME_COLUMNS, remaining - below - FRAME_LINES),
        side,
        beside,
        below,
        notes,
    )


def rows(tables: int, width: int, height: int) -> tuple[int, int]:
    """Return into how many columns and rows to arrange the tables, so that as many as possible are
    visible, each as large as possible.
    """
    max_columns, tall = max(1, width // MIN_TABLE_COLUMNS), max(1, height // MIN_TABLE_LINES)

    def size(columns: int) -> tuple[int, float]:
        lines = min(tall, -(-tables // columns))
        visible = min(tables, columns * lines)
        return visible, min(width / columns / FULL_TABLE_COLUMNS, height / lines / MIN_TABLE_LINES)

    columns = max(range(1, min(max_columns, tables) + 1), key=size)
    return columns, min(tall, -(-tables // columns))


class Fitted:
    """A renderable that is drawn once its height is known."""

    def __init__(self, draw: Callable[[Console, int], RenderableType]) -> None:
        self._draw = draw

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        # console.render passes the height on; yielding the renderable would lose it
        height = options.height or options.max_height
        drawn = Printable(self._draw(console, height))
        yield from console.render(drawn, options.update(height=height))
