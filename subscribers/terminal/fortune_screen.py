"""The picture of a wheel of fortune: the symbol under the tongue, the latest symbols, and their
frequencies.
"""

from __future__ import annotations

from collections import Counter

from rich import box
from rich.align import Align
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from common.contract.messages.messages import text
from subscribers.terminal.roulette_screen import face
from subscribers.terminal.space import Room
from subscribers.terminal.table_view import SpinView, TableView

FACE = "bold black on #e0c060"
OTHER_LINES = 4
"""Lines beside the wheel that do not show frequencies."""


def body(view: TableView, room: Room) -> list[RenderableType]:
    """The symbol, large if it is a number."""
    last = view.last
    shown = last.number if last is not None and last.number is not None else "--"
    style = FACE if last else "dim"
    symbol = (
        face(shown, style, room)
        if shown.strip("-").isdecimal() or last is None
        else Text("\n".join(["", "", f"{shown.upper():^17}", "", ""]), style=style, no_wrap=True)
    )
    rows: list[RenderableType] = [Align.center(symbol), Text()]
    if last is None:
        rows.append(Align.center(Text(text("display.no_result", view.language), style="dim")))
    elif last.round != view.round and not view.asks:
        rows.append(
            Align.center(
                Text(text("display.symbol_of_round", view.language, round=last.round), style="dim")
            )
        )
    return rows


def side(view: TableView, room: Room) -> RenderableType:
    """Return the latest symbols, newest first, and below them their frequencies."""
    shown = [spin for spin in reversed(view.spins) if spin.kind == "result"]
    latest = Text(
        " ".join(f"{spin.number}{'*' if spin.corrected else ''}" for spin in shown) or "-",
        style="bold",
    )
    counts = Counter(spin.number for spin in shown)
    odd = [
        Text(_odd(spin, view.language), style="yellow")
        for spin in view.spins
        if spin.kind != "result"
    ][-max(1, room.height // 2) :]
    max_symbols = max(1, room.height - OTHER_LINES - len(odd))
    lines = [
        Text(f"{symbol:>7} {'■' * count} {count}")
        for symbol, count in counts.most_common(max_symbols)
    ]
    return Panel(
        Group(latest, Text(), *lines, Text(), *odd),
        title=text("display.latest", view.language),
        box=box.ROUNDED,
        border_style="bright_black",
        padding=(0, 1),
    )


def _odd(spin: SpinView, language: str) -> str:
    return text(
        "display.round_state",
        language,
        round=spin.round,
        state=text(f"display.{spin.kind}", language),
    )
