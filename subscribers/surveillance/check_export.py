"""``novamas surveillance check-export``: shows who signed an export of surveillance, and that
its files are those that were exported.
"""

from __future__ import annotations

import argparse
import sys
import zipfile
import zlib
from hashlib import sha256
from pathlib import Path

import msgspec

from common.command_line import CommandLine, end_process
from common.contract.times import parse_utc
from common.people.jws import is_signed, unverified
from common.people.register import People, PeopleError, Person, from_base64url, read_people
from common.plain_errors import describe
from subscribers.surveillance.export_statement import FORMAT, Statement
from subscribers.surveillance.signed_export import CSV_NAME, PDF_NAME, SIGNED_NAME, STATEMENT_NAME

MAX_FILE_BYTES = 1 << 28
"""Maximum size of a file in an export, unpacked."""


UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)
"""What :mod:`zipfile` raises for a damaged file, and for one that is compressed or encrypted as it
does not know.
"""


class CheckSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of the program. ``people_file`` and ``people_key``: the people of the site and the
    public key that signs them.
    """

    site: str
    people_file: str
    people_key: str


class ExportRefusedError(ValueError):
    """The export is not what a person of the site has signed."""


def check(path: Path, people: People) -> tuple[Statement, Person]:
    """Return the statement of an export and the person who signed it. Raise
    :class:`ExportRefusedError`, ``OSError``.
    """
    files = _unpacked(path)
    token = files[SIGNED_NAME]
    try:
        kid, payload = unverified(token)
        statement = msgspec.json.decode(payload, type=Statement)
        at = parse_utc(statement.time)
    except (ValueError, RecursionError) as error:
        raise ExportRefusedError(
            f"{SIGNED_NAME} is no statement of an export: {describe(error, Statement)}"
        ) from None
    owner = people.owners.get(kid)
    if owner is None:
        raise ExportRefusedError(f"the people file has no key {kid}, with which it is signed")
    person, key = owner
    if not is_signed(token, key.x):
        raise ExportRefusedError(f"{SIGNED_NAME} is not signed with the key of {person.id}")
    if statement.format != FORMAT or statement.site != people.head.site:
        raise ExportRefusedError(f"{SIGNED_NAME} is of {statement.format!r}, {statement.site}")
    if statement.person != person.id:
        raise ExportRefusedError(
            f"{SIGNED_NAME} names {statement.person}, and {person.id} signed it"
        )
    if person.revoked is not None or key.revoked is not None:  # its times prove nothing now
        raise ExportRefusedError(f"the key of {person.id} is revoked: anyone may have it")
    if not (person.in_term(at) and key.in_term(at)):
        raise ExportRefusedError(f"{person.id} could not sign with this key at {statement.time}")
    if files[STATEMENT_NAME] != payload:
        raise ExportRefusedError(f"{STATEMENT_NAME} is not the signed one")
    for name in (CSV_NAME, PDF_NAME):
        if statement.files.get(name) != sha256(files[name]).hexdigest():
            raise ExportRefusedError(f"{name} is not the exported one: its SHA-256 differs")
    return statement, person


def _unpacked(path: Path) -> dict[str, bytes]:
    names = {CSV_NAME, PDF_NAME, STATEMENT_NAME, SIGNED_NAME}
    try:
        with zipfile.ZipFile(path) as archive:
            found = archive.infolist()
            if sorted(file.filename for file in found) != sorted(names):
                raise ExportRefusedError(f"{path}: not the four files of an export")
            if any(file.file_size > MAX_FILE_BYTES for file in found):
                raise ExportRefusedError(f"{path}: a file is larger than an export can be")
            return {file.filename: archive.read(file) for file in found}
    except UNREADABLE as error:
        raise ExportRefusedError(f"{path}: not a ZIP file that can be read: {error}") from None


def main(argv: list[str] | None = None) -> int:
    """Print who signed the export. Return 0, or 1 if it is not what was exported."""
    options = command_line().parse_args(argv)
    settings = msgspec.json.decode(options.settings, type=CheckSettings)
    try:
        data = Path(settings.people_file).read_bytes()
        people = read_people(data, settings.site, from_base64url(settings.people_key))
        statement, person = check(options.file, people)
    except (ExportRefusedError, PeopleError, OSError) as error:
        print(f"novamas surveillance: {error}", file=sys.stderr)  # noqa: T201
        return 1
    query = "; ".join(
        f"{name} = {value if isinstance(value, str) else ', '.join(value)}"
        for name, value in statement.query.items()
    )
    print(f"{options.file}: as exported by {person.name} ({person.id}) at {statement.time}")  # noqa: T201
    print(f"{statement.records} records of {statement.site}: {query}")  # noqa: T201
    return 0


def command_line() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = CommandLine(prog="novamas surveillance", description=__doc__)
    actions = parser.add_subparsers(dest="action", required=True)
    checked = actions.add_parser("check-export", help="show who signed an export")
    checked.add_argument(
        "--file", type=Path, required=True, metavar="FILE", help="the ZIP file that the page gave"
    )
    checked.add_argument("--settings", required=True, help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    end_process(main())
