"""The picture of a craps table: the dice, the point, the shooter, and the latest throws."""

from __future__ import annotations

from rich import box
from rich.align import Align
from rich.console import RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from common.contract.messages.messages import text
from subscribers.display.craps import CrapsBody, ThrowPicture
from subscribers.display.picture import Picture
from subscribers.terminal.space import Room

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


def body(picture: Picture, craps: CrapsBody, _room: Room) -> list[RenderableType]:
    """The dice, their total, and the point."""
    language = picture.language
    rows: list[RenderableType] = [
        Align.center(_faces(craps.last)),
        Text(),
        Align.center(_total(craps.last, language)),
    ]
    label = (
        text("display.point", language, point=craps.point)
        if craps.on
        else text("display.come_out", language)
    )
    style = "bold black on white" if craps.on else "bold white on #303030"
    rows += [Text(), Align.center(Text(f" {label.upper()} ", style=style))]
    if craps.shooter is not None:
        throws = text("display.throws", language, who=craps.shooter)
        rows.append(Align.center(Text(throws, style="dim")))
    return rows


def _faces(last: ThrowPicture | None) -> Text:
    faces = [PIPS.get(value, BLANK) for value in last.dice] if last else [BLANK, BLANK]
    lines = Text(no_wrap=True)
    for row in range(3):
        for index, face in enumerate(faces):
            lines.append("   " if index else "").append(face[row], style=FACE if last else "dim")
        lines.append("\n" if row < 2 else "")
    return lines


def _total(last: ThrowPicture | None, language: str) -> Text:
    if last is None:
        return Text(text("display.no_result", language), style="dim")
    corrected = text("display.corrected", language) if last.corrected else ""
    return Text(" · ".join(filter(None, (str(last.total), last.said, corrected))), style="bold")


def side(picture: Picture, craps: CrapsBody, room: Room) -> RenderableType:
    """The latest throws, newest first; one that ends its series has a coloured background."""
    throws = craps.throws[: room.height]
    grid = Table.grid(expand=True, padding=0)
    grid.add_column(width=5, justify="right", style="bright_black", no_wrap=True)
    grid.add_column(ratio=1, no_wrap=True)
    for throw in throws:
        grid.add_row(Text(f"{throw.round} "), _line(throw, picture.language))
    return Panel(
        grid,
        title=text("display.last", picture.language, count=len(throws)),
        box=box.ROUNDED,
        border_style="bright_black",
    )


def _line(throw: ThrowPicture, language: str) -> Text:
    if throw.kind != "result":
        shown = text("display.void", language) if throw.kind == "void" else "?"
        style = "yellow" if throw.kind == "void" else "bold black on yellow"
        return Text(" " * INDENT_COLUMNS).append(shown, style=style)
    lost = throw.total == 7 and throw.point is not None
    style = f"bold white on {'#b3001b' if lost else '#1f8a4c'}" if throw.ends else "bold"
    total = f" {throw.total}{'*' if throw.corrected else ''} "
    line = Text(" " * INDENT_COLUMNS).append(total, style=style)
    return line.append(" " * (TOTAL_COLUMNS - len(total))).append(
        "+".join(map(str, throw.dice)), style="dim"
    )
