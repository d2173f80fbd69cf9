"""``novamas surveillance findings`` and ``settle``: list the recorder's open findings, and record
that a person investigated one. A finding is never removed; the settlement is a separate record.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec

from common import clock
from common.command_line import CommandLine, end_process
from common.contract.messages.messages import ENGLISH
from common.contract.times import format_utc
from common.people.register import Person
from subscribers.console.admission import SignInUnavailableError
from subscribers.console.settings import PitSettings
from subscribers.surveillance.admitted import AccessRefusedError, admit_person
from subscribers.surveillance.archive import ArchiveRecord, RecordArchive
from subscribers.surveillance.errors import ArchiveError
from subscribers.surveillance.findings import (
    KEY_CHANGED,
    SETTLED,
    changed_key,
    open_findings,
    settled_key,
)
from subscribers.surveillance.open_archive import open_archive

ROLES = frozenset({"surveillance", "director"})
"""Roles that may vouch for a changed key by signing in."""


class SettleSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of the program. ``pit``: people and their keys; None: signing in is not possible.
    ``state``: the folder that stores the count of wrong PINs. ``keys``: the keys of the
    configuration, by site and node.
    """

    archive: str
    site: str
    pit: PitSettings | None = None
    state: str = ""
    keys: dict[str, dict[str, str]] = {}


def settle(
    archive: RecordArchive,
    number: int,
    by: str,
    note: str,
    person: Person | None = None,
    keys: Mapping[str, Mapping[str, str]] = {},
) -> ArchiveRecord:
    """Record that a finding was investigated. ``person``: who signed in; ``keys``: those of the
    configuration. A changed key can be settled only by a person with one of :data:`ROLES`, or if
    the configuration names the key. Raise :class:`ArchiveError` or :class:`AccessRefusedError`.
    """
    finding = next(
        (record for found_number, record in open_findings(archive) if found_number == number), None
    )
    if finding is None:
        raise ArchiveError(
            f"{number} is not an open finding; `novamas surveillance findings` lists them"
        )
    if finding.type == KEY_CHANGED:
        node, key = changed_key(finding.key)
        if person is None and keys.get(finding.site, {}).get(node) != key:
            raise AccessRefusedError(
                f"{number} is a changed key: sign in with --as PERSON, or name the key in the "
                f'configuration: keys = {{ {node} = "{key}" }}'
            )
        if person is not None and not ROLES.intersection(person.roles):
            raise AccessRefusedError(
                f"{person.name} has none of the roles {', '.join(sorted(ROLES))}"
            )
    now = format_utc(clock.wall())
    body = {"finding": finding.key, "what": finding.type, "by": by, "note": note}
    if person is not None:
        body["person"] = person.id
    record = msgspec.structs.replace(
        finding,
        key=settled_key(finding),
        type=SETTLED,
        time=now,
        received=now,
        body=msgspec.json.encode(body),
        words=(*finding.words, *dict.fromkeys((by, body.get("person", by)))),
    )
    archive.store([record])
    return record


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return the exit status."""
    parser = command_line()
    options = parser.parse_args(arguments)
    settings = msgspec.json.decode(options.settings, type=SettleSettings)
    try:
        person = None
        if options.action == "settle" and options.person is not None:
            person = _signed_in(settings, options.person, options.pin_file)
        archive = open_archive(settings.archive, read_only=options.action == "findings")
        try:
            if options.action == "settle":
                by = options.by if person is None else person.name
                settle(archive, options.number, by, options.note, person, settings.keys)
                print(f"{options.number} is settled by {by}")  # noqa: T201
            else:
                _print(open_findings(archive))
        finally:
            archive.close()
    except (ArchiveError, SignInUnavailableError, AccessRefusedError) as error:
        print(f"novamas surveillance: {error}", file=sys.stderr)  # noqa: T201
        return 1
    return 0


def _signed_in(settings: SettleSettings, person: str, pin_file: Path | None) -> Person:
    if settings.pit is None:
        raise AccessRefusedError(
            "--as: PINs are not configured; set `pin_keys` and `pepper_file` in [web]"
        )
    _, admitted_person = admit_person(
        settings.pit, settings.site, settings.state, person, pin_file, ENGLISH
    )
    return admitted_person


def _print(findings: list[tuple[int, ArchiveRecord]]) -> None:
    for number, record in findings:
        body = msgspec.json.decode(record.body)
        print(f"{number}  {record.time}  {record.site}  {record.type}")  # noqa: T201
        print(f"    {body['detail']}")  # noqa: T201
    if not findings:
        print("no open findings")  # noqa: T201


def command_line() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = CommandLine(prog="novamas surveillance", description=__doc__)
    actions = parser.add_subparsers(dest="action", required=True)
    listed = actions.add_parser("findings", help="list open findings")
    settled = actions.add_parser("settle", help="record that a finding was investigated")
    settled.add_argument(
        "--finding",
        dest="number",
        type=int,
        required=True,
        metavar="N",
        help="its number in the list",
    )
    signer = settled.add_mutually_exclusive_group(required=True)
    signer.add_argument("--by", metavar="NAME", help="who investigated it")
    signer.add_argument(
        "--as",
        dest="person",
        metavar="PERSON",
        help="id or badge of who investigated it, signed in by PIN; required for a changed key",
    )
    settled.add_argument(
        "--pin-file",
        type=Path,
        metavar="FILE",
        help="file with the PIN, for scripts; default: ask for it",
    )
    settled.add_argument("--note", default="", metavar="TEXT", help="the result")
    for action in (listed, settled):
        action.add_argument("--settings", required=True, help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    end_process(main())
