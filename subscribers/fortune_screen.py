"""The picture of a wheel of fortune: the symbol under the tongue, the latest ones, and how often
each came.
"""

from __future__ import annotations

from collections import Counter

from rich import box
from rich.align import Align
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from controller.contract.messages.messages import text
from subscribers.digits import large
from subscribers.table_view import Spin, TableView

FACE = "bold black on #e0c060"
ROW = 8
"""Latest symbols per line, beside the wheel."""


def body(view: TableView) -> list[RenderableType]:
    """The symbol, large if it is a number."""
    last = view.last
    shown = last.number if last is not None and last.number is not None else "--"
    lines = (
        large(shown)
        if shown.strip("-").isdecimal() or last is None
        else ["", "", f"{shown.upper():^11}", "", ""]
    )
    width = max(map(len, lines))
    edge = " " * (width + 6)
    face = Text(
        "\n".join([edge, *(f"   {line:<{width}}   " for line in lines), edge]),
        style=FACE if last else "dim",
        no_wrap=True,
    )
    rows: list[RenderableType] = [Align.center(face), Text()]
    if last is None:
        rows.append(Align.center(Text(text("display.no_result", view.language), style="dim")))
    elif last.round != view.round and not view.asks:
        rows.append(
            Align.center(
                Text(text("display.symbol_of_round", view.language, round=last.round), style="dim")
            )
        )
    return rows


def side(view: TableView, _width: int) -> RenderableType:
    """The latest, newest first; below, how often each came."""
    shown = [spin for spin in reversed(view.spins) if spin.kind == "result"]
    latest = Text(
        " ".join(f"{spin.number}{'*' if spin.corrected else ''}" for spin in shown) or "-",
        style="bold",
    )
    counts = Counter(spin.number for spin in shown)
    lines = [Text(f"{symbol:>7} {'■' * count} {count}") for symbol, count in counts.most_common()]
    odd = [
        Text(_odd(spin, view.language), style="yellow")
        for spin in view.spins
        if spin.kind != "result"
    ]
    return Panel(
        Group(latest, Text(), *lines, Text(), *odd[-ROW:]),
        title=text("display.latest", view.language),
        box=box.ROUNDED,
        border_style="bright_black",
        padding=(0, 1),
    )


def _odd(spin: Spin, language: str) -> str:
    return text(
        "display.round_state",
        language,
        round=spin.round,
        state=text(f"display.{spin.kind}", language),
    )
