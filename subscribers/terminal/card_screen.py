"""The picture of a punto y banca table: both hands, the winner, the bead plate and the counts of
the shoe.
"""

from __future__ import annotations

from collections import Counter

from rich import box
from rich.align import Align
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from common.contract.messages.messages import text
from subscribers.cards import points, short
from subscribers.terminal import words
from subscribers.terminal.card_events import BeadView, Cards
from subscribers.terminal.space import Room
from subscribers.terminal.table_view import TableView

BEAD_ROWS = 6
"""Rows of the bead plate: rounds go down, then right."""
BEAD_COLUMNS = 3
"""Columns of a bead: bank pair, letter, player pair."""
HANDS = ("player", "banker")
RED, BLACK, BACK = "bold #c00020 on #f4f4f0", "bold #101010 on #f4f4f0", "#93a4dd on #27336b"
COLOURS = {"player": "#2f6fdd", "banker": "#c21f36", "tie": "#1f8a4c"}
SPACIOUS_COLUMNS, SPACIOUS_LINES = 27, 13
"""Columns from which most lines below the bead plate fit without wrapping, and lines from which
they are separated by empty lines.
"""
NAME_COLUMNS = 8
"""Columns for a hand's name."""
MAX_CARDS = 3
"""Maximum cards in a hand."""


def body(view: TableView, _room: Room) -> list[RenderableType]:
    """Return both hands with their points, the verdict and the marks."""
    cards = view.cards
    rows: list[RenderableType] = []
    for who in HANDS:
        rows += [Align.center(_hand(cards, who, view.language)), Text()]
    return [
        *rows,
        Align.center(_verdict(cards, view.language)),
        Align.center(_marks(cards, view.language)),
    ]


def _hand(cards: Cards, who: str, language: str) -> Text:
    """Three lines: name and points of the hand, left of its cards."""
    own = cards.hands.get(who, [])
    won = (
        cards.outcome is not None and cards.outcome.kind == "result" and cards.outcome.winner == who
    )
    total = "" if not own else "-" if None in own else str(points(own))
    name = f"bold {'white on ' if won else ''}{COLOURS[who]}"
    labels = (
        (f"{words.who(who, language).upper():<{NAME_COLUMNS}}", name),
        (f"{total:>4}    ", "bold"),
        (" " * NAME_COLUMNS, ""),
    )
    slots: list[tuple[tuple[str, str, str], str]] = [_face(card) for card in own[:MAX_CARDS]]
    if cards.expected == who and len(slots) < MAX_CARDS:
        slots.append((("┌╌╌╌┐", "╎   ╎", "└╌╌╌┘"), "bright_black"))
    slots += [(("     ",) * 3, "")] * (MAX_CARDS - len(slots))
    lines = []
    for row, label in enumerate(labels):
        line = Text.assemble(label)
        for face, style in slots:
            line.append(" ").append(face[row], style=style)
        lines.append(line)
    return Text("\n").join(lines)


def _face(card: str | None) -> tuple[tuple[str, str, str], str]:
    if card is None:
        return ("▒▒▒▒▒",) * 3, BACK
    name = short(card)
    return (f"{name:<5}", "     ", f"{name:>5}"), RED if card[-1] in "dh" else BLACK


def _verdict(cards: Cards, language: str) -> Text:
    outcome = cards.outcome
    if outcome is None:
        burn = [text("display.burn_card", language, card=short(cards.shown))] if cards.shown else []
        burn += [text("display.burned", language, count=cards.burned)] if cards.burned else []
        due = cards.expected if cards.expected in HANDS else None
        nearest = (
            [text("display.next_card", language, who=words.who(due, language))]
            if due
            else []
            if cards.hands
            else burn
        )
        return Text(", ".join(nearest) or " ", style="dim")
    if outcome.kind != "result":
        return Text(f" {text(f'display.{outcome.kind}', language)} ", style="bold black on yellow")
    corrected = f" ({text('display.corrected', language)})" if outcome.corrected else ""
    order = sorted(HANDS, key=lambda who: who != outcome.winner)
    totals = " - ".join(str(points(cards.hands[who])) for who in order if cards.hands.get(who))
    winner = words.who(outcome.winner, language)
    name = winner if outcome.winner == "tie" else text("display.wins", language, who=winner)
    return Text(
        f" {name.upper()} {totals}{corrected} ",
        style=f"bold white on {COLOURS.get(outcome.winner, '#444444')}",
    )


def _marks(cards: Cards, language: str) -> Text:
    marks = cards.outcome.marks if cards.outcome else ()
    return Text(
        " · ".join(words.mark(mark, language) for mark in marks if mark != "tie") or " ",
        style="bold",
        justify="center",
    )


def side(view: TableView, room: Room) -> RenderableType:
    """The bead plate, the counts of this shoe, and the shoe itself."""
    beads = list(view.cards.beads)
    columns = room.width // BEAD_COLUMNS
    language = view.language
    gap = (
        [Text()] if room.width >= SPACIOUS_COLUMNS and room.height >= SPACIOUS_LINES else []
    )  # else lines need it
    lines = [
        *_plate(beads, columns, language),
        *gap,
        *_counts(beads, language),
        *gap,
        *_shoe(view.cards, language),
    ]
    title = (
        text("display.bead_plate_counted", language, count=len(beads))
        if beads
        else text("display.bead_plate", language)
    )
    return Panel(
        Group(*lines), title=title, box=box.ROUNDED, border_style="bright_black", padding=(0, 1)
    )


def _plate(beads: list[BeadView], columns: int, language: str) -> list[Text]:
    first = max(0, -(-len(beads) // BEAD_ROWS) - columns) * BEAD_ROWS
    lines = []
    for row in range(BEAD_ROWS):
        line = Text(no_wrap=True)
        for index in range(first + row, first + columns * BEAD_ROWS, BEAD_ROWS):
            line.append_text(
                _cell(beads[index], language)
                if index < len(beads)
                else Text(" · ", style="bright_black")
            )
        lines.append(line)
    return lines


def _cell(bead: BeadView, language: str) -> Text:
    """Return a white letter on the winner's colour; a natural is underlined; pairs are dots, the
    bank's on the left, the player's on the right.
    """
    if bead.kind != "result":
        return Text(" ? " if bead.kind == "unresolved" else " × ", style="bold black on yellow")
    ground = f" on {COLOURS.get(bead.winner, '#444444')}"
    letter = "*" if bead.corrected else _letter(bead.winner, language)
    return Text.assemble(
        ("•" if "pair_banker" in bead.marks else " ", f"#ffd0d0{ground}"),
        (letter, f"bold white{' underline' if 'natural' in bead.marks else ''}{ground}"),
        ("•" if "pair_player" in bead.marks else " ", f"#d0e0ff{ground}"),
    )


def _letter(winner: str, language: str) -> str:
    return text(f"display.letter_{winner}", language) if winner in COLOURS else winner[:1].upper()


def _counts(beads: list[BeadView], language: str) -> list[Text]:
    won = Counter(bead.winner for bead in beads if bead.kind == "result")
    marks = Counter(mark for bead in beads for mark in bead.marks)
    line = Text()
    for winner, colour in COLOURS.items():
        line.append(f"{_letter(winner, language)} {won[winner]}   ", style=f"bold {colour}")
    pairs = marks["pair_player"] + marks["pair_banker"]
    return [
        line,
        Text(
            text("display.naturals_pairs", language, naturals=marks["natural"], pairs=pairs),
            style="dim",
        ),
    ]


def _shoe(cards: Cards, language: str) -> list[Text]:
    shoe = cards.shoe
    if not shoe:
        return [Text(text("display.no_shoe", language), style="dim")]
    counts = [text("display.drawn", language, count=shoe.get("drawn"))]
    counts += [text("display.unread", language, count=shoe["unread"])] if shoe.get("unread") else []
    left = shoe.get("left")
    counts.append(
        text("display.not_counted", language)
        if left is None
        else text("display.left", language, count=left)
    )
    cut = Text(text("display.cut_card_came", language), style="bold yellow")
    return [
        Text(
            text("display.shoe", language, number=shoe.get("number"), decks=shoe.get("decks")),
            style="bold",
        ),
        Text(", ".join(counts)),
        cut if shoe.get("cut") else Text(text("display.before_cut_card", language), style="dim"),
    ]
