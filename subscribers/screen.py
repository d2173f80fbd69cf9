"""The picture of one table, for a terminal of 80 by 24 or more."""

from __future__ import annotations

from typing import Any

import msgspec
from rich import box
from rich.align import Align
from rich.console import Group, RenderableType
from rich.layout import Layout
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from subscribers.digits import large
from subscribers.table_view import PHASES, SPINS, Colour, Note, Spin, TableView

FACE: dict[Colour, str] = {"red": "bold white on #b3001b", "black": "bold white on #101010", "green": "bold white on #00783c"}
"""The large number: white on the colour of its pocket."""
LANE: dict[Colour, str] = {"red": "bold #ff5065", "black": "bold #f2f2f2", "green": "bold #33cc77"}
"""The small ones, on the terminal's own background; black is shown white."""
STATUS = {"open": "bold green", "closed": "dim", "waiting": "bold yellow", "stale": "bold red", "fault": "bold white on red"}
LINK = {"up": "green", "stale": "yellow", "lost": "bold red", "unintelligible": "bold red"}
WIDE = 100
"""Columns from which on there is room for more beside the number."""


class Trouble(msgspec.Struct, frozen=True):
    """Why the picture may be old: ``what`` is told to whoever looks at it. Empty where all is well."""

    what: str = ""


def picture(view: TableView, trouble: Trouble = Trouble(), width: int = 80) -> RenderableType:  # noqa: B008 - it is frozen
    """All of it. It fills the height that it is given; the numbers keep their place."""
    layout = Layout()
    layout.split_column(
        Layout(name="head", size=1), Layout(name="table", size=SPINS + 2), Layout(name="notes"), Layout(name="foot", size=1)
    )
    layout["table"].split_row(Layout(name="now"), Layout(name="lanes", size=31 if width < WIDE else 45))
    layout["head"].update(_head(view))
    layout["now"].update(Panel(_now(view, trouble), box=box.ROUNDED, border_style="red" if trouble.what else "bright_black"))
    layout["lanes"].update(_lanes(view))
    layout["notes"].update(_notes(view))
    layout["foot"].update(_foot(view, trouble))
    return layout


def _game(view: TableView) -> str:
    title = (view.info.get("about") or {}).get("title") or {}
    return " / ".join(title.values()) or str(view.state.get("game") or view.info.get("game") or "")


def _head(view: TableView) -> RenderableType:
    grid = Table.grid(expand=True, padding=0)
    grid.add_column(no_wrap=True, overflow="ellipsis")
    grid.add_column(justify="right", no_wrap=True)
    decree = str(view.state.get("decree") or view.info.get("decree") or "")
    left = Text.assemble((f" {view.table} ", "bold black on #e0c060"), "  ", (_game(view), "bold"), f"  {decree}")
    simulated = view.state.get("simulated") or view.info.get("simulated")
    right = Text.assemble(
        (" SIMULATED ", "bold black on yellow") if simulated else "",
        f"  session {view.session or '-'}  round {view.round or '-'} ",
    )
    grid.add_row(left, right)
    return grid


def _now(view: TableView, trouble: Trouble) -> RenderableType:
    """The phase with its call, the number large, what it is, and what the table waits for."""
    parts: list[RenderableType] = []
    style = {
        "bets_open": "bold green",
        "bets_closed": "bold red",
        "decision": "bold yellow",
        "relaunch": "bold yellow",
        "void": "bold yellow",
        "unresolved": "bold yellow",
    }.get(view.phase, "bold")
    parts.append(Align.center(Text(PHASES.get(view.phase, view.phase.replace("_", " ")).upper(), style=style)))
    parts.append(Align.center(Text(" · ".join(f"«{call}»" for call in view.calls) or " ", style="italic")))
    parts.append(Text())
    last = view.last
    parts.append(Align.center(_face(last)))
    parts.append(Text())
    parts.append(Align.center(Text(" · ".join(last.chances) if last else "no result yet", style="bold" if last else "dim")))
    if view.asks:
        parts.append(Align.center(Text("waiting for: " + " or ".join(view.asks), style="bold black on yellow", no_wrap=True)))
    elif last and last.round != view.round:
        parts.append(Align.center(Text(f"the number of round {last.round}", style="dim")))
    else:
        parts.append(Text())
    if trouble.what:
        parts.append(Align.center(Text(f" {trouble.what} ", style="bold white on red", no_wrap=True)))
    return Group(*parts)


def _face(spin: Spin | None) -> RenderableType:
    text = "--" if spin is None or spin.number is None else spin.number
    style = "dim" if spin is None else FACE[spin.colour or "black"]
    lines = large(text)
    edge = " " * (len(lines[0]) + 6)
    return Text("\n".join([edge, *(f"   {line}   " for line in lines), edge]), style=style, no_wrap=True)


def _lanes(view: TableView) -> RenderableType:
    """Red left, zero in the middle, black right, newest on top, so that a run of one colour reads as a line."""
    grid = Table.grid(expand=True, padding=0)
    grid.add_column(width=5, justify="right", style="bright_black", no_wrap=True)
    for _ in range(3):
        grid.add_column(ratio=1, justify="center", no_wrap=True)
    for index, spin in enumerate(reversed(view.spins)):
        grid.add_row(*_lane(spin, newest=index == 0))
    return Panel(grid, title=f"last {SPINS}", box=box.ROUNDED, border_style="bright_black")


def _lane(spin: Spin, newest: bool) -> list[Text]:
    cells = [Text() for _ in range(3)]
    if spin.kind == "void":
        cells[1] = Text("null", style="yellow")
    elif spin.kind == "unresolved":
        cells[1] = Text(f"{spin.number or ''}?", style="bold black on yellow")
    else:
        colour = spin.colour or "black"
        mark = "*" if spin.corrected else ""
        style = FACE[colour] if newest else LANE[colour]
        cells[("red", "green", "black").index(colour)] = Text(f" {spin.number}{mark} ", style=style)
    return [Text(f"{spin.round} "), *cells]


def _notes(view: TableView) -> RenderableType:
    """Open alerts first, then what was irregular, newest on top, each with its article."""
    lines: list[RenderableType] = [_alert(alert) for alert in view.alerts.values()]
    lines += [_note(note) for note in reversed(view.notes)]
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


def _foot(view: TableView, trouble: Trouble) -> RenderableType:
    grid = Table.grid(expand=True, padding=0)
    grid.add_column(no_wrap=True, overflow="ellipsis")
    grid.add_column(justify="right", no_wrap=True)
    devices = Text(" ")
    for device, standing in (view.state.get("devices") or {}).items():
        state = str(standing.get("state"))
        devices.append("● ", style=LINK.get(state, "yellow")).append(f"{device} {state}  ")
    if view.missed:
        devices.append(f"{view.missed} events missed", style="yellow")
    status = str(view.state.get("status") or "unknown")
    grid.add_row(
        devices,
        Text(" OLD " if trouble.what else f"{status} ", style="bold white on red" if trouble.what else STATUS.get(status, "dim")),
    )
    return grid
