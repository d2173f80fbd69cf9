"""``novamas surveillance findings`` and ``settle``: what the recorder found wrong, and that
somebody looked into it. A finding stays in the archive; what a person says of it stands beside it.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import msgspec

from controller.contract.messages.messages import ENGLISH
from controller.contract.times import utc
from controller.people.register import Person
from devices.command_line import CommandLine, end_process
from subscribers.console.admission import NobodyError
from subscribers.console.settings import PitSettings
from subscribers.surveillance.admitted import RefusedError, admitted
from subscribers.surveillance.archive import Archive, Record
from subscribers.surveillance.errors import ArchiveError
from subscribers.surveillance.findings import (
    KEY_CHANGED,
    SETTLED,
    key_of,
    open_findings,
    settled_key,
)
from subscribers.surveillance.open_archive import open_archive

ROLES = frozenset({"surveillance", "director"})
"""Who of these signs in may vouch for a changed key."""


class SettleSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What the program is told. ``pit``: where people and their keys are; None: nobody can sign in.
    ``state``: the folder in which wrong PINs are counted. ``keys``: by site and node, the keys that
    the configuration names.
    """

    archive: str
    site: str
    pit: PitSettings | None = None
    state: str = ""
    keys: dict[str, dict[str, str]] = {}


def settle(
    archive: Archive,
    number: int,
    by: str,
    note: str,
    person: Person | None = None,
    keys: Mapping[str, Mapping[str, str]] = {},
) -> Record:
    """Keep that a finding was looked into. ``person``: who signed in; ``keys``: of the
    configuration. A changed key is settled by a person with one of :data:`ROLES`, or by whoever
    writes the configuration. Raises :class:`ArchiveError` and :class:`RefusedError`.
    """
    found = next((record for at, record in open_findings(archive) if at == number), None)
    if found is None:
        raise ArchiveError(
            f"{number} is no finding that is open; `novamas surveillance findings` lists them"
        )
    if found.type == KEY_CHANGED:
        node, key = key_of(found.key)
        if person is None and keys.get(found.site, {}).get(node) != key:
            raise RefusedError(
                f"{number} is a changed key: sign in with --as PERSON, or name the key in the "
                f'configuration: keys = {{ {node} = "{key}" }}'
            )
        if person is not None and not ROLES.intersection(person.roles):
            raise RefusedError(f"{person.name} has none of the roles {', '.join(sorted(ROLES))}")
    now = utc(time.time())
    body = {"finding": found.key, "what": found.type, "by": by, "note": note}
    if person is not None:
        body["person"] = person.id
    record = msgspec.structs.replace(
        found,
        key=settled_key(found),
        type=SETTLED,
        time=now,
        heard=now,
        body=msgspec.json.encode(body),
        words=(*found.words, *dict.fromkeys((by, body.get("person", by)))),
    )
    archive.keep([record])
    return record


def main(argv: list[str] | None = None) -> int:
    """Print or settle. Returns the exit code."""
    parser = command_line()
    given = parser.parse_args(argv)
    settings = msgspec.json.decode(given.settings, type=SettleSettings)
    try:
        person = None
        if given.action == "settle" and given.person is not None:
            person = _signed_in(settings, given.person, given.pin_file)
        archive = open_archive(settings.archive, read_only=given.action == "findings")
        try:
            if given.action == "settle":
                by = given.by if person is None else person.name
                settle(archive, given.number, by, given.note, person, settings.keys)
                print(f"{given.number} is settled by {by}")  # noqa: T201
            else:
                _print(open_findings(archive))
        finally:
            archive.close()
    except (ArchiveError, NobodyError, RefusedError) as error:
        print(f"novamas surveillance: {error}", file=sys.stderr)  # noqa: T201
        return 1
    return 0


def _signed_in(settings: SettleSettings, person: str, pin_file: Path | None) -> Person:
    if settings.pit is None:
        raise RefusedError("--as: nobody can give a PIN; set `pin_keys` and `pepper_file` in [web]")
    _, found = admitted(settings.pit, settings.site, settings.state, person, pin_file, ENGLISH)
    return found


def _print(found: list[tuple[int, Record]]) -> None:
    for number, record in found:
        told = msgspec.json.decode(record.body)
        print(f"{number}  {record.time}  {record.site}  {record.type}")  # noqa: T201
        print(f"    {told['detail']}")  # noqa: T201
    if not found:
        print("nothing is open")  # noqa: T201


def command_line() -> argparse.ArgumentParser:
    """What it takes on the command line."""
    parser = CommandLine(prog="novamas surveillance", description=__doc__)
    actions = parser.add_subparsers(dest="action", required=True)
    listed = actions.add_parser("findings", help="list what is open")
    settled = actions.add_parser("settle", help="say that a finding was looked into")
    settled.add_argument(
        "--finding", dest="number", type=int, required=True, metavar="N", help="as listed"
    )
    who = settled.add_mutually_exclusive_group(required=True)
    who.add_argument("--by", metavar="NAME", help="who looked into it")
    who.add_argument(
        "--as",
        dest="person",
        metavar="PERSON",
        help="the same, by PIN: id or badge; a changed key needs it",
    )
    settled.add_argument(
        "--pin-file", type=Path, metavar="FILE", help="the PIN, for scripts; else it is asked for"
    )
    settled.add_argument("--note", default="", metavar="TEXT", help="what came of it")
    for each in (listed, settled):
        each.add_argument("--settings", required=True, help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    end_process(main())
