"""``novamas rules``: shows how the program treats each numbered rule of the decrees, and what
proves it.
"""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from common.new_file import replace_file
from controller.cli import CommandLineError
from controller.games.deciding import who_decides
from controller.rulebooks.dispositions import KINDS, RuleCount, coverage
from controller.rulebooks.numbered import NumberedRule, numbered
from controller.rulebooks.pages import WHO_DECIDES_PAGE, pages


def arguments(parser: argparse.ArgumentParser) -> None:
    """[ID...] [--decree D] [--game G] [--disposition K] [--list] [--json] [--pages FOLDER]."""
    parser.add_argument(
        "rules", nargs="*", metavar="ID", help="show everything about a rule, such as EUS96-173"
    )
    parser.add_argument("--decree", metavar="D", help="only this decree")
    parser.add_argument("--game", metavar="G", help="list only the rules of this game")
    parser.add_argument(
        "--disposition",
        metavar="K",
        help=f"list only the rules that are {', '.join(KINDS)} or not_yet",
    )
    parser.add_argument(
        "--list",
        action="store_true",
        help="list each rule: what the program does with it, and where",
    )
    parser.add_argument("--json", action="store_true", help="print JSON lines, also on a terminal")
    parser.add_argument(
        "--pages", type=Path, metavar="FOLDER", help="write a page for each decree to this folder"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print counts per decree and subject, a list of rules, or all details of some."""
    machine = arguments.json or not sys.stdout.isatty()
    filters = {
        name: _known(name, value)
        for name in FILTERS
        if (value := getattr(arguments, name)) is not None
    }
    if arguments.pages:
        _write(arguments.pages)
    elif arguments.rules:
        rules = [numbered()[_known("id", rule.upper())] for rule in arguments.rules]
        _lines(rules) if machine else _details(rules)
    elif arguments.list or filters.keys() - {"decree"}:
        rules = [
            rule
            for rule in numbered().values()
            if all(getattr(rule, name) == value for name, value in filters.items())
        ]
        _lines(rules) if machine else _list(rules)
    else:
        counts = [count for count in coverage() if filters.get("decree") in (None, count.decree)]
        _lines(counts) if machine else _counts(counts)
    return 0


FILTERS = ("decree", "game", "disposition")


def _known(name: str, text: str) -> str:
    """Return an existing decree, game, disposition or id. Raises ``CommandLineError`` with a
    suggestion.
    """
    words = sorted(
        {getattr(rule, name) for rule in numbered().values()}
        | set(KINDS if name == "disposition" else ())
    )
    for word in (text, text.upper(), text.lower().replace(" ", "_")):
        if word in words:
            return word
    near = difflib.get_close_matches(text, words, n=3) or difflib.get_close_matches(
        text.upper(), words, n=3
    )
    column = "rule" if name == "id" else name
    if near:
        raise CommandLineError(f"no {column} {text!r}; did you mean {' or '.join(near)}?")
    others = (
        "`novamas rules --list` shows all" if name == "id" else f"there are: {', '.join(words)}"
    )
    raise CommandLineError(f"no {column} {text!r}; {others}")


def _lines(rows: Sequence[msgspec.Struct]) -> None:
    for row in rows:
        print(msgspec.json.encode(row).decode())


def _write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (pages() | {WHO_DECIDES_PAGE: who_decides()}).items():
        replace_file(folder / name, text.encode())


def _counts(counts: list[RuleCount]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    columns = RuleCount.__struct_fields__
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_footer=True)
    for name in columns:
        words = name.replace("_", " ").replace("asserted by", "by a")
        table.add_column("\n".join(words.rsplit(" ", 1)), overflow="fold")
    table.columns[0].footer = "total"
    for at, name in enumerate(columns[2:], start=2):
        table.columns[at].justify = "right"
        table.columns[at].footer = str(sum(getattr(count, name) for count in counts))
    for count in counts:
        table.add_row(*(str(getattr(count, name) or "") for name in columns))
    Console().print(table)


def _list(rules: list[NumberedRule]) -> None:
    from rich.console import Console
    from rich.table import Column, Table

    table = Table(
        "rule",
        "game",
        "disposition",
        Column("says; where, or why not", overflow="fold"),
        show_lines=True,
    )
    table.columns[0].no_wrap = True
    for rule in rules:
        text = "; ".join(filter(None, (rule.wording, rule.where, rule.reason)))
        table.add_row(rule.id, rule.game, rule.disposition.replace("_", " "), text)
    console = Console()
    console.print(table)
    console.print(
        f"{len(rules)} rules; all that is known of one: novamas rules "
        f"{rules[0].id if rules else 'ID'}"
    )


def _details(rules: list[NumberedRule]) -> None:
    """Everything about each rule, fitted to the terminal."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    for rule in rules:
        table = Table(box=None, show_header=False, pad_edge=False)
        table.add_column(no_wrap=True, style="bold")
        table.add_column(overflow="fold")
        rows = [
            ("rule", f"{rule.id}, {rule.game}: {rule.disposition.replace('_', ' ')}"),
            ("article", f"{rule.article} ({rule.lines} of our copy)"),
            ("printed", f"«{rule.printed}»"),
            ("the table", "; ".join(filter(None, (rule.wording, rule.where, rule.reason)))),
        ]
        for proof in rule.proofs:
            rows += [("test", proof.test), ("fails when", proof.mutant)]
        for name, text in rows:
            if text:
                table.add_row(name, Text(text))
        console.print(table)
        console.print()
