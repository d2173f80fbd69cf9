"""``novamas rules``: what becomes of the numbered rules of the decrees."""

from __future__ import annotations

import argparse
import sys
from typing import Any

import msgspec

from controller.cli import Failed
from controller.rulebooks.dispositions import Count, coverage, dispositions, subjects

HELP = "count the rules of the decrees: enforced, published, asserted by a person, out of reach, not yet"


def arguments(parser: argparse.ArgumentParser) -> None:
    """[--decree D] [--list] [--json]."""
    parser.add_argument("--decree", metavar="D", help="only this decree")
    parser.add_argument("--list", action="store_true", help="each rule: what becomes of it, and where it is carried")
    parser.add_argument("--json", action="store_true", help="JSON lines even on a terminal")


def run(arguments: argparse.Namespace) -> int:
    """Print counts per decree and subject, or each rule."""
    known = sorted({subject.decree for subject in subjects()})
    if arguments.decree not in (None, *known):
        raise Failed(f"no decree {arguments.decree!r}; there are: {', '.join(known)}")
    machine = arguments.json or not sys.stdout.isatty()
    if arguments.list:
        listed = _listed(arguments.decree)
        _lines(listed) if machine else _list(listed)
    else:
        counts = [count for count in coverage() if arguments.decree in (None, count.decree)]
        _lines([msgspec.structs.asdict(count) for count in counts]) if machine else _counts(counts)
    return 0


def _listed(decree: str | None) -> list[dict[str, str]]:
    """Every rule of the decree, or of all; one without an answer has the disposition ``not_yet``."""
    found = []
    for subject in subjects():
        if decree not in (None, subject.decree):
            continue
        for rule in subject.ids:
            answer = dispositions().get(rule)
            no_answer = {"id": rule, "game": subject.subject, "disposition": "not_yet"}
            found.append(msgspec.structs.asdict(answer) if answer else no_answer)
    return found


def _lines(objects: list[dict[str, Any]]) -> None:
    for each in objects:
        print(msgspec.json.encode(each).decode())


def _counts(counts: list[Count]) -> None:
    from rich.console import Console
    from rich.table import Table

    columns = Count.__struct_fields__
    table = Table(*(name.replace("_", " ") for name in columns), show_footer=True)
    table.columns[0].footer = "total"
    for at, name in enumerate(columns[2:], start=2):
        table.columns[at].justify = "right"
        table.columns[at].footer = str(sum(getattr(count, name) for count in counts))
    for count in counts:
        table.add_row(*(str(getattr(count, name) or "") for name in columns))
    Console().print(table)


def _list(listed: list[dict[str, str]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("rule", "game", "disposition", "says", "where, or why not")
    for line in listed:
        answer = "; ".join(part for part in (line.get("where"), line.get("reason")) if part)
        table.add_row(line["id"], line["game"], line["disposition"].replace("_", " "), line.get("wording", ""), answer)
    Console().print(table)
