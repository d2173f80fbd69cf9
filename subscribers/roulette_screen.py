"""The picture of a roulette table: the number large, what it is, and the latest ones in three lanes."""

from __future__ import annotations

from rich import box
from rich.align import Align
from rich.console import RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from subscribers.digits import large
from subscribers.table_view import SPINS, Colour, Spin, TableView

FACE: dict[Colour, str] = {"red": "bold white on #b3001b", "black": "bold white on #101010", "green": "bold white on #00783c"}
"""The large number: white on the colour of its pocket."""
LANE: dict[Colour, str] = {"red": "bold #ff5065", "black": "bold #f2f2f2", "green": "bold #33cc77"}
"""The small ones, on the terminal's own background; black is shown white."""


def body(view: TableView) -> list[RenderableType]:
    """The number, and what it is."""
    last = view.last
    rows: list[RenderableType] = [Align.center(_face(last)), Text()]
    chances = Text(" · ".join(last.chances) if last else "no result yet", style="bold" if last else "dim", justify="center")
    rows.append(Align.center(chances))
    if last and last.round != view.round and not view.asks:
        rows.append(Align.center(Text(f"the number of round {last.round}", style="dim")))
    return rows


def _face(spin: Spin | None) -> RenderableType:
    text = "--" if spin is None or spin.number is None else spin.number
    style = "dim" if spin is None else FACE[spin.colour or "black"]
    lines = large(text)
    edge = " " * (len(lines[0]) + 6)
    return Text("\n".join([edge, *(f"   {line}   " for line in lines), edge]), style=style, no_wrap=True)


def side(view: TableView, _width: int) -> RenderableType:
    """Red left, zero in the middle, black right, newest on top, so that a run of one colour reads as a line."""
    grid = Table.grid(expand=True, padding=0)
    grid.add_column(width=5, justify="right", style="bright_black", no_wrap=True)
    for _ in range(3):
        grid.add_column(ratio=1, justify="center", no_wrap=True)
    for index, spin in enumerate(reversed(view.spins)):
        grid.add_row(*_lane(spin, newest=index == 0))
    return Panel(grid, title=f"last {SPINS}", box=box.ROUNDED, border_style="bright_black")


def _lane(spin: Spin, newest: bool) -> list[Text]:
    cells = [Text() for _ in range(3)]
    if spin.kind == "void":
        cells[1] = Text("null", style="yellow")
    elif spin.kind == "unresolved":
        cells[1] = Text(f"{spin.number or ''}?", style="bold black on yellow")
    else:
        colour = spin.colour or "black"
        mark = "*" if spin.corrected else ""
        style = FACE[colour] if newest else LANE[colour]
        cells[("red", "green", "black").index(colour)] = Text(f" {spin.number}{mark} ", style=style)
    return [Text(f"{spin.round} "), *cells]
