"""``novamas play``: runs a table without devices: readings and commands in, events out, as JSON
lines.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from common.contract.notation import read_input, write
from common.contract.refusals import RejectedError
from common.contract.times import format_utc
from common.places import format_path
from common.sections import Notes
from controller.cli import CommandLineError
from controller.cli.decode import parse_option
from controller.tables.table import Table

EXIT_REFUSED = 3
"""Exit status if the table refused a command and every line was valid."""
EXIT_STATUS_HELP = (
    f"exit status: 0 all inputs accepted, 1 a line is not an input, 2 wrong usage, {EXIT_REFUSED} "
    "the table refused a command"
)


def arguments(parser: argparse.ArgumentParser) -> None:
    """GAME --decree D [SCRIPT] [--set KEY=VALUE ...]."""
    parser.epilog = EXIT_STATUS_HELP
    parser.add_argument("game", metavar="GAME", help="a name that `novamas games` lists")
    parser.add_argument(
        "script",
        nargs="?",
        metavar="SCRIPT",
        help="a file with one input per line, amounts in minor units as in MQTT messages "
        "(default: standard input)",
    )
    add_rules(parser)


def add_rules(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that select the rules of a game."""
    parser.add_argument(
        "--decree", required=True, help="the decree that the table plays under, e.g. ARA02"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a setting of the table, an amount as 5.00; may be repeated",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print events to stdout, refused commands and invalid lines to stderr. Returns 1 if a line was
    invalid, 3 if a command was refused.
    """
    table = make_table("play", arguments.game, arguments.decree, arguments.set)
    if arguments.script in (None, "-"):
        return play(table, sys.stdin.buffer, "standard input")
    with _open(arguments.script) as lines:
        return play(table, lines, arguments.script)


def play(table: Table, lines: Iterable[bytes], name: str) -> int:
    """Process each line, and continue after invalid ones. Empty lines and lines that begin with
    ``#`` are skipped.
    """
    invalid, refused = 0, 0
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith(b"#"):
            continue
        try:
            item = read_input(line)
            time = format_utc(item.at)
        except (ValueError, RecursionError) as error:
            invalid += 1
            print(f"{name}:{number}: {error}", file=sys.stderr, flush=True)
            continue
        try:
            events = table.handle(item, time, round(item.at * 1e9)).events
        except RejectedError as refusal:
            refused += 1
            print(f"{name}:{number}: refused: {refusal}", file=sys.stderr, flush=True)
            continue
        for event in events:
            print(write(event).decode(), flush=True)
    return 1 if invalid else EXIT_REFUSED if refused else 0


def make_table(name: str, game_id: str, decree: str, settings: list[str]) -> Table:
    """Make a table without a site. Raises ``CommandLineError``."""
    from controller.configuration.amounts import section_in_minor_units
    from controller.games.games import make_game, settings_of

    notes: Notes = []
    try:
        values = section_in_minor_units(
            settings_of(game_id), dict(map(parse_option, settings)), notes
        )
        if notes:
            raise CommandLineError(
                "; ".join(f"--set {format_path(at)}: {what}" for at, what in notes)
            )
        game = make_game(game_id, decree, values)
    except (ValueError, KeyError) as error:
        raise CommandLineError(str(error.args[0] if error.args else error)) from error
    return Table(
        site="local", id=name, game_id=game_id, decree=decree, game=game, boot=name, simulated=False
    )


def _open(path: str) -> contextlib.AbstractContextManager[BinaryIO]:
    try:
        return Path(path).open("rb")
    except OSError as error:
        raise CommandLineError(f"{path}: {error.strerror}") from error
