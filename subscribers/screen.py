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

from subscribers import card_screen, dice_screen, fortune_screen, hands_screen, roulette_screen
from subscribers.card_events import CARD_PHASES
from subscribers.dice_events import DICE_PHASES
from subscribers.hands_screen import HAND_PHASES
from subscribers.table_view import PHASES, SPINS, Note, TableView

STATUS = {"open": "bold green", "closed": "dim", "waiting": "bold yellow", "stale": "bold red", "fault": "bold white on red"}
LINK = {"up": "green", "open": "yellow", "stale": "yellow", "lost": "bold red", "unintelligible": "bold red"}
STYLES = {
    "bets_open": "bold green",
    "bets_closed": "bold red",
    "dealing": "bold red",
    "decision": "bold yellow",
    "relaunch": "bold yellow",
    "void": "bold yellow",
    "unresolved": "bold yellow",
}
"""Of the phases."""
BESIDE = ((100, 45), (70, 31), (0, 25))
"""From so many columns on there are so many beside what is in hand."""
NAMED = 2
"""Tables that call from elsewhere are named up to so many."""
SLIM = 70
"""Columns below which the head line leaves out what is not needed."""


class Trouble(msgspec.Struct, frozen=True):
    """Why the picture may be old: ``what`` is told to whoever looks at it. Empty where all is well."""

    what: str = ""


class Family(NamedTuple):
    """What the games of one kind show: in the middle, and beside it, in so many columns; and what they call their phases."""

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
    """All of it. It fills the height that it is given. ``tables``: those that take turns with this one, itself among them;
    ``elsewhere``: those that call for somebody and are not shown now.
    """
    family = FAMILIES.get(str(view.state.get("game") or view.info.get("game") or ""), PLAIN)
    layout = Layout()
    layout.split_column(
        Layout(name="head", size=1), Layout(name="table", size=SPINS + 2), Layout(name="notes"), Layout(name="foot", size=1)
    )
    room = next(columns for least, columns in BESIDE if width >= least)
    beside = family.side(view, room)
    now = Layout(Panel(_now(view, trouble, family), box=box.ROUNDED, border_style="red" if trouble.what else "bright_black"))
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
    left.append("  ").append(_game(view), style="bold").append(f"  {decree}")
    simulated = view.state.get("simulated") or view.info.get("simulated")
    right = Text.assemble(
        (" SIMULATED ", "bold black on yellow") if simulated else "",
        f"  session {view.session or '-'}" if width >= SLIM else "",
        f"  round {view.round or '-'} ",
    )
    grid.add_column(justify="right", no_wrap=True)
    left.truncate(max(0, width - len(right)), overflow="ellipsis")
    grid.add_row(left, right)
    return grid


def _now(view: TableView, trouble: Trouble, family: Family) -> RenderableType:
    """The phase with its call, what lies on the table or in the wheel, and what the table waits for."""
    words = {**PHASES, **family.phases}
    name = Text(words.get(view.phase, view.phase.replace("_", " ")).upper(), style=STYLES.get(view.phase, "bold"))
    if trouble.what:
        said = Text(f" {trouble.what} ", style="bold white on red", no_wrap=True)
    else:
        said = Text(" · ".join(f"«{call}»" for call in view.calls) or " ", style="italic", justify="center")
    parts: list[RenderableType] = [Align.center(name), Align.center(said), Text(), *family.body(view)]
    if view.asks:
        asks = Text("waiting for: " + " or ".join(view.asks), style="bold black on yellow", justify="center")
        parts.append(Align.center(asks))
    return Group(*parts)


ROULETTE = Family(roulette_screen.body, roulette_screen.side)
FAMILIES = {
    "roulette-french": ROULETTE,
    "roulette-american": ROULETTE,
    "boule": ROULETTE,
    "fortune-wheel": Family(fortune_screen.body, fortune_screen.side),
    "craps": Family(dice_screen.body, dice_screen.side, DICE_PHASES),
    "punto-banca": Family(card_screen.body, card_screen.side, CARD_PHASES),
}
PLAIN = Family(hands_screen.body, hands_screen.side, CARD_PHASES | HAND_PHASES)
"""Every other game is one of hands."""


def _notes(view: TableView) -> RenderableType:
    """What the table asks about, then open alerts, then what else was irregular, newest on top, each with its article."""
    notes = list(reversed(view.notes))
    asked = 1 if view.asks and notes and notes[0].round == view.round else 0
    lines: list[RenderableType] = [_note(note) for note in notes[:asked]]
    lines += [_alert(alert) for alert in view.alerts.values()]
    lines += [_note(note) for note in notes[asked:]]
    counts = {"open alerts": len(view.alerts), "irregularities": len(view.notes)}
    title = " · ".join(f"{what} {count}" for what, count in counts.items() if count) or "irregularities"
    body = Group(*lines) if lines else Text("none", style="dim")
    return Panel(body, title=title, box=box.ROUNDED, border_style="yellow" if view.alerts else "bright_black", padding=(0, 1))


def _alert(alert: dict[str, Any]) -> Text:
    seen = f", seen by {alert['acknowledged_by']}" if alert.get("acknowledged_by") else ""
    about = ", ".join(str(alert[name]) for name in ("device", "detail") if alert.get(name))
    return Text.assemble(
        (f" {str(alert.get('severity', 'fault')).upper()} ", "bold white on red"),
        f" {str(alert.get('what') or alert.get('alert')).replace('_', ' ')}",
        (f" ({about})" if about else "") + seen,
    )


def _note(note: Note) -> Text:
    return Text.assemble(
        (f"{f'round {note.round}':<9}" if note.round else " " * 9, "bright_black"),
        (f" {note.what} ", "bold yellow"),
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
        devices.append("● ", style=LINK.get(state, "yellow")).append(f"{device} {state}  ")
    if view.missed:
        devices.append(f"{view.missed} events missed", style="yellow")
    right = Text()
    for each in elsewhere[:NAMED]:
        right.append(f" {each.table} {each.state['status']} ", style="bold black on yellow").append(" ")
    right.append(f"and {len(elsewhere) - NAMED} more  " if len(elsewhere) > NAMED else "", style="bold yellow")
    status = str(view.state.get("status") or "unknown")
    right.append(
        " OLD " if trouble.what else f"{status} ", style="bold white on red" if trouble.what else STATUS.get(status, "dim")
    )
    grid.add_row(devices, right)
    return grid
