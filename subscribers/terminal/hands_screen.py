"""The picture of a table with several hands: one line each, with its combination and outcome."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from rich import box
from rich.align import Align
from rich.console import RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from common.contract.messages.messages import text
from subscribers.display.baccarat import BaccaratBody
from subscribers.display.boxes import BoxesBody
from subscribers.display.cards import CardPicture
from subscribers.display.circle import CircleBody, Seat
from subscribers.display.hands import HandPicture, RoundSummary
from subscribers.display.picture import Picture
from subscribers.display.trente import TrenteBody
from subscribers.terminal import cards
from subscribers.terminal.space import Room

HandsBody = BoxesBody | CircleBody | TrenteBody | BaccaratBody
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


def body(picture: Picture, table: HandsBody, _room: Room) -> list[RenderableType]:
    """Return one line per hand, its cards, combination and outcome; below them the verdict."""
    hands = hands_of(table)[:MAX_HANDS]
    if not any(hand.cards for hand in hands):
        key = "no_cards" if table.finish.latest else "no_result"
        rows: list[RenderableType] = [
            Text(),
            Align.center(Text(text(f"display.{key}", picture.language), style="dim")),
        ]
    else:
        rows = [Align.center(_grid(hands))]
    return rows + [Align.center(Text(line, style="bold")) for line in _below(table)]


def hands_of(table: HandsBody) -> list[HandPicture]:
    """Return the hands: common cards, then boxes or seats, then the bank's."""
    match table:
        case BoxesBody():
            return [*table.common, *table.boxes, *filter(None, (table.bank,))]
        case CircleBody():
            return [*table.boards, *map(_seated, table.seats)]
        case TrenteBody():
            return [*table.rows]
        case BaccaratBody():
            return [*table.hands]


def _seated(seat: Seat) -> HandPicture:
    """Return the hand of a seat, which says its status if it has one."""
    return msgspec.structs.replace(seat.hand, said=seat.status or seat.hand.said)


def _below(table: HandsBody) -> list[str]:
    """Return the winner and the marks of the last round, the pots, and the notes."""
    ended, lines = table.finish.ended, [*table.notes]
    if isinstance(table, CircleBody):
        lines = [*(f"{pot.name}: {', '.join(pot.winners)}" for pot in table.pots), *lines]
    if ended is not None:
        lines.insert(0, " · ".join(filter(None, (ended.text, *ended.marks, ended.corrected))))
    return [" ", *lines] if lines else []


def _grid(hands: Sequence[HandPicture]) -> Table:
    shown = [(hand, _cards(hand.cards), _outcome(hand)) for hand in hands]
    grid = Table.grid(padding=(0, 2, 0, 0))
    widths = (
        max(len(hand.name) for hand in hands),
        max(len(held) for _, held, _ in shown),
        max(len(outcome) for _, _, outcome in shown),
    )
    grid.add_column(justify="right", no_wrap=True, style="bold", min_width=widths[0])
    grid.add_column(no_wrap=True, min_width=widths[1])
    grid.add_column(no_wrap=True, min_width=widths[2])
    grid.add_column(no_wrap=True, overflow="ellipsis")
    for hand, held, outcome in shown:
        grid.add_row(hand.name, held, outcome, _word(hand))
    return grid


def _cards(hand: Sequence[CardPicture]) -> Text:
    line = Text()
    for card in hand:
        line.append(" " if line else "").append(cards.short(card) or "▒▒", style=cards.style(card))
    return line


def _outcome(hand: HandPicture) -> Text:
    if hand.outcome is None:
        return Text()
    return Text(f" {hand.outcome.text} ", style=OUTCOMES.get(hand.outcome.id, "bold"))


def _word(hand: HandPicture) -> Text:
    """Return the combination of a hand, else its last decision, else its points."""
    if hand.makes:
        return Text(" / ".join(hand.makes))
    if hand.said:
        return Text(hand.said, style="italic")
    if hand.badge is not None and hand.badge.id == "to_act":
        return Text(hand.badge.text, style="bold yellow")
    return Text(hand.points or "")


def side(picture: Picture, table: HandsBody, room: Room) -> RenderableType | None:
    """Return the endings of the latest rounds, newest first; None if the hands need the space."""
    if room.width < MIN_SIDE_COLUMNS:
        return None
    latest = table.finish.latest[: room.height]
    grid = Table.grid(expand=True, padding=(0, 1, 0, 0))
    grid.add_column(width=4, justify="right", style="bright_black", no_wrap=True)
    grid.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
    for ending in latest:
        grid.add_row(str(ending.round), _ended(ending))
    return Panel(
        grid,
        title=text("display.last", picture.language, count=len(latest)),
        box=box.ROUNDED,
        border_style="bright_black",
    )


def _ended(ending: RoundSummary) -> Text:
    styles = {"result": "bold", "void": "yellow", "unresolved": "bold black on yellow"}
    return Text(ending.text, style=styles[ending.kind])
