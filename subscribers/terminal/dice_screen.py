"""The picture of a craps table: the dice, the point, the shooter, and the latest throws."""

from __future__ import annotations

from rich import box
from rich.align import Align
from rich.console import RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from common.contract.messages.messages import text
from subscribers.terminal import words
from subscribers.terminal.dice_events import ThrowView
from subscribers.terminal.space import Room
from subscribers.terminal.table_view import MAX_SPINS, TableView

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
INDENT_COLUMNS, TOTAL_COLUMNS = 2, 7
"""Columns before a throw, and for its total."""
NAMED_TOTALS = (2, 3, 11, 12)
"""Totals that have a name at the table."""


def body(view: TableView, _room: Room) -> list[RenderableType]:
    """The dice, their total, and the point."""
    last = view.dice.last
    point = view.dice.point
    rows: list[RenderableType] = [
        Align.center(_faces(last)),
        Text(),
        Align.center(_total(last, view.language)),
    ]
    label = (
        text("display.point", view.language, point=point)
        if point
        else text("display.come_out", view.language)
    )
    marker = Text(
        f" {label.upper()} ", style="bold black on white" if point else "bold white on #303030"
    )
    rows += [Text(), Align.center(marker)]
    if view.dice.shooter is not None:
        who = words.who(f"seat:{view.dice.shooter}", view.language)
        rows.append(Align.center(Text(text("display.throws", view.language, who=who), style="dim")))
    return rows


def _faces(last: ThrowView | None) -> Text:
    faces = [PIPS.get(value, BLANK) for value in last.dice] if last else [BLANK, BLANK]
    lines = Text(no_wrap=True)
    for row in range(3):
        for index, face in enumerate(faces):
            lines.append("   " if index else "").append(face[row], style=FACE if last else "dim")
        lines.append("\n" if row < 2 else "")
    return lines


def _total(last: ThrowView | None, language: str) -> Text:
    if last is None:
        return Text(text("display.no_result", language), style="dim")
    hard = len(last.dice) == len(set(last.dice)) + 1 and last.total in (4, 6, 8, 10)
    parts = [str(last.total)]
    parts += [text("display.hard", language)] if hard else []
    parts += [text(f"display.thrown_{last.total}", language)] if last.total in NAMED_TOTALS else []
    parts += [text("display.corrected", language)] if last.corrected else []
    return Text(" · ".join(parts), style="bold")


def side(view: TableView, room: Room) -> RenderableType:
    """The latest throws, newest first; one that ends its series has a coloured background."""
    count = min(MAX_SPINS, room.height)
    grid = Table.grid(expand=True, padding=0)
    grid.add_column(width=5, justify="right", style="bright_black", no_wrap=True)
    grid.add_column(ratio=1, no_wrap=True)
    for throw in list(reversed(view.dice.throws))[:count]:
        grid.add_row(Text(f"{throw.round} "), _line(throw, view.language))
    return Panel(
        grid,
        title=text("display.last", view.language, count=count),
        box=box.ROUNDED,
        border_style="bright_black",
    )


def _line(throw: ThrowView, language: str) -> Text:
    if throw.kind != "result":
        shown = text("display.void", language) if throw.kind == "void" else "?"
        return Text(" " * INDENT_COLUMNS).append(
            shown, style="yellow" if throw.kind == "void" else "bold black on yellow"
        )
    lost = throw.total == 7 and throw.point is not None
    style = f"bold white on {'#b3001b' if lost else '#1f8a4c'}" if throw.ends else "bold"
    total = f" {throw.total}{'*' if throw.corrected else ''} "
    line = Text(" " * INDENT_COLUMNS).append(total, style=style)
    return line.append(" " * (TOTAL_COLUMNS - len(total))).append(
        "+".join(map(str, throw.dice)), style="dim"
    )
