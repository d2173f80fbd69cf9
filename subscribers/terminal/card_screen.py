"""The picture of a baccarat table with one hand against the bank: both hands, the winner, the bead
plate and the counts of the shoe.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.align import Align
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from common.contract.messages.messages import text
from subscribers.display.baccarat import BaccaratBody
from subscribers.display.cards import CardPicture
from subscribers.display.hands import HandPicture
from subscribers.display.picture import Picture
from subscribers.display.roads import GRID_ROWS, BeadPlateCell, Coup
from subscribers.terminal import cards
from subscribers.terminal.space import Room

BEAD_COLUMNS = 3
"""Columns of a bead: bank pair, letter, player pair."""
COLOURS = {"player": "#2f6fdd", "banker": "#c21f36", "tie": "#1f8a4c"}
SPACIOUS_COLUMNS, SPACIOUS_LINES = 27, 13
"""Columns from which most lines below the bead plate fit without wrapping, and lines from which
they are separated by empty lines.
"""
NAME_COLUMNS = 8
"""Columns for a hand's name."""
MAX_CARDS = 3
"""Maximum cards in a hand."""


def body(picture: Picture, table: BaccaratBody, _room: Room) -> list[RenderableType]:
    """Return both hands with their points, the verdict and the marks."""
    rows: list[RenderableType] = []
    for hand in table.hands:
        rows += [Align.center(_hand(hand, table)), Text()]
    marks = table.finish.ended.marks if table.finish.ended else ()
    return [
        *rows,
        Align.center(_verdict(table, picture.language)),
        Align.center(Text(" · ".join(marks) or " ", style="bold", justify="center")),
    ]


def _hand(hand: HandPicture, table: BaccaratBody) -> Text:
    """Three lines: name and points of the hand, left of its cards."""
    ended = table.finish.ended
    won = ended is not None and ended.winner == hand.id
    total = hand.points or ("-" if hand.cards else "")
    labels = (
        (
            f"{hand.name.upper():<{NAME_COLUMNS}}",
            f"bold {'white on ' if won else ''}{COLOURS.get(hand.id, '#444444')}",
        ),
        (f"{total:>4}    ", "bold"),
        (" " * NAME_COLUMNS, ""),
    )
    slots: list[tuple[tuple[str, str, str], str]] = [_face(card) for card in hand.cards[:MAX_CARDS]]
    if hand.badge is not None and hand.badge.id == "next" and len(slots) < MAX_CARDS:
        slots.append((("┌╌╌╌┐", "╎   ╎", "└╌╌╌┘"), "bright_black"))
    slots += [(("     ",) * 3, "")] * (MAX_CARDS - len(slots))
    lines = []
    for row, label in enumerate(labels):
        line = Text.assemble(label)
        for face, style in slots:
            line.append(" ").append(face[row], style=style)
        lines.append(line)
    return Text("\n").join(lines)


def _face(card: CardPicture) -> tuple[tuple[str, str, str], str]:
    name = cards.short(card)
    if not name:
        return ("▒▒▒▒▒",) * 3, cards.style(card)
    return (f"{name:<5}", "     ", f"{name:>5}"), cards.style(card)


def _verdict(table: BaccaratBody, language: str) -> Text:
    ended = table.finish.ended
    if ended is None:
        due = next((hand for hand in table.hands if hand.badge and hand.badge.id == "next"), None)
        acts = [f"{hand.name}: {hand.said}" for hand in table.hands if hand.said]
        line = [*acts, *table.notes]
        if due is not None:
            line = [text("display.next_card", language, who=due.name)]
        return Text(", ".join(line) or " ", style="dim")
    if ended.kind != "result":
        return Text(f" {ended.text} ", style="bold black on yellow")
    corrected = f" ({ended.corrected})" if ended.corrected else ""
    hands = sorted(table.hands, key=lambda hand: hand.id != ended.winner)
    totals = " - ".join(hand.points for hand in hands if hand.points)
    return Text(
        f" {ended.text.upper()} {totals}{corrected} ",
        style=f"bold white on {COLOURS.get(ended.winner or '', '#444444')}",
    )


def side(picture: Picture, table: BaccaratBody, room: Room) -> RenderableType:
    """The bead plate, the counts of this shoe, and the shoe itself."""
    language = picture.language
    plate: Sequence[BeadPlateCell] = table.roads[0].cells
    gap = (
        [Text()] if room.width >= SPACIOUS_COLUMNS and room.height >= SPACIOUS_LINES else []
    )  # else lines need it
    first, *others = table.shoe
    lines = [
        *_plate(plate, room.width // BEAD_COLUMNS, table.letters),
        *gap,
        *_counts(table, language),
        *gap,
        Text(first, style="bold"),
        Text(", ".join(others)),
    ]
    title = (
        text("display.bead_plate_counted", language, count=len(plate))
        if plate
        else text("display.bead_plate", language)
    )
    return Panel(
        Group(*lines), title=title, box=box.ROUNDED, border_style="bright_black", padding=(0, 1)
    )


def _plate(cells: Sequence[BeadPlateCell], columns: int, letters: dict[str, str]) -> list[Text]:
    last = max((cell.column for cell in cells), default=0)
    first = max(0, last + 1 - columns)
    coups = {(cell.column, cell.row): cell.coup for cell in cells}
    lines = []
    for row in range(GRID_ROWS):
        line = Text(no_wrap=True)
        for column in range(first, first + columns):
            coup = coups.get((column, row))
            line.append_text(
                Text(" · ", style="bright_black") if coup is None else _bead(coup, letters)
            )
        lines.append(line)
    return lines


def _bead(coup: Coup, letters: dict[str, str]) -> Text:
    """Return a white letter on the winner's colour; a natural is underlined; pairs are dots, the
    bank's on the left, the player's on the right.
    """
    ground = f" on {COLOURS[coup.winner]}"
    letter = "*" if coup.corrected else letters[coup.winner]
    return Text.assemble(
        ("•" if "banker" in coup.pairs else " ", f"#ffd0d0{ground}"),
        (letter, f"bold white{' underline' if coup.natural else ''}{ground}"),
        ("•" if "player" in coup.pairs else " ", f"#d0e0ff{ground}"),
    )


def _counts(table: BaccaratBody, language: str) -> list[Text]:
    counts = {count.id: count.number for count in table.counts}
    line = Text()
    for winner, colour in COLOURS.items():
        line.append(f"{table.letters[winner]} {counts[winner]}   ", style=f"bold {colour}")
    pairs = counts["pair_player"] + counts["pair_banker"]
    marks = text("display.naturals_pairs", language, naturals=counts["natural"], pairs=pairs)
    return [line, Text(marks, style="dim")]
