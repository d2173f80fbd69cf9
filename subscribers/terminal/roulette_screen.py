"""The picture of a roulette or boule table: the large number, its chances, the latest numbers in
three lanes, and frequencies.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.align import Align
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from common.contract.messages.messages import text
from subscribers.display.boule import BouleBody
from subscribers.display.picture import Picture
from subscribers.display.roulette import RouletteBody
from subscribers.display.spins import NO_COLOUR, SpinPicture
from subscribers.display.statistics import Frequency
from subscribers.terminal.digits import HEIGHT, large, times
from subscribers.terminal.space import Room

NumberBody = RouletteBody | BouleBody
FACE_STYLES = {
    "red": "bold white on #b3001b",
    "black": "bold white on #101010",
    "green": "bold white on #00783c",
    NO_COLOUR: "bold white on #505050",
}
"""The large number: white on the colour of its pocket."""
MAX_LANES = 20
"""Latest spins below each other: what came how often needs the rest of the room."""
EVEN_CHANCES = ("colour", "parity", "half")
"""Groups of chances of half the numbers, which are the first chances of a number."""
LANES = (("red",), ("green", NO_COLOUR), ("black",))
"""The colours of each lane."""
ROUND_COLUMNS = 5
"""Columns of the round number."""
LANE_STYLES = {
    "red": "bold #ff5065",
    "black": "bold #f2f2f2",
    "green": "bold #33cc77",
    NO_COLOUR: "bold #b0b0b0",
}
"""The small numbers, on the terminal's background; black is shown white."""
EDGE_LINES, MARGIN_COLUMNS = 1, 3
"""Lines above and below the large number, and columns beside it."""
MIN_CAPTION_LINES = 4
"""Minimum lines below the large number, including an empty one."""
ACROSS_COLUMNS = 3
"""Columns per number in horizontal lanes."""
MIN_LINES_DOWN = 10
"""Lines from which the lanes are vertical."""


def body(picture: Picture, wheel: NumberBody, room: Room) -> list[RenderableType]:
    """Return the last number, large, and the chances that it wins."""
    last, language = wheel.last, picture.language
    rows: list[RenderableType] = [Align.center(_face(last, room))]
    rows += [Text()] if room.height >= HEIGHT + 2 * EDGE_LINES + MIN_CAPTION_LINES else []
    if last is None:
        rows.append(Align.center(Text(text("display.no_result", language), style="dim")))
        return rows
    even, others = wheel.chances[: len(EVEN_CHANCES)], wheel.chances[len(EVEN_CHANCES) :]
    rows += [Align.center(Text(" · ".join(line), style="bold")) for line in (even, others) if line]
    if last.round not in (None, picture.round) and not picture.waits:
        of_round = text("display.number_of_round", language, round=last.round)
        rows.append(Align.center(Text(of_round, style="dim")))
    return rows


def _face(spin: SpinPicture | None, room: Room) -> RenderableType:
    if spin is None or spin.number is None:
        return face("--", "dim", room)
    return face(spin.number, FACE_STYLES[spin.colour or NO_COLOUR], room)


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


def side(picture: Picture, wheel: NumberBody, room: Room) -> RenderableType:
    """Return the lanes: red left, zero in the middle, black right, newest first, so that a run of
    one colour is a line; and the frequencies, if they fit. The lanes are horizontal if they are
    below the round.
    """
    across = room.height < MIN_LINES_DOWN
    spins = wheel.spins[: room.width // ACROSS_COLUMNS if across else min(room.height, MAX_LANES)]
    lanes: RenderableType = _across(spins) if across else _down(spins, room, picture.language)
    free = room.height - (len(LANES) if across else len(spins) + 1)
    frequencies = _frequencies(wheel, picture.language)[: max(0, free)]
    parts = [lanes, *([] if across or not frequencies else [Text()]), *frequencies]
    return Panel(
        Group(*parts),
        title=text("display.last", picture.language, count=len(spins)),
        box=box.ROUNDED,
        border_style="bright_black",
    )


def _lane(spin: SpinPicture) -> int:
    """Return the lane of a spin; a round without a number is in the middle."""
    return next((index for index, colours in enumerate(LANES) if spin.colour in colours), 1)


def _down(spins: Sequence[SpinPicture], room: Room, language: str) -> Table:
    grid = Table.grid(expand=True, padding=0)
    grid.add_column(width=ROUND_COLUMNS, justify="right", style="bright_black", no_wrap=True)
    grid.add_column(ratio=1, no_wrap=True)
    lane = (room.width - ROUND_COLUMNS) // len(LANES)
    for index, spin in enumerate(spins):
        grid.add_row(Text(f"{spin.round} "), _line(spin, lane, index == 0, language))
    return grid


def _line(spin: SpinPicture, lane: int, newest: bool, language: str) -> Text:
    """Return the number in the middle of its lane; a round without a number, as a word across all
    lanes.
    """
    if spin.kind == "result":
        styles = FACE_STYLES if newest else LANE_STYLES
        shown = Text(
            f" {spin.number}{'*' if spin.corrected else ''} ",
            style=styles[spin.colour or NO_COLOUR],
        )
        before = _lane(spin) * lane + (lane - len(shown)) // 2
    else:
        void = spin.kind == "void"
        shown = Text(
            text("display.void", language) if void else "?",
            style="yellow" if void else "bold black on yellow",
        )
        before = (len(LANES) * lane - len(shown)) // 2
    return Text(" " * before).append_text(shown)


def _across(spins: Sequence[SpinPicture]) -> Text:
    """Return the three horizontal lanes, newest left; rounds without a number are in the middle."""
    lines = [Text(no_wrap=True) for _ in LANES]
    for index, spin in enumerate(spins):
        styles = FACE_STYLES if index == 0 else LANE_STYLES
        style = "yellow" if spin.kind != "result" else styles[spin.colour or NO_COLOUR]
        shown = {"void": "×", "unresolved": "?"}.get(spin.kind, spin.number or "")
        for lane, line in enumerate(lines):
            line.append(f"{shown:>2}" if lane == _lane(spin) else "  ", style=style).append(" ")
    return Text("\n").join(lines)


def _frequencies(wheel: NumberBody, language: str) -> list[Text]:
    """Return the share of each even chance among the latest numbers, and the most and least
    frequent numbers.
    """
    if not wheel.windows or not wheel.windows[-1].counted:
        return []
    window = wheel.windows[-1]
    lines = [Text(text("display.sample", language, count=window.counted), style="dim")]
    lines += [
        Text(
            " · ".join(
                f"{share.text} {round(share.percent)} %"
                for share in window.groups[group]
                if share.count
            )
        )
        for group in EVEN_CHANCES
    ]
    if isinstance(wheel, RouletteBody) and wheel.extremes:
        extremes = wheel.extremes[-1]
        for key, numbers, style in (
            ("hot", extremes.hot, "#ff9060"),
            ("cold", extremes.cold, "#70b0ff"),
        ):
            counted = text(f"display.{key}", language, numbers=_counted(numbers))
            lines.append(Text(counted, style=style))
    return lines


def _counted(numbers: Sequence[Frequency]) -> str:
    return "  ".join(f"{number.what}×{number.count}" for number in numbers)
