"""The picture of a table of craps: the dice, the point, who throws, and the latest throws."""

from __future__ import annotations

from rich import box
from rich.align import Align
from rich.console import RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from subscribers.dice_events import Throw
from subscribers.table_view import SPINS, TableView

FACE = "bold white on #a01828"
PIPS = {
    1: ("       ", "   ●   ", "       "),
    2: (" ●     ", "       ", "     ● "),
    3: (" ●     ", "   ●   ", "     ● "),
    4: (" ●   ● ", "       ", " ●   ● "),
    5: (" ●   ● ", "   ●   ", " ●   ● "),
    6: (" ●   ● ", " ●   ● ", " ●   ● "),
}
BLANK = ("       ", "   ?   ", "       ")
NAMES = {2: "snake eyes", 3: "craps", 11: "eleven", 12: "boxcars"}
"""What totals are called at the table."""


def body(view: TableView) -> list[RenderableType]:
    """The dice, what they come to, and what is thrown against."""
    last = view.dice.last
    point = view.dice.point
    rows: list[RenderableType] = [Align.center(_faces(last)), Text(), Align.center(_total(last))]
    marker = Text(f" POINT {point} ", style="bold black on white") if point else Text(" COME-OUT ", style="bold white on #303030")
    rows += [Text(), Align.center(marker)]
    if view.dice.shooter is not None:
        rows.append(Align.center(Text(f"seat {view.dice.shooter} throws", style="dim")))
    return rows


def _faces(last: Throw | None) -> Text:
    faces = [PIPS.get(value, BLANK) for value in last.dice] if last else [BLANK, BLANK]
    text = Text(no_wrap=True)
    for row in range(3):
        for index, face in enumerate(faces):
            text.append("   " if index else "").append(face[row], style=FACE if last else "dim")
        text.append("\n" if row < 2 else "")
    return text


def _total(last: Throw | None) -> Text:
    if last is None:
        return Text("no result yet", style="dim")
    hard = len(last.dice) == len(set(last.dice)) + 1 and last.total in (4, 6, 8, 10)
    words = [str(last.total), "the hard way" if hard else NAMES.get(last.total, ""), "corrected" if last.corrected else ""]
    return Text(" · ".join(word for word in words if word), style="bold")


def side(view: TableView, _width: int) -> RenderableType:
    """The latest throws, newest on top; one that ends its series stands on a ground of its own."""
    grid = Table.grid(expand=True, padding=0)
    grid.add_column(width=5, justify="right", style="bright_black", no_wrap=True)
    grid.add_column(ratio=1, justify="center", no_wrap=True)
    grid.add_column(ratio=1, justify="left", no_wrap=True)
    for throw in list(reversed(view.dice.throws))[:SPINS]:
        grid.add_row(Text(f"{throw.round} "), *_line(throw))
    return Panel(grid, title=f"last {SPINS}", box=box.ROUNDED, border_style="bright_black")


def _line(throw: Throw) -> tuple[Text, Text]:
    if throw.kind != "result":
        shown = "null" if throw.kind == "void" else "?"
        return Text(shown, style="yellow" if throw.kind == "void" else "bold black on yellow"), Text()
    lost = throw.total == 7 and throw.point is not None
    style = f"bold white on {'#b3001b' if lost else '#1f8a4c'}" if throw.ends else "bold"
    total = Text(f" {throw.total}{'*' if throw.corrected else ''} ", style=style)
    return total, Text("+".join(map(str, throw.dice)), style="dim")
