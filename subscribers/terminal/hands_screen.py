"""The picture of a table with several hands: one line each, with its combination and outcome."""

from __future__ import annotations

from rich import box
from rich.align import Align
from rich.console import RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from common.contract.messages.messages import text, word
from subscribers.cards import short
from subscribers.terminal import words
from subscribers.terminal.card_events import BeadView, Made
from subscribers.terminal.card_screen import BACK, BLACK, RED
from subscribers.terminal.space import Room
from subscribers.terminal.table_view import MAX_SPINS, TableView

MAX_HANDS = 11
"""Maximum number of hands shown."""
MIN_SIDE_COLUMNS = 36
"""Minimum columns beside the hands for the latest rounds: names of hands are long in most
languages.
"""
OUTCOMES = {
    "win": "bold white on #1f8a4c",
    "lose": "bold white on #8a1f2d",
    "tie": "bold black on #d0b040",
}
COMMON_CARDS = ("common", "board")
"""The common cards are shown first."""


def body(view: TableView, _room: Room) -> list[RenderableType]:
    """Return one line per hand: its cards, combination and outcome."""
    cards, language = view.cards, view.language
    names = sorted(cards.hands, key=_place)[:MAX_HANDS]
    if not names:
        return [
            Text(),
            Align.center(
                Text(
                    text(f"display.{'no_cards' if cards.beads else 'no_result'}", language),
                    style="dim",
                )
            ),
        ]
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(
        justify="right",
        no_wrap=True,
        style="bold",
        min_width=max(len(words.who(who, language)) for who in names),
    )
    grid.add_column(no_wrap=True, min_width=max(len(_cards(cards.hands[who])) for who in names))
    outcomes = {who: _outcome(cards.made.get(who), language) for who in names}
    grid.add_column(no_wrap=True, min_width=max(map(len, outcomes.values())))
    grid.add_column(no_wrap=True, overflow="ellipsis")
    for who in names:
        made = cards.made.get(who)
        caption = _word(made, cards.decisions.get(who), language)
        grid.add_row(words.who(who, language), _cards(cards.hands[who]), outcomes[who], caption)
    rows: list[RenderableType] = [Align.center(grid)]
    marks = cards.outcome.marks if cards.outcome else ()
    if marks:
        rows += [
            Text(),
            Align.center(
                Text(" · ".join(words.mark(mark, language) for mark in marks), style="bold")
            ),
        ]
    return rows


def _place(who: str) -> tuple[int, str, int, str]:
    """Return the sort key: common cards, then boxes and seats by number, then the dealer."""
    name, _, number = who.partition(":")
    order = 0 if name in COMMON_CARDS else 2 if name in ("dealer", "bank", "banker") else 1
    digits = number.partition(".")[0]
    return order, name, int(digits) if digits.isdecimal() else 0, number


def _cards(hand: list[str | None]) -> Text:
    line = Text()
    for card in hand:
        line.append(" " if line else "")
        if card is None:
            line.append("▒▒", style=BACK)
        else:
            line.append(short(card), style=RED if card[-1] in "dh" else BLACK)
    return line


def _outcome(made: Made | None, language: str) -> Text:
    outcome = (made.outcome if made else None) or ""
    return Text(
        f" {word('outcome', outcome, language)} " if outcome else "",
        style=OUTCOMES.get(outcome, "bold"),
    )


def _word(made: Made | None, decision: tuple[str, int | None] | None, language: str) -> Text:
    if made is None:
        return Text(words.decision(*decision, language) if decision else "", style="italic")
    kinds = [word("hand", kind, language) for kind in (made.kind, made.low) if kind]
    return Text(" / ".join(kinds) or ("" if made.points is None else str(made.points)))


def side(view: TableView, room: Room) -> RenderableType | None:
    """Return the endings of the latest rounds, newest first; None if the hands need the space."""
    if room.width < MIN_SIDE_COLUMNS:
        return None
    count = min(MAX_SPINS, room.height)
    beads = list(reversed(view.cards.beads))[:count]
    grid = Table.grid(expand=True, padding=(0, 1, 0, 0))
    grid.add_column(width=4, justify="right", style="bright_black", no_wrap=True)
    grid.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
    for bead in beads:
        grid.add_row(str(bead.round), _ended(bead, view.language))
    return Panel(
        grid,
        title=text("display.last", view.language, count=count),
        box=box.ROUNDED,
        border_style="bright_black",
    )


def _ended(bead: BeadView, language: str) -> Text:
    if bead.kind != "result":
        return Text(
            text("display.void", language) if bead.kind == "void" else "?",
            style="yellow" if bead.kind == "void" else "bold black on yellow",
        )
    names_winner = bead.winner and not (bead.winner in ("tie", "refait") and bead.marks)
    named = [words.who(bead.winner, language)] if names_winner else []
    caption = " · ".join([*named, *(words.mark(mark, language) for mark in bead.marks)]) or text(
        "display.settled", language
    )
    return Text(caption + ("*" if bead.corrected else ""), style="bold")
