"""``python -m subscribers.surveillance.cards``: shows the sealed cards of a round to a person with
the role, and records it first. ``novamas surveillance cards`` starts it.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import msgspec

from controller.confidential.key_file import KeyFileError
from controller.contract.messages.messages import ENGLISH, LANGUAGES
from controller.people.register import Person
from devices.command_line import CommandLine, end_process
from devices.log import structlog
from subscribers.cards import short
from subscribers.console.admission import NobodyError
from subscribers.console.settings import PitSettings
from subscribers.surveillance.admitted import RefusedError, admitted
from subscribers.surveillance.errors import ArchiveError
from subscribers.surveillance.finding import latest_session, round_rows
from subscribers.surveillance.open_archive import open_archive
from subscribers.surveillance.sealed import (
    Card,
    NoCardsError,
    Reason,
    Shown,
    look,
    may_see,
    private_key,
)
from subscribers.surveillance.search import local
from subscribers.surveillance.words import own
from subscribers.words import who

EPILOG = """\
The person needs the role `surveillance` in the people file, a PIN, and to be
enrolled for the table. What is shown is recorded in the archive first, with the
person and the reason; if it cannot be recorded, nothing is shown.

exit status: 0 shown, 1 not shown, or a box was not made by the daemon, 2 wrong usage"""


class CardsSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the program is told. No secret is in it."""

    archive: str
    site: str
    pit: PitSettings
    state: str
    """The folder in which wrong PINs are counted."""
    key: str | None = None
    """The file of surveillance's private key."""


def main(words: Sequence[str] | None = None) -> int:
    """Returns the exit status."""
    given = command_line().parse_args(words)
    settings = msgspec.json.decode(given.settings, type=CardsSettings)
    try:
        shown = _shown(settings, given)
    except (ArchiveError, KeyFileError, NoCardsError, NobodyError, RefusedError) as error:
        sys.stderr.write(f"novamas surveillance cards: {error}\n")
        return 1
    try:
        _print(shown, as_json=given.json or not sys.stdout.isatty(), language=given.lang)
    except BrokenPipeError:  # the reader of the output closed it, which is no error
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0 if all(card.signed == "daemon" for card in shown.cards) else 1


def command_line() -> argparse.ArgumentParser:
    """What it takes on the command line."""
    parser = CommandLine(
        prog="novamas surveillance cards",
        description="Show the sealed cards of a round, and record who saw them.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--settings", required=True, help=argparse.SUPPRESS)
    parser.add_argument("action", nargs="?", choices=["cards"], help=argparse.SUPPRESS)
    add = parser.add_argument
    add("--table", required=True, metavar="TABLE")
    add("--site", metavar="SITE", help="default: the one of the configuration")
    add("--round", required=True, type=int, metavar="N")
    add("--session", type=int, metavar="N", help="default: the last that had this round")
    add("--key", type=Path, metavar="FILE", help="surveillance's private key (novamas keygen)")
    add("--as", dest="person", required=True, metavar="PERSON", help="who looks: id or badge")
    add("--why", required=True, metavar="REASON", help="why: it is recorded")
    add("--pin-file", type=Path, metavar="FILE", help="the PIN, for scripts; else it is asked for")
    add("--json", action="store_true", help="a JSON object on each line, as into a pipe")
    add("--lang", choices=LANGUAGES, default=ENGLISH, help="the language of the words")
    return parser


def _shown(settings: CardsSettings, given: argparse.Namespace) -> Shown:
    path = given.key or (None if settings.key is None else Path(settings.key))
    if path is None:
        raise RefusedError("no key: give --key FILE, or set `cards_key` of [archive]")
    why = given.why.strip()
    if not why:
        raise RefusedError("--why: say why, for it is recorded")
    person = _admitted(settings, given)
    key = private_key(path)
    with closing(open_archive(settings.archive)) as archive:
        site = given.site or settings.site
        session = given.session or latest_session(archive, site, given.table, given.round)
        if session is None:
            raise RefusedError(f"{site}: nothing is known of round {given.round} of {given.table}")
        reason = Reason(person=person.id, name=person.name, origin=_origin(), why=why)
        rows = round_rows(archive, site, given.table, session, given.round)
        return look(archive, rows, key, reason, time.time())


def _admitted(settings: CardsSettings, given: argparse.Namespace) -> Person:
    """The person, by PIN. Raises :class:`RefusedError` and ``NobodyError``."""
    admission, person = admitted(
        settings.pit, settings.site, settings.state, given.person, given.pin_file, given.lang
    )
    if not may_see(person):
        raise RefusedError(
            f"{person.name} has not the role surveillance; novamas people add gives it"
        )
    if not admission.may_be_at(given.table, person):
        raise RefusedError(f"{person.name} is not enrolled for {given.table}")
    return person


def _origin() -> str:
    """The machine, its user and the terminal."""
    try:
        terminal = os.ttyname(0)
    except OSError:
        terminal = "no terminal"
    return f"{os.uname().nodename} user {os.getuid()} {terminal}"


def _print(shown: Shown, *, as_json: bool, language: str) -> None:
    if as_json:
        for card in shown.cards:
            told = {**msgspec.to_builtins(card), "shown_to": shown.look.person}
            sys.stdout.write(msgspec.json.encode(told).decode() + "\n")
    else:
        for card in shown.cards:
            sys.stdout.write(line(card, language) + "\n")
    if not shown.cards:
        sys.stderr.write(own("page.cards_none", language) + "\n")
    recorded = own(
        "page.cards_recorded", language, name=shown.look.name, time=local(shown.look.time)
    )
    sys.stderr.write(recorded + "\n")


def line(card: Card, language: str) -> str:
    """One card for a person."""
    parts = [local(card.time or card.heard)]
    if card.to is not None:
        parts.append(f"{who(card.to, language)} {card.index}")
    if card.card is not None:
        parts.append(short(card.card))
    elif card.body:
        parts.append(card.body)
    if card.reading is not None:
        parts.append(f"{own('page.reading', language)} {card.reading}")
    parts.append(own(f"signed.{card.signed}", language))
    return "  ".join(parts)


if __name__ == "__main__":
    structlog.configure(logger_factory=structlog.WriteLoggerFactory(sys.stderr))
    end_process(main())
