"""The picture of a wheel of fortune: the symbol under the tongue, the latest symbols, and their
frequencies.
"""

from __future__ import annotations

from rich import box
from rich.align import Align
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from common.contract.messages.messages import text
from subscribers.display.fortune import FortuneBody
from subscribers.display.picture import Picture
from subscribers.display.spins import SpinPicture
from subscribers.terminal.roulette_screen import face
from subscribers.terminal.space import Room

FACE = "bold black on #e0c060"
OTHER_LINES = 4
"""Lines beside the wheel that do not show frequencies."""


def body(picture: Picture, wheel: FortuneBody, room: Room) -> list[RenderableType]:
    """The symbol, large if it is a number."""
    last = wheel.last
    number = None if last is None else last.number
    shown = "--" if number is None else number
    style = "dim" if number is None else FACE
    symbol = (
        face(shown, style, room)
        if number is None or number.isdecimal()
        else Text(
            "\n".join(["", "", f"{wheel.symbols[number].upper():^17}", "", ""]),
            style=style,
            no_wrap=True,
        )
    )
    rows: list[RenderableType] = [Align.center(symbol), Text()]
    if last is None:
        rows.append(Align.center(Text(text("display.no_result", picture.language), style="dim")))
    elif last.round not in (None, picture.round) and not picture.waits:
        of_round = text("display.symbol_of_round", picture.language, round=last.round)
        rows.append(Align.center(Text(of_round, style="dim")))
    return rows


def side(picture: Picture, wheel: FortuneBody, room: Room) -> RenderableType:
    """Return the latest symbols, newest first, and below them their frequencies."""
    latest = Text(
        " ".join(
            f"{wheel.symbols[spin.number]}{'*' if spin.corrected else ''}"
            for spin in wheel.spins
            if spin.number is not None
        )
        or "-",
        style="bold",
    )
    odd = [
        Text(_odd(spin, picture.language), style="yellow")
        for spin in reversed(wheel.spins)
        if spin.kind != "result"
    ][-max(1, room.height // 2) :]
    counted = sorted(wheel.session, key=lambda share: -share.count)
    lines = [
        Text(f"{share.text:>7} {'■' * share.count} {share.count}")
        for share in counted[: max(1, room.height - OTHER_LINES - len(odd))]
        if share.count
    ]
    return Panel(
        Group(latest, Text(), *lines, Text(), *odd),
        title=text("display.latest", picture.language),
        box=box.ROUNDED,
        border_style="bright_black",
        padding=(0, 1),
    )


def _odd(spin: SpinPicture, language: str) -> str:
    state = text(f"display.{spin.kind}", language)
    return text("display.round_state", language, round=spin.round, state=state)
