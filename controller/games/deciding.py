"""The page that lists who may give each command, with the lines of each decree."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from common.contract.commands import COMMANDS, RoundVoid, tag_of
from controller.games.games import GAMES, make_game
from controller.games.machine import Machine
from controller.rulebooks.chapters import decrees, games_of, head
from controller.rulebooks.numbered import numbered
from controller.rulebooks.pages import GENERATED_NOTICE, plain

OUR_DEFAULT = "default"


def who_decides() -> str:
    """The Markdown text: a table for each decree, and in it every command of every game."""
    lines = [
        GENERATED_NOTICE,
        "# Who may decide\n",
        (
            "Each command at each game: the roles that may give it, and the words of the decree "
            "that name them (lines of the copies that we read). Where no line is known, the cell "
            f"says *{OUR_DEFAULT}*. A director's delegate is a person whom the site enrols in the "
            "people file with the role `director`, at the tables and for the time of the "
            "delegation. A site may narrow each cell "
            "([`[people.may]`](../../technician/configuration.md)), and widen none.\n"
        ),
    ]
    for decree in decrees():
        lines += [
            f"## {decree}: {head(decree).title}\n",
            "| Command | Games | Who | By |",
            "|---|---|---|---|",
        ]
        cells = sorted(
            cell for game in GAMES if game in games_of(decree) for cell in _cells(game, decree)
        )
        for (command, who, by), rows in groupby(cells, key=lambda cell: cell[:3]):
            games = ", ".join(game for *_, game in rows)
            lines.append(f"| `{command}` | {games} | {who} | {by} |")
        lines.append("")
    return "\n".join(lines)


def _cells(game: str, decree: str) -> list[tuple[str, str, str, str]]:
    """Rows of command, roles, the decree's words or "default", and game."""
    machine = make_game(game, decree, {})
    assert isinstance(machine, Machine)
    found = [
        (tag_of(kind), ", ".join(machine.roles[kind]), _by(machine, tag_of(kind)), game)
        for kind in COMMANDS
        if kind in machine.roles
    ]
    return found + [
        (name, ", ".join(cell.roles), _by(machine, name), game)
        for name, cell in machine.deciders.items()
        if cell.of
    ]


def _by(machine: Machine[Any, Any, Any, Any], name: str) -> str:
    """The line of the decree and its words; for ``round.void``, the law that its event cites."""
    cell, law = machine.deciders.get(name), machine.book.void.get("inspector")
    if cell is None and name == tag_of(RoundVoid) and law is not None:
        words = law.article.partition(": ")[2]
        return f"{numbered()[law.rule].lines}: {plain(words)}"
    return f"{cell.lines}: «{plain(cell.words)}»" if cell else f"*{OUR_DEFAULT}*"
