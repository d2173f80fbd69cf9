"""The picture of a roulette or boule table: the large number, its chances, the latest numbers in
three lanes, and frequencies.
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

from common.contract.messages.messages import text, word
from subscribers.terminal.digits import HEIGHT, large, times
from subscribers.terminal.space import Room
from subscribers.terminal.table_view import MAX_SPINS, Colour, SpinView, TableView

FACE_STYLES: dict[Colour, str] = {
    "red": "bold white on #b3001b",
    "black": "bold white on #101010",
    "green": "bold white on #00783c",
}
"""The large number: white on the colour of its pocket."""
DOZEN_CHANCES = ("dozen", "column")
"""Chances of twelve numbers."""
EVEN_CHANCES = ("colour", "parity", "half")
"""Chances of half the numbers."""
LANES: tuple[Colour, ...] = ("red", "green", "black")
ROUND_COLUMNS = 5
"""Columns of the round number."""
LANE_STYLES: dict[Colour, str] = {
    "red": "bold #ff5065",
    "black": "bold #f2f2f2",
    "green": "bold #33cc77",
}
"""The small numbers, on the terminal's background; black is shown white."""
EDGE_LINES, MARGIN_COLUMNS = 1, 3
"""Lines above and below the large number, and columns beside it."""
MIN_CAPTION_LINES = 4
"""Minimum lines below the large number, including an empty one."""
ACROSS_COLUMNS = 3
"""Columns per number in horizontal lanes."""
POCKETS = {
    "roulette-french": range(37),
    "roulette-american": range(37),
    "boule": range(1, 10),
}
"""The possible numbers, to find those that did not come; a second zero only counts once it came."""
MAX_EXTREMES, MIN_HOT_COUNT = 4, 2
"""Maximum number of hot and of cold numbers, and the minimum count of a hot one."""


def body(view: TableView, room: Room) -> list[RenderableType]:
    """Return the last number, large, and the chances that it wins."""
    last = view.last
    rows: list[RenderableType] = [Align.center(_face(last, room))]
    rows += [Text()] if room.height >= HEIGHT + 2 * EDGE_LINES + MIN_CAPTION_LINES else []
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
    """Return a line with the even chances, and one with dozen and column."""
    lines: dict[bool, list[str]] = {False: [], True: []}
    for chance, name in spin.chances:
        lines[chance in DOZEN_CHANCES].append(word(chance, name, language))
    return [" · ".join(line) for line in lines.values() if line]


def _face(spin: SpinView | None, room: Room) -> RenderableType:
    shown = "--" if spin is None or spin.number is None else spin.number
    return face(shown, "dim" if spin is None else FACE_STYLES[spin.colour or "black"], room)


def face(shown: str, style: str, room: Room) -> Text:
    """Return a number on its coloured background, as large as possible."""
    lines = large(
        shown,
        times(
            room.width - 2 * MARGIN_COLUMNS,
            room.height - 2 * EDGE_LINES - MIN_CAPTION_LINES,
            max(2, len(shown)),
        ),
    )
    edge = " " * (len(lines[0]) + 2 * MARGIN_COLUMNS)
    edges = [edge] * (
        EDGE_LINES if room.height >= HEIGHT + 2 * EDGE_LINES + MIN_CAPTION_LINES - 1 else 0
    )
    between = " " * MARGIN_COLUMNS
    return Text(
        "\n".join([*edges, *(f"{between}{line}{between}" for line in lines), *edges]),
        style=style,
        no_wrap=True,
    )


def side(view: TableView, room: Room) -> RenderableType:
    """Return the lanes: red left, zero in the middle, black right, newest first, so that a run of
    one colour is a line; and the frequencies, if they fit. The lanes are horizontal if they are
    below the round.
    """
    frequencies = _frequencies(view)
    across = room.height < MAX_SPINS // 2
    count = min(MAX_SPINS, room.width // ACROSS_COLUMNS if across else room.height)
    spins = list(reversed(view.spins))[:count]
    lanes: RenderableType = _across(spins) if across else _down(spins, room, view.language)
    free = room.height - (len(LANES) if across else MAX_SPINS + 1)
    frequencies = frequencies[: max(0, free)]
    parts = [lanes, *([] if across or not frequencies else [Text()]), *frequencies]
    return Panel(
        Group(*parts),
        title=text("display.last", view.language, count=count),
        box=box.ROUNDED,
        border_style="bright_black",
    )


def _down(spins: Sequence[SpinView], room: Room, language: str) -> Table:
    grid = Table.grid(expand=True, padding=0)
    grid.add_column(width=ROUND_COLUMNS, justify="right", style="bright_black", no_wrap=True)
    grid.add_column(ratio=1, no_wrap=True)
    lane = (room.width - ROUND_COLUMNS) // len(LANES)
    for index, spin in enumerate(spins):
        grid.add_row(Text(f"{spin.round} "), _line(spin, lane, index == 0, language))
    return grid


def _line(spin: SpinView, lane: int, newest: bool, language: str) -> Text:
    """Return the number in the middle of its lane; a round without a number, as a word across all
    lanes.
    """
    if spin.kind == "result":
        colour = spin.colour or "black"
        shown = Text(
            f" {spin.number}{'*' if spin.corrected else ''} ",
            style=FACE_STYLES[colour] if newest else LANE_STYLES[colour],
        )
        before = LANES.index(colour) * lane + (lane - len(shown)) // 2
    else:
        void = spin.kind == "void"
        label = text("display.void", language) if void else f"{spin.number or ''}?"
        shown = Text(label, style="yellow" if void else "bold black on yellow")
        before = (len(LANES) * lane - len(shown)) // 2
    return Text(" " * before).append_text(shown)


def _across(spins: Sequence[SpinView]) -> Text:
    """Return the three horizontal lanes, newest left; rounds without a number are in the middle."""
    lines = [Text(no_wrap=True) for _ in LANES]
    for index, spin in enumerate(spins):
        colour = spin.colour or "black" if spin.kind == "result" else "green"
        style = (
            "yellow"
            if spin.kind != "result"
            else FACE_STYLES[colour]
            if index == 0
            else LANE_STYLES[colour]
        )
        shown = {"void": "×", "unresolved": "?"}.get(spin.kind, spin.number or "")
        for lane, line in zip(LANES, lines, strict=True):
            line.append(f"{shown:>2}" if lane == colour else "  ", style=style).append(" ")
    return Text("\n").join(lines)


def _frequencies(view: TableView) -> list[Text]:
    """Return the share of each even chance among the latest numbers, and the most and least
    frequent numbers.
    """
    spins, language = list(view.sample.values()), view.language
    if not spins:
        return []
    count = len(spins)
    lines = [Text(text("display.sample", language, count=count), style="dim")]
    for chance in EVEN_CHANCES:
        counts = Counter(name for spin in spins for kind, name in spin.chances if kind == chance)
        shares = [
            f"{word(chance, name, language)} {round(100 * counts[name] / count)} %"
            for name in sorted(counts)
        ]
        lines += [Text(" · ".join(shares))] if shares else []
    counts = Counter(spin.number for spin in spins if spin.number is not None)
    hot = [
        (number, times)
        for number, times in counts.most_common(MAX_EXTREMES)
        if times >= MIN_HOT_COUNT
    ]
    if hot:
        lines.append(Text(text("display.hot", language, numbers=_counted(hot)), style="#ff9060"))
    pockets = [str(number) for number in POCKETS.get(str(view.state.get("game")), ())]
    if pockets and count >= len(pockets):
        since = {number: index for index, number in enumerate(came_last(spins))}
        cold = sorted(pockets, key=lambda number: (counts[number], since.get(number, -1)))[
            :MAX_EXTREMES
        ]
        coldest = _counted([(number, counts[number]) for number in cold])
        lines.append(Text(text("display.cold", language, numbers=coldest), style="#70b0ff"))
    return lines


def came_last(spins: Sequence[SpinView]) -> list[str]:
    """Return the numbers in the order of their last occurrence."""
    order: dict[str, None] = {}
    for spin in spins:
        if spin.number is not None:
            order.pop(spin.number, None)
            order[spin.number] = None
    return list(order)


def _counted(numbers: Sequence[tuple[str, int]]) -> str:
    return "  ".join(f"{number}×{times}" for number, times in numbers)
