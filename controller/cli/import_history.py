"""``novamas import deck-mate-1``: the history of a shuffler, from the text it sent to a PC."""

from __future__ import annotations

import argparse
import sys
from datetime import datetime
from pathlib import Path

import msgspec

from controller.cli import CommandLineError

HELP = "read a device's own history: events and counters as JSON lines"


def arguments(parser: argparse.ArgumentParser) -> None:
    """DEVICE FILE [--made TIME]."""
    parser.add_argument("device", choices=("deck-mate-1",), help="the device that wrote it")
    parser.add_argument(
        "file",
        type=Path,
        metavar="FILE",
        help="what the machine sent when asked for its history",
    )
    parser.add_argument(
        "--made",
        metavar="TIME",
        type=_time,
        help=(
            "the correct local time when the history was requested, such as "
            "2026-11-19T14:05:00; corrects the machine's clock"
        ),
    )


def run(given: argparse.Namespace) -> int:
    """Print the head, the events in order of their cycles, and the counters. Returns 1 if a line
    could not be read.
    """
    from devices.shuffler.deck_mate_1_history import read_history

    try:
        text = given.file.read_bytes().decode("latin-1")
    except OSError as error:
        raise CommandLineError(f"{given.file}: cannot be read: {error.strerror}") from None
    try:
        history = read_history(text, given.made)
    except ValueError as error:
        raise CommandLineError(f"{given.file}: {error}") from None
    for part in (history.head, *history.events, history.totals):
        print(msgspec.json.encode(part).decode())
    for line, what in history.problems:
        print(f"novamas: {given.file}: line {line}: {what}", file=sys.stderr)
    if any(event.doubtful for event in history.events):
        print(
            f"novamas: {given.file}: the machine's clock was set back; earlier times are doubtful",
            file=sys.stderr,
        )
    return 1 if history.problems else 0


def _time(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text} is not a time; expected a time such as 2026-11-19T14:05:00"
        ) from None
