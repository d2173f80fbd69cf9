"""``python -m subscribers.surveillance.cards``: shows the sealed cards of a round to an authorized
person, and records the access first. ``novamas surveillance cards`` starts it.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import msgspec

from common import clock
from common.command_line import CommandLine, end_process
from common.confidential.key_file import KeyFileError
from common.contract.messages.messages import ENGLISH, LANGUAGES
from common.log import structlog
from common.people.register import Person
from subscribers.cards import short
from subscribers.console.admission import SignInUnavailableError
from subscribers.console.settings import PitSettings
from subscribers.surveillance.admitted import AccessRefusedError, admit_person
from subscribers.surveillance.errors import ArchiveError
from subscribers.surveillance.lookup import latest_session, round_rows
from subscribers.surveillance.open_archive import open_archive
from subscribers.surveillance.sealed import (
    AccessReason,
    CardDisclosure,
    DisclosedCard,
    NoCardsError,
    disclose_cards,
    may_see,
    private_key,
)
from subscribers.surveillance.search import local_time
from subscribers.surveillance.words import room_text
from subscribers.words import who

EPILOG = """\
The person needs the role `surveillance` in the people file, a PIN, and to be
enrolled for the table. The access is recorded in the archive first, with the
person and the reason; if it cannot be recorded, nothing is shown.

exit status: 0 shown, 1 not shown, or a box not signed by the daemon, 2 wrong usage"""


class CardsSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of the program. They contain no secret."""

    archive: str
    site: str
    pit: PitSettings
    state: str
    """The folder that stores the count of wrong PINs."""
    key: str | None = None
    """The file of surveillance's private key."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return the exit status."""
    options = command_line().parse_args(arguments)
    settings = msgspec.json.decode(options.settings, type=CardsSettings)
    try:
        disclosure = _shown(settings, options)
    except (
        ArchiveError,
        KeyFileError,
        NoCardsError,
        SignInUnavailableError,
        AccessRefusedError,
    ) as error:
        sys.stderr.write(f"novamas surveillance cards: {error}\n")
        return 1
    try:
        _print(disclosure, as_json=options.json or not sys.stdout.isatty(), language=options.lang)
    except BrokenPipeError:  # the reader of the output closed it; not an error
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0 if all(card.signed == "daemon" for card in disclosure.cards) else 1


def command_line() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
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
    add("--site", metavar="SITE", help="default: that of the configuration")
    add("--round", required=True, type=int, metavar="N")
    add("--session", type=int, metavar="N", help="default: the latest with this round")
    add("--key", type=Path, metavar="FILE", help="surveillance's private key (novamas keygen)")
    add("--as", dest="person", required=True, metavar="PERSON", help="id or badge of the person")
    add("--why", required=True, metavar="REASON", help="reason, which is recorded")
    add(
        "--pin-file",
        type=Path,
        metavar="FILE",
        help="file with the PIN, for scripts; default: ask for it",
    )
    add("--json", action="store_true", help="print JSON lines, as into a pipe")
    add("--lang", choices=LANGUAGES, default=ENGLISH, help="the language of the words")
    return parser


def _shown(settings: CardsSettings, options: argparse.Namespace) -> CardDisclosure:
    path = options.key or (None if settings.key is None else Path(settings.key))
    if path is None:
        raise AccessRefusedError("no key: give --key FILE, or set `cards_key` in [archive]")
    purpose = options.why.strip()
    if not purpose:
        raise AccessRefusedError("--why: give a reason; it is recorded")
    person = _admitted(settings, options)
    key = private_key(path)
    with closing(open_archive(settings.archive)) as archive:
        site = options.site or settings.site
        session = options.session or latest_session(archive, site, options.table, options.round)
        if session is None:
            raise AccessRefusedError(
                f"{site}: the archive has no round {options.round} of {options.table}"
            )
        reason = AccessReason(person=person.id, name=person.name, origin=_origin(), why=purpose)
        rows = round_rows(archive, site, options.table, session, options.round)
        return disclose_cards(archive, rows, key, reason, clock.wall())


def _admitted(settings: CardsSettings, options: argparse.Namespace) -> Person:
    """Return the person, admitted by PIN. Raise :class:`AccessRefusedError` or
    ``SignInUnavailableError``.
    """
    admission, person = admit_person(
        settings.pit, settings.site, settings.state, options.person, options.pin_file, options.lang
    )
    if not may_see(person):
        raise AccessRefusedError(
            f"{person.name} does not have the role surveillance; `novamas people add` grants it"
        )
    if not admission.may_be_at(options.table, person):
        raise AccessRefusedError(f"{person.name} is not enrolled for {options.table}")
    return person


def _origin() -> str:
    """Return the machine, its user and the terminal."""
    try:
        terminal = os.ttyname(0)
    except OSError:
        terminal = "no terminal"
    return f"{os.uname().nodename} user {os.getuid()} {terminal}"


def _print(disclosure: CardDisclosure, *, as_json: bool, language: str) -> None:
    if as_json:
        for card in disclosure.cards:
            fields = {**msgspec.to_builtins(card), "shown_to": disclosure.look.person}
            sys.stdout.write(msgspec.json.encode(fields).decode() + "\n")
    else:
        for card in disclosure.cards:
            sys.stdout.write(line(card, language) + "\n")
    if not disclosure.cards:
        sys.stderr.write(room_text("page.cards_none", language) + "\n")
    recorded = room_text(
        "page.cards_recorded",
        language,
        name=disclosure.look.name,
        time=local_time(disclosure.look.time),
    )
    sys.stderr.write(recorded + "\n")


def line(card: DisclosedCard, language: str) -> str:
    """Return one card as a line of text."""
    parts = [local_time(card.time or card.received)]
    if card.to is not None:
        parts.append(f"{who(card.to, language)} {card.index}")
    if card.card is not None:
        parts.append(short(card.card))
    elif card.body:
        parts.append(card.body)
    if card.reading is not None:
        parts.append(f"{room_text('page.reading', language)} {card.reading}")
    parts.append(room_text(f"signed.{card.signed}", language))
    return "  ".join(parts)


if __name__ == "__main__":
    structlog.configure(logger_factory=structlog.WriteLoggerFactory(sys.stderr))
    end_process(main())
