"""The picture of one table, for a terminal of 80 by 24 or more."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, get_args

from rich import box
from rich.align import Align
from rich.console import Console, Group, RenderableType
from rich.layout import Layout
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from common.contract.messages.messages import text, word
from common.contract.retained import Alert
from subscribers.display.baccarat import BaccaratBody
from subscribers.display.boule import BouleBody
from subscribers.display.craps import CrapsBody
from subscribers.display.fortune import FortuneBody
from subscribers.display.picture import Picture
from subscribers.display.roulette import RouletteBody
from subscribers.feed.table_snapshot import OutdatedReason
from subscribers.terminal import (
    card_screen,
    dice_screen,
    fortune_screen,
    hands_screen,
    roulette_screen,
    words,
)
from subscribers.terminal.current import Greyed, since
from subscribers.terminal.event_log import TableNote
from subscribers.terminal.space import FRAME_COLUMNS, Fitted, Room, shares
from subscribers.terminal.table import TerminalTable

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
ENDINGS = ("result", "void", "unresolved")
"""How a round ended: shown as the phase while the table waits for the next one."""
OUTDATED = frozenset(get_args(OutdatedReason))
"""Troubles in which the table's state is unknown."""
WIDEST_ROUND = 99
"""A round number whose label determines the width of the first column of the notes."""
MIN_HEADING_LINES = 3
"""Minimum number of lines above the cards or the wheel."""
MAX_NAMED_TABLES = 2
"""Maximum number of tables named as waiting elsewhere."""
FULL_HEAD_COLUMNS = 70
"""Width below which the head line is shortened."""


class Family(NamedTuple):
    """The parts of a screen for one kind of game. ``body``: in the middle; ``side``: beside or
    below it; ``phases``: phases with another text: phase -> key of the text.
    """

    body: Callable[[Picture, Any, Room], list[RenderableType]]
    side: Callable[[Picture, Any, Room], RenderableType | None]
    phases: Mapping[str, str] = {}


def _nothing(picture: Picture, _body: None, _room: Room) -> list[RenderableType]:
    """Return the body of a table whose state is unknown."""
    return [Text(), Align.center(Text(text("display.no_result", picture.language), style="dim"))]


WHEEL_PHASES = {"waiting": "waiting_wheel", "void": "void_spin"}
CARD_PHASES = {"waiting": "waiting_cards"}
DICE_PHASES = {"waiting": "waiting_shooter", "void": "void_throw", "relaunch": "throw_again"}
ROULETTE_FAMILY = Family(roulette_screen.body, roulette_screen.side, WHEEL_PHASES)
FAMILIES: Mapping[type, Family] = {
    RouletteBody: ROULETTE_FAMILY,
    BouleBody: ROULETTE_FAMILY,
    FortuneBody: Family(fortune_screen.body, fortune_screen.side, WHEEL_PHASES),
    CrapsBody: Family(dice_screen.body, dice_screen.side, DICE_PHASES),
    BaccaratBody: Family(card_screen.body, card_screen.side, CARD_PHASES),
    type(None): Family(_nothing, lambda *_: None),
}
HANDS_FAMILY = Family(hands_screen.body, hands_screen.side)
"""All other games are games of hands, and so is baccarat at two cloths."""


def _family(body: Any) -> Family:
    if isinstance(body, BaccaratBody) and not body.roads:
        return HANDS_FAMILY
    return FAMILIES.get(type(body), HANDS_FAMILY)


def draw(
    table: TerminalTable,
    width: int = 80,
    tables: Sequence[str] = (),
    elsewhere: Sequence[Picture] = (),
) -> RenderableType:
    """Return the drawing of a table, which fills the available height. ``tables``: the tables shown
    in turn, including this one; ``elsewhere``: invisible tables that wait for a person.
    """
    picture = table.picture
    family = _family(picture.body)

    def at_height(console: Console, height: int) -> Layout:
        notes = _notes(table, width - FRAME_COLUMNS)
        part = shares(width, height, _lines(console, notes, width - FRAME_COLUMNS))
        beside = (
            family.side(picture, picture.body, part.side) if part.beside or part.below else None
        )
        whole = Room(width - FRAME_COLUMNS, part.now.height + (part.below if beside is None else 0))
        now = Panel(
            _now(console, table, family, whole if beside is None else part.now),
            box=box.ROUNDED,
            border_style="bright_black" if picture.current else "red",
        )
        middle = Layout()
        if beside is None:
            middle.update(now)
        elif part.beside:
            middle.split_row(Layout(now), Layout(beside, size=part.beside))
        else:
            middle.split_column(Layout(now), Layout(beside, size=part.below))
        layout = Layout()
        layout.split_column(
            Layout(_head(picture, width, tables or (picture.table,)), size=1),
            middle,
            *([Layout(_noted(table, notes), size=part.notes)] if part.notes else []),
            Layout(_foot(table, elsewhere), size=1),
        )
        return layout

    return Fitted(at_height)


def _lines(console: Console, texts: Sequence[Text], width: int) -> int:
    """Return the number of lines of these texts at this width."""
    return sum(len(line.wrap(console, width)) for line in texts)


def _head(picture: Picture, width: int, tables: Sequence[str]) -> RenderableType:
    grid = Table.grid(expand=True, padding=0)
    grid.add_column(no_wrap=True, overflow="ellipsis")
    left = Text()
    for table in tables if sum(map(len, tables)) <= width // 2 else (picture.table,):
        left.append(
            f" {table} ", style="bold black on #e0c060" if table == picture.table else "dim"
        )
    if picture.table in tables and sum(map(len, tables)) > width // 2:
        left.append(f" {tables.index(picture.table) + 1}/{len(tables)}", style="dim")
    language = picture.language
    right = Text.assemble(
        (f" {text('display.simulated', language).upper()} ", "bold black on yellow")
        if picture.simulated
        else "",
        f"  {text('display.session', language, session=picture.session or '-')}"
        if width >= FULL_HEAD_COLUMNS
        else "",
        f"  {text('display.round', language, round=picture.round or '-')} ",
    )
    grid.add_column(justify="right", no_wrap=True)
    title = picture.title.text  # the table's id if its info is not known yet
    game = Text("" if title == picture.table else title, style="bold")
    behind = f"  {picture.decree}"
    # always show the whole decree
    game.truncate(max(0, width - len(right) - len(left) - len(behind) - 2), overflow="ellipsis")
    left.append("  ").append_text(game).append(behind)
    left.truncate(max(0, width - len(right)), overflow="ellipsis")
    grid.add_row(left, right)
    return grid


def _phase(picture: Picture) -> str:
    """Return the phase of the table; while it waits for the next round, how the last one ended."""
    if picture.phase.id != "waiting" or not picture.round:
        return picture.phase.id
    noted = next((note.kind for note in picture.notes if note.round == picture.round), None)
    if noted is not None and noted != "corrected":
        return noted
    return "result" if picture.result_round == picture.round else picture.phase.id


def _now(console: Console, table: TerminalTable, family: Family, room: Room) -> RenderableType:
    """Return the phase with its call, the pending tasks, and the cards or the wheel; in grey with
    the reason if they are outdated.
    """
    picture, language = table.picture, table.picture.language
    phase = _phase(picture)
    name = Text(word("phase", family.phases.get(phase, phase), language).upper())
    name.style = PHASE_STYLES.get(phase, "bold")
    reasons: list[str | None] = []
    if picture.trouble is None:
        call = "" if picture.call is None else f"«{picture.call.text}»"
        caption = Text(call or " ", style="italic")
    else:
        trouble = picture.trouble
        if trouble.why in OUTDATED:
            name.style = "bright_black"  # the present state of the table is unknown
        caption = Text(f" {trouble.text.upper()} ", style="bold white on red")
        reasons = [since("", trouble.since or "", language).strip(", "), trouble.detail]
        reasons += [table.reason] if trouble.why == "no_broker" else []
    above = [name, caption, *(Text(reason, style="bold red") for reason in reasons if reason)]
    tasks = _tasks(picture)
    above += [tasks] if tasks or len(above) < MIN_HEADING_LINES else []
    for line in above:
        line.justify = "center"
    left = Room(room.width, room.height - _lines(console, above, room.width))
    body = family.body(picture, picture.body, left)
    return Group(
        *map(Align.center, above), *(part if picture.current else Greyed(part) for part in body)
    )


def _tasks(picture: Picture) -> Text:
    """Return the tasks for a person with their commands. They are above the cards, so that many
    hands do not push them out.
    """
    if not picture.waits:
        return Text()
    commands = " · ".join(words.command(task.id, picture.language) for task in picture.waits)
    sentence = text("display.waits_for", picture.language, commands=commands)
    return Text(sentence, style="bold black on yellow", justify="center")


def _notes(table: TerminalTable, width: int) -> list[Text]:
    """Return the irregularity of the pending question, then open alerts, then other irregularities,
    newest first, each with its article; last, unusual rounds from before this program started.
    ``width``: columns of a line.
    """
    picture, notes = table.picture, list(reversed(table.notes))
    language = picture.language
    questions = 1 if picture.waits and notes and notes[0].round == picture.round else 0
    lines = [_note(note, language) for note in notes[:questions]]
    lines += [_alert(alert, language, width) for alert in table.known.alerts.values()]
    lines += [_note(note, language) for note in notes[questions:]]
    noted = {note.round for note in notes if note.kind != "irregularity"}
    earlier = [note for note in picture.notes if note.round not in noted]
    return lines + [Text(note.text, style="bold yellow") for note in earlier]


def _noted(table: TerminalTable, lines: Sequence[Text]) -> RenderableType:
    """Return the notes in a frame."""
    alerts = len(table.known.alerts)
    counts = {"open_alerts": alerts, "irregularities_counted": len(lines) - alerts}
    titles = [
        text(f"display.{title}", table.picture.language, count=count)
        for title, count in counts.items()
        if count
    ]
    return Panel(
        Group(*lines),
        title=" · ".join(titles),
        box=box.ROUNDED,
        border_style="yellow" if alerts else "bright_black",
        padding=(0, 1),
    )


def _alert(alert: Alert, language: str, width: int) -> Text:
    """An alert, and the command that says what to do about it, where the line has room for it."""
    severity = word("severity", alert.severity, language)
    line = Text.assemble(
        (f" {severity.upper()} ", "bold white on red"), f" {words.alert(alert, language)}"
    )
    remedy = Text(f"  novamas explain {alert.what}", "bright_black")
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


def _foot(table: TerminalTable, elsewhere: Sequence[Picture]) -> RenderableType:
    picture, state = table.picture, table.known.state
    grid = Table.grid(expand=True, padding=0)
    grid.add_column(no_wrap=True, overflow="ellipsis")
    grid.add_column(justify="right", no_wrap=True)
    devices = Text(" ")
    for device, link in ({} if state is None else state.devices).items():
        devices.append("● ", style=LINK_STYLES.get(link.state, "yellow")).append(
            f"{device} {word('link', link.state, picture.language)}  "
        )
    if table.missed:
        devices.append(text("display.missed", picture.language, count=table.missed), style="yellow")
    right = Text()
    for other in elsewhere[:MAX_NAMED_TABLES]:
        calls = f" {other.table} {other.status.text} "
        right.append(calls, style="bold black on yellow").append(" ")
    unnamed = len(elsewhere) - MAX_NAMED_TABLES
    right.append(
        f"{text('display.more', picture.language, count=unnamed)}  " if unnamed > 0 else "",
        style="bold yellow",
    )
    if picture.trouble is not None and picture.trouble.why in OUTDATED:
        old = text("display.old", picture.language).upper()
        right.append(f" {old} ", style="bold white on red")
    else:
        style = STATUS_STYLES.get(picture.status.id, "dim")
        right.append(f"{picture.status.text} ", style=style)
    grid.add_row(devices, right)
    return grid
