"""The picture of one table, for a terminal of 80 by 24 or more."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from rich import box
from rich.align import Align
from rich.console import Console, Group, RenderableType
from rich.layout import Layout
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from common.contract.messages.messages import text, word
from subscribers.terminal import (
    card_screen,
    dice_screen,
    fortune_screen,
    hands_screen,
    roulette_screen,
    words,
)
from subscribers.terminal.current import Greyed, outdated, since
from subscribers.terminal.space import FRAME_COLUMNS, Fitted, Room, shares
from subscribers.terminal.table_view import TableNote, TableView

STATUS_STYLES = {
    "open": "bold green",
    "closed": "dim",
    "waiting": "bold yellow",
    "stale": "bold red",
    "fault": "bold white on red",
}
LINK_STYLES = {
    "up": "green",
    "open": "yellow",
    "stale": "yellow",
    "lost": "bold red",
    "unintelligible": "bold red",
}
PHASE_STYLES = {
    "bets_open": "bold green",
    "bets_closed": "bold red",
    "dealing": "bold red",
    "decision": "bold yellow",
    "relaunch": "bold yellow",
    "void": "bold yellow",
    "unresolved": "bold yellow",
}
"""Colours of the phases."""
WIDEST_ROUND = 99
"""A round number whose label determines the width of the first column of the notes."""
MIN_HEADING_LINES = 3
"""Minimum number of lines above the cards or the wheel."""
MAX_NAMED_TABLES = 2
"""Maximum number of tables named as waiting elsewhere."""
FULL_HEAD_COLUMNS = 70
"""Width below which the head line is shortened."""


class ScreenTrouble(msgspec.Struct, frozen=True):
    """Why a picture may be outdated. ``what``: the key of the text to show; empty if it is current.

    ``seconds``: how long nothing has been received. ``detail``: details for a person; ``since``:
    when it began, UTC, ISO 8601.
    """

    what: str = ""
    seconds: int = 0
    detail: str = ""
    since: str = ""


class Family(NamedTuple):
    """The parts of a screen for one kind of game. ``body``: in the middle; ``side``: beside or
    below it; ``phases``: phases with another text: phase -> key of the text.
    """

    body: Callable[[TableView, Room], list[RenderableType]]
    side: Callable[[TableView, Room], RenderableType | None]
    phases: Mapping[str, str] = {}


def picture(
    view: TableView,
    trouble: ScreenTrouble = ScreenTrouble(),  # noqa: B008 - it is frozen
    width: int = 80,
    tables: Sequence[str] = (),
    elsewhere: Sequence[TableView] = (),
) -> RenderableType:
    """Return the picture of a table, which fills the available height. ``tables``: the tables shown
    in turn, including this one; ``elsewhere``: invisible tables that wait for a person.
    """
    game = str(view.state.get("game") or view.info.get("game") or "")
    family = FAMILIES.get(game, HANDS_FAMILY)

    def draw(console: Console, height: int) -> Layout:
        notes = _notes(view, width - FRAME_COLUMNS)
        part = shares(width, height, _lines(console, notes, width - FRAME_COLUMNS))
        beside = family.side(view, part.side) if part.beside or part.below else None
        whole = Room(width - FRAME_COLUMNS, part.now.height + (part.below if beside is None else 0))
        now = Panel(
            _now(console, view, trouble, family, whole if beside is None else part.now),
            box=box.ROUNDED,
            border_style="red" if trouble.what else "bright_black",
        )
        table = Layout()
        if beside is None:
            table.update(now)
        elif part.beside:
            table.split_row(Layout(now), Layout(beside, size=part.beside))
        else:
            table.split_column(Layout(now), Layout(beside, size=part.below))
        layout = Layout()
        layout.split_column(
            Layout(_head(view, width, tables or (view.table,)), size=1),
            table,
            *([Layout(_noted(view, notes), size=part.notes)] if part.notes else []),
            Layout(_foot(view, trouble, elsewhere), size=1),
        )
        return layout

    return Fitted(draw)


def _lines(console: Console, texts: Sequence[Text], width: int) -> int:
    """Return the number of lines of these texts at this width."""
    return sum(len(line.wrap(console, width)) for line in texts)


def _game(view: TableView) -> str:
    """Return the name of the game in the picture's language, from the decree if possible."""
    title = (view.info.get("about") or {}).get("title") or {}
    game = str(view.state.get("game") or view.info.get("game") or "")
    return str(title.get(view.language) or word("game", game, view.language))


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
        if width >= FULL_HEAD_COLUMNS
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


def _now(
    console: Console, view: TableView, trouble: ScreenTrouble, family: Family, room: Room
) -> RenderableType:
    """Return the phase with its call, the pending tasks, and the cards or the wheel; in grey with
    the reason if they are outdated.
    """
    phase = word("phase", family.phases.get(view.phase, view.phase), view.language)
    name = Text(phase.upper(), style=PHASE_STYLES.get(view.phase, "bold"))
    if trouble.what:
        name.style = "bright_black"  # the present state of the table is unknown
        why = text(f"trouble.{trouble.what}", view.language, seconds=trouble.seconds)
        caption = Text(f" {why.upper()} ", style="bold white on red", no_wrap=True)
        beginning = since("", trouble.since, view.language).strip(", ")
        reasons = [beginning, trouble.detail]
    else:
        reasons = outdated(view)
        caption = Text(
            " · ".join(f"«{call}»" for call in view.calls) or " ", style="italic", justify="center"
        )
    above = [name, caption, *(Text(reason, style="bold red") for reason in reasons if reason)]
    tasks = _tasks(view)
    above += [tasks] if tasks or len(above) < MIN_HEADING_LINES else []
    for line in above:
        line.justify = "center"
    body = family.body(view, Room(room.width, room.height - _lines(console, above, room.width)))
    old = bool(trouble.what or reasons)
    return Group(*map(Align.center, above), *(Greyed(part) if old else part for part in body))


def _tasks(view: TableView) -> Text:
    """Return the tasks for a person with their commands. They are above the cards, so that many
    hands do not push them out.
    """
    if not view.asks:
        return Text()
    commands = " · ".join(words.command(name, view.language) for name in view.asks)
    sentence = text("display.waits_for", view.language, commands=commands)
    return Text(sentence, style="bold black on yellow", justify="center")


WHEEL_PHASES = {"waiting": "waiting_wheel", "void": "void_spin"}
CARD_PHASES = {"waiting": "waiting_cards"}
DICE_PHASES = {"waiting": "waiting_shooter", "void": "void_throw", "relaunch": "throw_again"}
ROULETTE_FAMILY = Family(roulette_screen.body, roulette_screen.side, WHEEL_PHASES)
FAMILIES = {
    "roulette-french": ROULETTE_FAMILY,
    "roulette-american": ROULETTE_FAMILY,
    "boule": ROULETTE_FAMILY,
    "fortune-wheel": Family(fortune_screen.body, fortune_screen.side, WHEEL_PHASES),
    "craps": Family(dice_screen.body, dice_screen.side, DICE_PHASES),
    "punto-banca": Family(card_screen.body, card_screen.side, CARD_PHASES),
}
HANDS_FAMILY = Family(hands_screen.body, hands_screen.side)
"""All other games are games of hands."""


def _notes(view: TableView, width: int) -> list[Text]:
    """Return the irregularity of the pending question, then open alerts, then other irregularities,
    newest first, each with its article. ``width``: columns of a line.
    """
    notes, language = list(reversed(view.notes)), view.language
    questions = 1 if view.asks and notes and notes[0].round == view.round else 0
    lines = [_note(note, language) for note in notes[:questions]]
    lines += [_alert(alert, language, width) for alert in view.alerts.values()]
    return lines + [_note(note, language) for note in notes[questions:]]


def _noted(view: TableView, lines: Sequence[Text]) -> RenderableType:
    """Return the notes in a frame."""
    language = view.language
    counts = {"open_alerts": len(view.alerts), "irregularities_counted": len(view.notes)}
    titles = [
        text(f"display.{title}", language, count=count) for title, count in counts.items() if count
    ]
    return Panel(
        Group(*lines),
        title=" · ".join(titles),
        box=box.ROUNDED,
        border_style="yellow" if view.alerts else "bright_black",
        padding=(0, 1),
    )


def _alert(alert: dict[str, Any], language: str, width: int) -> Text:
    """An alert, and the command that says what to do about it, where the line has room for it."""
    severity = word("severity", str(alert.get("severity", "fault")), language)
    line = Text.assemble(
        (f" {severity.upper()} ", "bold white on red"), f" {words.alert(alert, language)}"
    )
    remedy = Text(f"  novamas explain {alert.get('what') or alert.get('alert')}", "bright_black")
    if line.cell_len + remedy.cell_len <= width:
        line.append_text(remedy)
    return line


def _note(note: TableNote, language: str) -> Text:
    width = len(text("display.round", language, round=WIDEST_ROUND)) + 1
    label = text("display.round", language, round=note.round) if note.round else ""
    return Text.assemble(
        (f"{label:<{width}}", "bright_black"),
        (f" {words.note(note, language)} ", "bold yellow"),
        (f" {note.law}" if note.law else "", "cyan"),
        (f"  {note.article}" if note.article else "", "bright_black"),
        overflow="fold",
    )


def _foot(
    view: TableView, trouble: ScreenTrouble, elsewhere: Sequence[TableView]
) -> RenderableType:
    grid = Table.grid(expand=True, padding=0)
    grid.add_column(no_wrap=True, overflow="ellipsis")
    grid.add_column(justify="right", no_wrap=True)
    devices = Text(" ")
    for device, link in (view.state.get("devices") or {}).items():
        state = str(link.get("state"))
        devices.append("● ", style=LINK_STYLES.get(state, "yellow")).append(
            f"{device} {word('link', state, view.language)}  "
        )
    if view.missed:
        devices.append(text("display.missed", view.language, count=view.missed), style="yellow")
    right = Text()
    for other in elsewhere[:MAX_NAMED_TABLES]:
        calls = word("status", str(other.state["status"]), view.language)
        right.append(f" {other.table} {calls} ", style="bold black on yellow").append(" ")
    unnamed = len(elsewhere) - MAX_NAMED_TABLES
    right.append(
        f"{text('display.more', view.language, count=unnamed)}  " if unnamed > 0 else "",
        style="bold yellow",
    )
    status = str(view.state.get("status") or "unknown")
    if trouble.what:
        right.append(f" {text('display.old', view.language).upper()} ", style="bold white on red")
    else:
        right.append(
            f"{word('status', status, view.language)} ", style=STATUS_STYLES.get(status, "dim")
        )
    grid.add_row(devices, right)
    return grid
