"""How the lines and columns of a picture are shared: between tables, and between the parts of
one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

ABREAST, TALL = 48, 24
"""Columns and lines that a table needs beside and above others."""
EASY = 80
"""Columns in which nothing of a table is shortened."""
BESIDE = ((100, 45), (70, 31), (60, 25))
"""From this width on, this many columns are used beside the round; in less they lie below it."""
BELOW, LEAST, BODY = 9, 5, 13
"""Lines of what lies below the round, at most and at least, and lines that the round needs above
it, with their frames.
"""
ROUND = 17
"""Lines that the round keeps, however much there is to note."""
NOTED = 3
"""Maximum share of the height for notes: one part of this number, if all fit."""
EDGES = 2
"""Lines of a frame; also the head line and the foot line of a table."""
FRAME = 4
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
    """The division of a table of this size, with this number of lines of notes."""
    whole = height - EDGES
    most = min(max(whole // NOTED, whole - ROUND), max(whole - ROUND, EDGES + 1))
    notes = min(noted + EDGES, most) if noted else 0
    left = whole - notes
    beside = next((columns for least, columns in BESIDE if width >= least), 0)
    below = 0 if beside or left < LEAST + BODY else min(BELOW, left - BODY)
    side = Room(beside - FRAME, left - EDGES) if beside else Room(width - FRAME, below - EDGES)
    return Shares(Room(width - beside - FRAME, left - below - EDGES), side, beside, below, notes)


def rows(tables: int, width: int, height: int) -> tuple[int, int]:
    """Into how many columns and rows tables are put, so that as many as possible are seen, and each
    as large as possible.
    """
    most, tall = max(1, width // ABREAST), max(1, height // TALL)

    def size(columns: int) -> tuple[int, float]:
        lines = min(tall, -(-tables // columns))
        seen = min(tables, columns * lines)
        return seen, min(width / columns / EASY, height / lines / TALL)

    columns = max(range(1, min(most, tables) + 1), key=size)
    return columns, min(tall, -(-tables // columns))


class Fitted:
    """A drawing that is made when its height is known."""

    def __init__(self, draw: Callable[[Console, int], RenderableType]) -> None:
        self._draw = draw

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        # console.render keeps the height, which a renderable that is yielded would lose
        height = options.height or options.max_height
        yield from console.render(self._draw(console, height), options.update(height=height))
