"""The picture of one table, for a terminal of 80 by 24 or more."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from rich import box
from rich.align import Align
from rich.console import Group, RenderableType
from rich.layout import Layout
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from controller.contract.messages.messages import text, word
from subscribers import (
    card_screen,
    dice_screen,
    fortune_screen,
    hands_screen,
    roulette_screen,
    words,
)
from subscribers.table_view import SPINS, Note, TableView

STATUS = {
    "open": "bold green",
    "closed": "dim",
    "waiting": "bold yellow",
    "stale": "bold red",
    "fault": "bold white on red",
}
LINK = {
    "up": "green",
    "open": "yellow",
    "stale": "yellow",
    "lost": "bold red",
    "unintelligible": "bold red",
}
STYLES = {
    "bets_open": "bold green",
    "bets_closed": "bold red",
    "dealing": "bold red",
    "decision": "bold yellow",
    "relaunch": "bold yellow",
    "void": "bold yellow",
    "unresolved": "bold yellow",
}
"""Colours of the phases."""
BESIDE = ((100, 45), (70, 31), (0, 25))
"""From this width on, this many columns are used beside the round."""
WIDEST = 99
"""The round whose label determines the width of the first column of the notes."""
NAMED = 2
"""Maximum number of tables named as waiting elsewhere."""
SLIM = 70
"""Below this width the head line leaves out what is not needed."""


class Trouble(msgspec.Struct, frozen=True):
    """Why the picture may be old. ``what``: the name of the text to show; empty if all is well.

    ``seconds``: how long nothing has been received. ``detail``: more about it, for a person.
    """

    what: str = ""
    seconds: int = 0
    detail: str = ""


class Family(NamedTuple):
    """What the games of one kind show: in the middle, and beside it, in this many columns; and
    phases with another name: phase -> name of its text.
    """

    body: Callable[[TableView], list[RenderableType]]
    side: Callable[[TableView, int], RenderableType | None]
    phases: Mapping[str, str] = {}


def picture(
    view: TableView,
    trouble: Trouble = Trouble(),  # noqa: B008 - it is frozen
    width: int = 80,
    tables: Sequence[str] = (),
    elsewhere: Sequence[TableView] = (),
) -> RenderableType:
    """The whole picture, filling the given height. ``tables``: those that are shown in turn,
    including this one; ``elsewhere``: those that wait for somebody and are not visible now.
    """
    family = FAMILIES.get(str(view.state.get("game") or view.info.get("game") or ""), PLAIN)
    layout = Layout()
    layout.split_column(
        Layout(name="head", size=1),
        Layout(name="table", size=SPINS + 2),
        Layout(name="notes"),
        Layout(name="foot", size=1),
    )
    room = next(columns for least, columns in BESIDE if width >= least)
    beside = family.side(view, room)
    now = Layout(
        Panel(
            _now(view, trouble, family),
            box=box.ROUNDED,
            border_style="red" if trouble.what else "bright_black",
        )
    )
    layout["table"].split_row(now, *([Layout(beside, size=room)] if beside is not None else []))
    layout["head"].update(_head(view, width, tables or (view.table,)))
    layout["notes"].update(_notes(view))
    layout["foot"].update(_foot(view, trouble, elsewhere))
    return layout


def _game(view: TableView) -> str:
    title = (view.info.get("about") or {}).get("title") or {}
    return " / ".join(title.values()) or str(view.state.get("game") or view.info.get("game") or "")


def _head(view: TableView, width: int, tables: Sequence[str]) -> RenderableType:
    grid = Table.grid(expand=True, padding=0)
    grid.add_column(no_wrap=True, overflow="ellipsis")
    decree = str(view.state.get("decree") or view.info.get("decree") or "")
    left = Text()
    for table in tables if sum(map(len, tables)) <= width // 2 else (view.table,):
        left.append(f" {table} ", style="bold black on #e0c060" if table == view.table else "dim")
    if view.table in tables and sum(map(len, tables)) > width // 2:
        left.append(f" {tables.index(view.table) + 1}/{len(tables)}", style="dim")
    language = view.language
    simulated = view.state.get("simulated") or view.info.get("simulated")
    right = Text.assemble(
        (f" {text('display.simulated', language).upper()} ", "bold black on yellow")
        if simulated
        else "",
        f"  {text('display.session', language, session=view.session or '-')}"
        if width >= SLIM
        else "",
        f"  {text('display.round', language, round=view.round or '-')} ",
    )
    grid.add_column(justify="right", no_wrap=True)
    game, behind = Text(_game(view), style="bold"), f"  {decree}"
    # always show the whole decree
    game.truncate(max(0, width - len(right) - len(left) - len(behind) - 2), overflow="ellipsis")
    left.append("  ").append_text(game).append(behind)
    left.truncate(max(0, width - len(right)), overflow="ellipsis")
    grid.add_row(left, right)
    return grid


def _now(view: TableView, trouble: Trouble, family: Family) -> RenderableType:
    """The phase with its call, the cards or the wheel, and what the table waits for."""
    phase = word("phase", family.phases.get(view.phase, view.phase), view.language)
    name = Text(phase.upper(), style=STYLES.get(view.phase, "bold"))
    if trouble.what:
        why = text(f"trouble.{trouble.what}", view.language, seconds=trouble.seconds)
        said = Text(f" {why.upper()} ", style="bold white on red", no_wrap=True)
    else:
        said = Text(
            " · ".join(f"«{call}»" for call in view.calls) or " ", style="italic", justify="center"
        )
    return Group(Align.center(name), Align.center(said), _asks(view), *family.body(view))


def _asks(view: TableView) -> RenderableType:
    """What a person has to do, each with its command; above the cards, so that many hands do not
    push it out.
    """
    if not view.asks:
        return Text()
    commands = " · ".join(words.command(name, view.language) for name in view.asks)
    said = text("display.waits_for", view.language, commands=commands)
    return Align.center(Text(said, style="bold black on yellow", justify="center"))


WHEEL = {"waiting": "waiting_wheel", "void": "void_spin"}
CARDS = {"waiting": "waiting_cards"}
DICE = {"waiting": "waiting_shooter", "void": "void_throw", "relaunch": "throw_again"}
ROULETTE = Family(roulette_screen.body, roulette_screen.side, WHEEL)
FAMILIES = {
    "roulette-french": ROULETTE,
    "roulette-american": ROULETTE,
    "boule": ROULETTE,
    "fortune-wheel": Family(fortune_screen.body, fortune_screen.side, WHEEL),
    "craps": Family(dice_screen.body, dice_screen.side, DICE),
    "punto-banca": Family(card_screen.body, card_screen.side, CARDS),
}
PLAIN = Family(hands_screen.body, hands_screen.side)
"""All other games are games of hands."""


def _notes(view: TableView) -> RenderableType:
    """What the table asks, then open alerts, then other irregularities, newest first, each with its
    article.
    """
    notes, language = list(reversed(view.notes)), view.language
    asked = 1 if view.asks and notes and notes[0].round == view.round else 0
    lines: list[RenderableType] = [_note(note, language) for note in notes[:asked]]
    lines += [_alert(alert, language) for alert in view.alerts.values()]
    lines += [_note(note, language) for note in notes[asked:]]
    counts = {"open_alerts": len(view.alerts), "irregularities_counted": len(view.notes)}
    titles = [
        text(f"display.{what}", language, count=count) for what, count in counts.items() if count
    ]
    title = " · ".join(titles) or text("display.irregularities", language)
    body = Group(*lines) if lines else Text(text("display.none", language), style="dim")
    return Panel(
        body,
        title=title,
        box=box.ROUNDED,
        border_style="yellow" if view.alerts else "bright_black",
        padding=(0, 1),
    )


def _alert(alert: dict[str, Any], language: str) -> Text:
    severity = word("severity", str(alert.get("severity", "fault")), language)
    return Text.assemble(
        (f" {severity.upper()} ", "bold white on red"), f" {words.alert(alert, language)}"
    )


def _note(note: Note, language: str) -> Text:
    width = len(text("display.round", language, round=WIDEST)) + 1
    label = text("display.round", language, round=note.round) if note.round else ""
    return Text.assemble(
        (f"{label:<{width}}", "bright_black"),
        (f" {words.note(note, language)} ", "bold yellow"),
        (f" {note.law}" if note.law else "", "cyan"),
        (f"  {note.article}" if note.article else "", "bright_black"),
        overflow="fold",
    )


def _foot(view: TableView, trouble: Trouble, elsewhere: Sequence[TableView]) -> RenderableType:
    grid = Table.grid(expand=True, padding=0)
    grid.add_column(no_wrap=True, overflow="ellipsis")
    grid.add_column(justify="right", no_wrap=True)
    devices = Text(" ")
    for device, standing in (view.state.get("devices") or {}).items():
        state = str(standing.get("state"))
        devices.append("● ", style=LINK.get(state, "yellow")).append(
            f"{device} {word('link', state, view.language)}  "
        )
    if trouble.detail:
        devices = Text(trouble.detail, style="red")
    if view.missed:
        devices.append(text("display.missed", view.language, count=view.missed), style="yellow")
    right = Text()
    for each in elsewhere[:NAMED]:
        calls = word("status", str(each.state["status"]), view.language)
        right.append(f" {each.table} {calls} ", style="bold black on yellow").append(" ")
    more = len(elsewhere) - NAMED
    right.append(
        f"{text('display.more', view.language, count=more)}  " if more > 0 else "",
        style="bold yellow",
    )
    status = str(view.state.get("status") or "unknown")
    if trouble.what:
        right.append(f" {text('display.old', view.language).upper()} ", style="bold white on red")
    else:
        right.append(f"{word('status', status, view.language)} ", style=STATUS.get(status, "dim"))
    grid.add_row(devices, right)
    return grid
