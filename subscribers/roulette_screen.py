"""The picture of a roulette table: the large number, its chances, and the latest ones in three
lanes.
"""

from __future__ import annotations

from rich import box
from rich.align import Align
from rich.console import RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from controller.contract.messages.messages import text, word
from subscribers.digits import large
from subscribers.table_view import SPINS, Colour, Spin, TableView

FACE: dict[Colour, str] = {
    "red": "bold white on #b3001b",
    "black": "bold white on #101010",
    "green": "bold white on #00783c",
}
"""The large number: white on the colour of its pocket."""
TWELVE = ("dozen", "column")
"""Chances of twelve numbers."""
LANES: tuple[Colour, ...] = ("red", "green", "black")
ROUND, FRAME = 5, 4
"""Columns of the round number, and of the frame with its padding."""
LANE: dict[Colour, str] = {"red": "bold #ff5065", "black": "bold #f2f2f2", "green": "bold #33cc77"}
"""The small numbers, on the terminal's background; black is shown white."""


def body(view: TableView) -> list[RenderableType]:
    """The number and its chances."""
    last = view.last
    rows: list[RenderableType] = [Align.center(_face(last)), Text()]
    language = view.language
    if last is None:
        rows.append(Align.center(Text(text("display.no_result", language), style="dim")))
        return rows
    rows += [Align.center(Text(line, style="bold")) for line in _chances(last, language)]
    if last.round != view.round and not view.asks:
        rows.append(
            Align.center(
                Text(text("display.number_of_round", language, round=last.round), style="dim")
            )
        )
    return rows


def _chances(spin: Spin, language: str) -> list[str]:
    """The even chances; below them dozen and column."""
    lines: dict[bool, list[str]] = {False: [], True: []}
    for chance, name in spin.chances:
        lines[chance in TWELVE].append(word(chance, name, language))
    return [" · ".join(line) for line in lines.values() if line]


def _face(spin: Spin | None) -> RenderableType:
    shown = "--" if spin is None or spin.number is None else spin.number
    style = "dim" if spin is None else FACE[spin.colour or "black"]
    lines = large(shown)
    edge = " " * (len(lines[0]) + 6)
    return Text(
        "\n".join([edge, *(f"   {line}   " for line in lines), edge]), style=style, no_wrap=True
    )


def side(view: TableView, width: int) -> RenderableType:
    """Red left, zero in the middle, black right, newest first, so that a run of one colour reads as
    a line.
    """
    grid = Table.grid(expand=True, padding=0)
    grid.add_column(width=ROUND, justify="right", style="bright_black", no_wrap=True)
    grid.add_column(ratio=1, no_wrap=True)
    lane = (width - FRAME - ROUND) // len(LANES)
    for index, spin in enumerate(reversed(view.spins)):
        grid.add_row(Text(f"{spin.round} "), _line(spin, lane, index == 0, view.language))
    return Panel(
        grid,
        title=text("display.last", view.language, count=SPINS),
        box=box.ROUNDED,
        border_style="bright_black",
    )


def _line(spin: Spin, lane: int, newest: bool, language: str) -> Text:
    """The outcome in the middle of its lane; a word, for a round without number, across all
    three.
    """
    if spin.kind == "result":
        colour = spin.colour or "black"
        shown = Text(
            f" {spin.number}{'*' if spin.corrected else ''} ",
            style=FACE[colour] if newest else LANE[colour],
        )
        before = LANES.index(colour) * lane + (lane - len(shown)) // 2
    else:
        void = spin.kind == "void"
        said = text("display.void", language) if void else f"{spin.number or ''}?"
        shown = Text(said, style="yellow" if void else "bold black on yellow")
        before = (len(LANES) * lane - len(shown)) // 2
    return Text(" " * before).append_text(shown)
