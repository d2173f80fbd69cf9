"""``novamas explain``: what an alert or a message means, and what to do about it."""

from __future__ import annotations

import argparse
from pathlib import Path

from common.contract.remedies import entry, find, heading, names, pages
from common.new_file import replace_file
from common.suggestions import closest
from controller.cli import CommandLineError


def arguments(parser: argparse.ArgumentParser) -> None:
    """[NAME] [--pages FOLDER]."""
    parser.add_argument(
        "name",
        nargs="?",
        metavar="NAME",
        help=(
            "an alert's id or word (wheel-link, journal.room), the key of a refusal "
            "(bets_closed), or a piece of a message in quotes (default: list the names of all)"
        ),
    )
    parser.add_argument(
        "--pages",
        type=Path,
        metavar="FOLDER",
        help="write the troubleshooting pages to this folder",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print each entry that may be meant, list the names of all, or write all of them as pages."""
    if arguments.pages is not None:
        _write(arguments.pages)
        return 0
    if arguments.name is None:
        for name, key in names().items():
            text = heading(key)
            print(text if text.startswith(f"{name}:") else f"{name}: {text}")
        return 0
    found = find(arguments.name)
    if not found:
        near = closest(arguments.name, names())
        hint = f"did you mean `{near}`?" if near else "`novamas explain` lists them"
        raise CommandLineError(f"no alert or message {arguments.name!r}; {hint}", 2)
    print("\n\n".join(f"{heading(key)}\n\n{entry(key)}" for key in found))
    return 0


def _write(folder: Path) -> None:
    for name, text in pages().items():
        file = folder / name
        try:
            folder.mkdir(parents=True, exist_ok=True)
            replace_file(file, text.encode())
        except OSError as error:
            raise CommandLineError(f"{file}: {error.strerror}") from error
