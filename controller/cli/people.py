"""``novamas people``: what each role may say."""

from __future__ import annotations

import argparse
import sys

from controller.cli import CommandLineError

HELP = "show what each role may say at a table"


def arguments(parser: argparse.ArgumentParser) -> None:
    """May --game G --decree D [--role R]."""
    parser.add_argument("action", choices=("may",), help="may: what may be said, and by whom")
    parser.add_argument("--game", metavar="G", help="for may: the game; `novamas games` lists them")
    parser.add_argument("--decree", metavar="D", help="for may: the decree")
    parser.add_argument("--role", metavar="R", help="for may: only what this role may say")
    parser.add_argument("--json", action="store_true", help="print JSON lines, also on a terminal")


def run(arguments: argparse.Namespace) -> int:
    """Print who may say what."""
    return _may(arguments)


def _may(arguments: argparse.Namespace) -> int:
    import msgspec

    from controller.people.authority import HELD, rights
    from devices.suggestions import unknown

    for name in ("game", "decree"):
        if getattr(arguments, name) is None:
            raise CommandLineError(f"--{name} is missing", 2)
    if arguments.role is not None and arguments.role not in HELD:
        raise CommandLineError(unknown("role", arguments.role, HELD), 2)
    try:
        found = [
            right
            for right in rights(arguments.game, arguments.decree).values()
            if arguments.role in (None, *right.roles)
        ]
    except ValueError as error:
        raise CommandLineError(str(error)) from None
    if arguments.json or not sys.stdout.isatty():
        for right in found:
            print(msgspec.json.encode(right).decode())
        return 0
    from rich.console import Console
    from rich.table import Table

    table = Table("command", "who may say it", "by")
    for right in found:
        table.add_row(right.command, ", ".join(right.roles), right.law or "default: no decree says")
    Console().print(table)
    return 0
