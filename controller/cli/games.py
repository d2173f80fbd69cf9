"""``novamas games``: lists the games of each decree, or prints the rules of one."""

from __future__ import annotations

import argparse
import sys

import msgspec

from common.suggestions import unknown_word
from controller.cli import CommandLineError
from controller.games.catalogue import CatalogueEntry, catalogue, playable
from controller.games.games import lacking
from controller.games.hands.of import CONTESTS
from controller.rulebooks.chapters import chapter


def arguments(parser: argparse.ArgumentParser) -> None:
    """[GAME] [--decree D] [--json]."""
    parser.add_argument(
        "game", nargs="?", metavar="GAME", help="show the rules of this game (requires --decree)"
    )
    parser.add_argument("--decree", metavar="D", help="only this decree")
    parser.add_argument("--json", action="store_true", help="print JSON lines, also on a terminal")


def run(arguments: argparse.Namespace) -> int:
    """Print the games of each decree, or one game's rules as JSON."""
    pairs = [pair for pair in catalogue() if arguments.decree in (None, pair.decree)]
    if not pairs:
        known_decrees = sorted({pair.decree for pair in catalogue()})
        raise CommandLineError(unknown_word("decree", arguments.decree, known_decrees))
    if arguments.game:
        print(msgspec.json.format(_rules(arguments.game, arguments.decree, pairs)).decode())
    elif arguments.json or not sys.stdout.isatty():
        for pair in pairs:
            print(
                msgspec.json.encode(
                    {**msgspec.structs.asdict(pair), "playable": playable(pair)}
                ).decode()
            )
    else:
        _table(pairs)
    return 0


def _rules(game: str, decree: str | None, pairs: list[CatalogueEntry]) -> bytes:
    if decree is None and any(pair.decree == game for pair in pairs):
        raise CommandLineError(f"{game} is a decree; use --decree {game}")
    if decree is None:
        raise CommandLineError("the decree is missing; add --decree D")
    pair = next((pair for pair in pairs if pair.game == game), None)
    if pair is None:
        raise CommandLineError(lacking(game, decree))
    if not playable(pair):
        raise CommandLineError(
            f"{game} under {decree} cannot be played yet: its rules are not in the rulebook"
        )
    return msgspec.json.encode(chapter(decree, game))


def _table(pairs: list[CatalogueEntry]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("decree", "number", "game", "name in the decree", "playable")
    for pair in pairs:
        table.add_row(
            pair.decree, pair.number, pair.game, pair.name, "yes" if playable(pair) else ""
        )
    playable_count = sum(playable(pair) for pair in pairs)
    console = Console()
    console.print(table)
    console.print(f"{len(pairs)} games, {playable_count} playable now")
    for decree in sorted(
        {pair.decree for pair in pairs} - {decree for decree, games in CONTESTS.items() if games}
    ):
        console.print(f"{decree} has no game of poker")
