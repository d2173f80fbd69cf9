"""The picture of a roulette or boule table: the large number, its chances, the latest ones in three
lanes, and how often what came.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich import box
from rich.align import Align
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from controller.contract.messages.messages import text, word
from subscribers.terminal.digits import HEIGHT, large, times
from subscribers.terminal.space import Room
from subscribers.terminal.table_view import SPINS, Colour, SpinView, TableView

FACE: dict[Colour, str] = {
    "red": "bold white on #b3001b",
    "black": "bold white on #101010",
    "green": "bold white on #00783c",
}
"""The large number: white on the colour of its pocket."""
TWELVE = ("dozen", "column")
"""Chances of twelve numbers."""
SIMPLE = ("colour", "parity", "half")
"""Chances of half the numbers."""
LANES: tuple[Colour, ...] = ("red", "green", "black")
ROUND = 5
"""Columns of the round number."""
LANE: dict[Colour, str] = {"red": "bold #ff5065", "black": "bold #f2f2f2", "green": "bold #33cc77"}
"""The small numbers, on the terminal's background; black is shown white."""
EDGE, MARGIN = 1, 3
"""Lines above and below the large number, and columns beside it."""
TOLD = 4
"""Lines below the large number, with a line between."""
ACROSS = 3
"""Columns of a number where the lanes run across, newest first."""
POCKETS = {
    "roulette-french": range(37),
    "roulette-american": range(37),
    "boule": range(1, 10),
}
"""The numbers that may come, for those that do not; a second zero is seen when it has come."""
EXTREMES, TWICE = 4, 2
"""How many numbers are called hot or cold, and how often a hot one has come at least."""


def body(view: TableView, room: Room) -> list[RenderableType]:
    """The number and its chances."""
    last = view.last
    rows: list[RenderableType] = [Align.center(_face(last, room))]
    rows += [Text()] if room.height >= HEIGHT + 2 * EDGE + TOLD else []
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


def _chances(spin: SpinView, language: str) -> list[str]:
    """The even chances; below them dozen and column."""
    lines: dict[bool, list[str]] = {False: [], True: []}
    for chance, name in spin.chances:
        lines[chance in TWELVE].append(word(chance, name, language))
    return [" · ".join(line) for line in lines.values() if line]


def _face(spin: SpinView | None, room: Room) -> RenderableType:
    shown = "--" if spin is None or spin.number is None else spin.number
    return face(shown, "dim" if spin is None else FACE[spin.colour or "black"], room)


def face(shown: str, style: str, room: Room) -> Text:
    """A number on its ground, as large as the space beside its text allows."""
    lines = large(
        shown,
        times(room.width - 2 * MARGIN, room.height - 2 * EDGE - TOLD, max(2, len(shown))),
    )
    edge = " " * (len(lines[0]) + 2 * MARGIN)
    edges = [edge] * (EDGE if room.height >= HEIGHT + 2 * EDGE + TOLD - 1 else 0)
    between = " " * MARGIN
    return Text(
        "\n".join([*edges, *(f"{between}{line}{between}" for line in lines), *edges]),
        style=style,
        no_wrap=True,
    )


def side(view: TableView, room: Room) -> RenderableType:
    """Red left, zero in the middle, black right, newest first, so that a run of one colour reads as
    a line; below that, where there is room, what came how often. The lanes run across where they
    lie below the round.
    """
    told = _often(view)
    across = room.height < SPINS // 2
    count = min(SPINS, room.width // ACROSS if across else room.height)
    spins = list(reversed(view.spins))[:count]
    lanes: RenderableType = _across(spins) if across else _down(spins, room, view.language)
    free = room.height - (len(LANES) if across else SPINS + 1)
    told = told[: max(0, free)]
    parts = [lanes, *([] if across or not told else [Text()]), *told]
    return Panel(
        Group(*parts),
        title=text("display.last", view.language, count=count),
        box=box.ROUNDED,
        border_style="bright_black",
    )


def _down(spins: Sequence[SpinView], room: Room, language: str) -> Table:
    grid = Table.grid(expand=True, padding=0)
    grid.add_column(width=ROUND, justify="right", style="bright_black", no_wrap=True)
    grid.add_column(ratio=1, no_wrap=True)
    lane = (room.width - ROUND) // len(LANES)
    for index, spin in enumerate(spins):
        grid.add_row(Text(f"{spin.round} "), _line(spin, lane, index == 0, language))
    return grid


def _line(spin: SpinView, lane: int, newest: bool, language: str) -> Text:
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


def _across(spins: Sequence[SpinView]) -> Text:
    """Three lines, newest left; rounds without a number are in the middle one."""
    lines = [Text(no_wrap=True) for _ in LANES]
    for index, spin in enumerate(spins):
        colour = spin.colour or "black" if spin.kind == "result" else "green"
        style = "yellow" if spin.kind != "result" else FACE[colour] if index == 0 else LANE[colour]
        shown = {"void": "×", "unresolved": "?"}.get(spin.kind, spin.number or "")
        for each, line in zip(LANES, lines, strict=True):
            line.append(f"{shown:>2}" if each == colour else "  ", style=style).append(" ")
    return Text("\n").join(lines)


def _often(view: TableView) -> list[Text]:
    """The share of each simple chance among the latest numbers, and those that came most and
    least often.
    """
    spins, language = list(view.sample.values()), view.language
    if not spins:
        return []
    count = len(spins)
    lines = [Text(text("display.sample", language, count=count), style="dim")]
    for chance in SIMPLE:
        came = Counter(name for spin in spins for each, name in spin.chances if each == chance)
        shares = [
            f"{word(chance, name, language)} {round(100 * came[name] / count)} %"
            for name in sorted(came)
        ]
        lines += [Text(" · ".join(shares))] if shares else []
    came = Counter(spin.number for spin in spins if spin.number is not None)
    hot = [(number, times) for number, times in came.most_common(EXTREMES) if times >= TWICE]
    if hot:
        lines.append(Text(text("display.hot", language, numbers=_counted(hot)), style="#ff9060"))
    pockets = [str(number) for number in POCKETS.get(str(view.state.get("game")), ())]
    if pockets and count >= len(pockets):
        since = {number: index for index, number in enumerate(came_last(spins))}
        cold = sorted(pockets, key=lambda number: (came[number], since.get(number, -1)))[:EXTREMES]
        told = _counted([(number, came[number]) for number in cold])
        lines.append(Text(text("display.cold", language, numbers=told), style="#70b0ff"))
    return lines


def came_last(spins: Sequence[SpinView]) -> list[str]:
    """The numbers in the order in which each came for the last time."""
    order: dict[str, None] = {}
    for spin in spins:
        if spin.number is not None:
            order.pop(spin.number, None)
            order[spin.number] = None
    return list(order)


def _counted(numbers: Sequence[tuple[str, int]]) -> str:
    return "  ".join(f"{number}×{times}" for number, times in numbers)
