"""``novamas people``: manages who may act, in a file signed by the site, and prints each role's
rights.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from common import clock
from common.new_file import replace_file
from controller.cli import CommandLineError
from controller.cli.configured import DEFAULT_CONFIG, configuration_at

if TYPE_CHECKING:
    from nacl.signing import SigningKey

    from common.people.register import People

StructT = TypeVar("StructT", bound=msgspec.Struct)
MAX_FILE_BYTES = 5_000_000
"""Maximum bytes to read of any of these files."""
MAX_PATH_CHARS = 256
WHERE_FILES_LIE = "docs/inspector/security.md#which-file-lies-on-which-machine"
PUBLIC_KEY_BYTES = 32
"""Bytes of a public key."""

ACTIONS = {
    "key": "make a secret key, and print its public part",
    "pin": "let a person sign in at the consoles with a PIN: seals the key FILE",
    "add": "enrol a person; creates the file, with --site",
    "revoke": "revoke a person, or with --kid one key",
    "rotate": "give a person a new key; the old keys expire",
    "list": "print who is enrolled",
    "sign": "sign the file again after manual changes",
    "may": "print the commands of a table and the roles that may give them",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """ACTION [FILE] and its options."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = "actions:\n" + "\n".join(f"  {name:8}{what}" for name, what in ACTIONS.items())
    parser.add_argument("action", choices=tuple(ACTIONS), metavar="ACTION", help="see below")
    parser.add_argument(
        "file",
        nargs="?",
        type=Path,
        metavar="FILE",
        help="the people file; for key and pin, the key's file",
    )
    parser.add_argument("--site-key", type=Path, metavar="FILE", help="the site's secret key")
    parser.add_argument(
        "--passphrase-file",
        type=Path,
        metavar="FILE",
        help="the passphrase of the secret key; without it, you are prompted",
    )
    parser.add_argument("--signer", metavar="KEY", help="for list: the site's public key")
    parser.add_argument("--site", metavar="SITE", help="for the first add: the site's id")
    parser.add_argument("--id", metavar="ID", help="the person's id: a-z, 0-9, hyphens")
    parser.add_argument("--name", metavar="NAME", help="the person's name, as in events")
    parser.add_argument("--role", action="append", metavar="ROLE", help="may be repeated")
    parser.add_argument(
        "--table", action="append", metavar="TABLE", help="a table's id, or * for all; repeatable"
    )
    parser.add_argument(
        "--public",
        metavar="KEY",
        help="the public part of the person's key: itself, a file with the output of `people key`, "
        "or - to read that from standard input",
    )
    parser.add_argument("--kid", metavar="KID", help="the id of a key, as list shows it")
    parser.add_argument("--from", dest="since", metavar="TIME", help="valid from")
    parser.add_argument("--until", metavar="TIME", help="valid until")
    parser.add_argument(
        "--config",
        type=Path,
        default=DEFAULT_CONFIG,
        metavar="CONFIG",
        help="for pin: the configuration with [people] and [web] (default: novamas.toml)",
    )
    parser.add_argument("--badge", default="", help="for pin: the number on the person's badge")
    parser.add_argument(
        "--pin-file",
        type=Path,
        metavar="FILE",
        help="for pin: file with the PIN; without it, you are prompted",
    )
    parser.add_argument("--game", metavar="G", help="for may: the game; `novamas games` lists them")
    parser.add_argument("--decree", metavar="D", help="for may: the decree")
    parser.add_argument("--json", action="store_true", help="print JSON lines, also on a terminal")


def run(arguments: argparse.Namespace) -> int:
    """Run the action."""
    from common.people.private_key import PrivateKeyError
    from common.people.register import PeopleError

    try:
        return HANDLERS[arguments.action](arguments)
    except PrivateKeyError as error:
        raise CommandLineError(str(error)) from None
    except PeopleError as error:
        where = f"{arguments.file}: " if arguments.file is not None else ""
        raise CommandLineError(f"{where}{error}") from None


def _key(arguments: argparse.Namespace) -> int:
    from common.people.private_key import make_private_key
    from common.people.register import thumbprint, to_base64url

    path = _required(arguments, "file")
    key = make_private_key(path, passphrase(arguments.passphrase_file, new=True))
    public = to_base64url(key.verify_key.encode())
    print(msgspec.json.encode({"public": public, "kid": thumbprint(public)}).decode())
    _note(
        f"{path} is a secret key: it stays on this machine. Only its public part, printed here, "
        "goes to the site"
    )
    return 0


def _note(text: str) -> None:
    """Say on which machine a file may lie, at the moment of writing."""
    print(f"novamas: {text} ({WHERE_FILES_LIE})", file=sys.stderr)


def _pin(arguments: argparse.Namespace) -> int:
    from common.people.pin_key import (
        PinKeyError,
        check_pin,
        make_pepper,
        read_pepper,
        read_pin_keys,
        seal_key,
        write_pin_key,
    )
    from common.people.private_key import open_private_key
    from common.people.register import read_unsigned, thumbprint, to_base64url
    from controller.cli.web import pepper_path

    path = _required(arguments, "file")
    configuration = configuration_at(arguments.config)
    web, site = configuration.web, configuration.people
    if web.pin_keys is None or site is None or site.file is None:
        raise CommandLineError(
            f"{arguments.config}: set `pin_keys` and `pepper_file` in [web], and `file` in [people]"
        )
    folder, pepper = Path(web.pin_keys), pepper_path(web)
    people = read_unsigned(_bytes(Path(site.file)))  # verified by load
    key = open_private_key(path, passphrase(arguments.passphrase_file))
    kid = thumbprint(to_base64url(key.verify_key.encode()))
    if kid not in people.owners:
        raise CommandLineError(f"{path}: no person is enrolled with this key ({kid})")
    person = people.owners[kid][0]
    pin = _secret("PIN: ", arguments.pin_file, new=True).decode("ascii", "replace")
    badge = arguments.badge.strip()
    try:
        check_pin(pin)
        has_keys = folder.is_dir() and bool(read_pin_keys(folder))
        secret = (
            make_pepper(pepper) if not has_keys and not pepper.exists() else read_pepper(pepper)
        )
        for other in read_pin_keys(folder) if has_keys else ():
            same_badge = badge and other.badge.strip().casefold() == badge.casefold()
            if same_badge and other.person != person.id:
                raise CommandLineError(f"--badge: {other.person} has the badge {other.badge}")
        key_file = write_pin_key(folder, seal_key(key, person.id, badge, pin, secret))
    except PinKeyError as error:
        raise CommandLineError(str(error)) from None
    print(msgspec.json.encode({"person": person.id, "file": str(key_file)}).decode())
    return 0


def _roles(arguments: argparse.Namespace, status: int) -> list[str]:
    """Return the roles on the command line. Exits with ``status`` if one is unknown."""
    from common.people.roles import ENROLLABLE_ROLES
    from common.suggestions import unknown_word

    for role in arguments.role or ():
        if role not in ENROLLABLE_ROLES:
            raise CommandLineError(unknown_word("role", role, ENROLLABLE_ROLES), status)
    return arguments.role or []


def _add(arguments: argparse.Namespace) -> int:
    from common.contract.times import format_utc
    from common.people.register import PeopleError, PeopleHeader, Person, checked_people
    from controller.people.enrolment import add_person

    path, now = _required(arguments, "file"), clock.wall()
    _required(arguments, "id", "name", "role", "table", "public")
    roles = _roles(arguments, status=1)
    key = _site_key(arguments)
    if path.exists():
        people = _read(path, key)
    else:
        _required(arguments, "site")
        people = checked_people(
            PeopleHeader(site=arguments.site, number=1, time=format_utc(now)), ()
        )
    person = _convert(
        Person,
        {
            "id": arguments.id,
            "name": arguments.name,
            "roles": roles,
            "tables": arguments.table,
            "keys": [{"x": _public_key(arguments.public)}],
            "from": arguments.since,
            "until": arguments.until,
        },
    )
    if person.id in {enrolled_person.id for enrolled_person in people.persons}:
        raise PeopleError(f"{person.id} is enrolled already; revoke or rotate, or use another id")
    _write(path, add_person(people, person, now), key)
    _note(
        f"{path} goes to the machine of the daemon and of the console; the site's key "
        f"{arguments.site_key} never does"
    )
    return 0


def _public_key(text: str) -> str:
    """Return the public key that ``--public`` gives: itself, or in the output of ``people key``."""
    if text == "-":
        given = sys.stdin.read(MAX_FILE_BYTES)
    elif len(text) < MAX_PATH_CHARS and Path(text).is_file():
        given = _bytes(Path(text)).decode("utf-8", "replace")
    else:
        given = text
    try:
        return msgspec.json.decode(given, type=_PrintedKey).public
    except msgspec.DecodeError:
        return given.strip()


class _PrintedKey(msgspec.Struct):
    """What ``people key`` prints."""

    public: str


def _revoke(arguments: argparse.Namespace) -> int:
    from controller.people.enrolment import revoke

    path = _required(arguments, "file")
    _required(arguments, "id")
    key = _site_key(arguments)
    changed = revoke(_read(path, key), arguments.id, arguments.kid, clock.wall())
    _write(path, changed, key)
    return 0


def _rotate(arguments: argparse.Namespace) -> int:
    from common.contract.times import parse_utc
    from common.people.register import Key
    from controller.people.enrolment import rotate_key

    path, now = _required(arguments, "file"), clock.wall()
    _required(arguments, "id", "public")
    try:
        until = now if arguments.until is None else parse_utc(arguments.until)
    except ValueError as error:
        raise CommandLineError(f"--until: {error}", 2) from None
    key = _site_key(arguments)
    new = _convert(Key, {"x": _public_key(arguments.public), "from": arguments.since})
    _write(path, rotate_key(_read(path, key), arguments.id, new, until, now), key)
    return 0


def _list(arguments: argparse.Namespace) -> int:
    from common.people.register import (
        alike,
        describe_alike,
        from_base64url,
        read_people,
        read_unsigned,
    )

    path = _required(arguments, "file")
    data = _bytes(path)
    if arguments.signer is None:
        people = read_unsigned(data)
        print(
            "novamas: the signature was not verified; give the site's key: --signer KEY",
            file=sys.stderr,
        )
    else:
        try:
            signer = from_base64url(arguments.signer)
            if len(signer) != PUBLIC_KEY_BYTES:
                raise ValueError
        except ValueError:
            raise CommandLineError("--signer: not a key as `people key` prints it", 2) from None
        people = read_people(data, read_unsigned(data).head.site, signer)
    for pair in alike(people.persons):
        print(f"novamas: {path}: {describe_alike(*pair)}. Neither of them may act", file=sys.stderr)
    if arguments.json or not sys.stdout.isatty():
        for person in people.persons:
            keys = [{"kid": key.id, **msgspec.to_builtins(key)} for key in person.keys]
            print(msgspec.json.encode({**msgspec.to_builtins(person), "keys": keys}).decode())
        return 0
    from rich.console import Console
    from rich.table import Table

    table = Table("id", "name", "roles", "tables", "keys", "revoked")
    for person in people.persons:
        table.add_row(
            person.id,
            person.name,
            ", ".join(person.roles),
            ", ".join((*person.tables, *(f"pit {pit}" for pit in person.pits))),
            "\n".join(f"{key.id}{' revoked' if key.revoked else ''}" for key in person.keys),
            person.revoked or "",
        )
    console = Console(highlight=False)
    console.print(table)
    console.print(f"{people.head.site}, number {people.head.number}, signed {people.head.time}")
    return 0


def _sign(arguments: argparse.Namespace) -> int:
    from common.people.register import read_unsigned
    from controller.people.enrolment import renumber

    path = _required(arguments, "file")
    key = _site_key(arguments)
    _write(path, renumber(read_unsigned(_bytes(path)), clock.wall()), key)
    return 0


def _may(arguments: argparse.Namespace) -> int:
    from controller.people.authority import command_rights

    _required(arguments, "game", "decree")
    roles = _roles(arguments, status=2)
    try:
        matching = [
            right
            for right in command_rights(arguments.game, arguments.decree).values()
            if not roles or set(roles) & set(right.roles)
        ]
    except ValueError as error:
        raise CommandLineError(str(error)) from None
    if arguments.json or not sys.stdout.isatty():
        for right in matching:
            print(msgspec.json.encode(right).decode())
        return 0
    from rich.console import Console
    from rich.table import Table

    table = Table("command", "roles", "by")
    for right in matching:
        table.add_row(right.command, ", ".join(right.roles), right.law or "default, not by decree")
    Console().print(table)
    return 0


HANDLERS: dict[str, Callable[[argparse.Namespace], int]] = {
    "key": _key,
    "pin": _pin,
    "add": _add,
    "revoke": _revoke,
    "rotate": _rotate,
    "list": _list,
    "sign": _sign,
    "may": _may,
}


def passphrase(path: Path | None, *, new: bool = False) -> bytes:
    """Return the passphrase from a file, or prompt for it."""
    return _secret("passphrase: ", path, new=new)


def _secret(prompt: str, path: Path | None, *, new: bool) -> bytes:
    from getpass import getpass

    if path is not None:
        secret = _bytes(path).rstrip(b"\r\n")
        if path.stat().st_mode & 0o077:
            raise CommandLineError(f"{path} can be read by others; chmod 600 {path}")
        return secret
    if not sys.stdin.isatty():
        raise CommandLineError(
            "no terminal for a prompt; use --passphrase-file FILE, and for a PIN --pin-file FILE",
            2,
        )
    typed = getpass(prompt)
    if new and getpass("again: ") != typed:
        raise CommandLineError("the two entries differ; nothing was written")
    return typed.encode()


def _required(arguments: argparse.Namespace, *names: str) -> Path:
    """Return the file, after checking that it and these options were given."""
    for name in names:
        if not getattr(arguments, name):
            option = "FILE" if name == "file" else f"--{name.replace('_', '-')}"
            raise CommandLineError(f"{option} is missing", 2)
    path: Path = arguments.file
    return path


def _site_key(arguments: argparse.Namespace) -> SigningKey:
    from common.people.private_key import open_private_key

    _required(arguments, "site_key")
    return open_private_key(arguments.site_key, passphrase(arguments.passphrase_file))


def _read(path: Path, key: SigningKey) -> People:
    """Read the people in a file that was signed with this key."""
    from common.people.register import read_people, read_unsigned

    data = _bytes(path)
    return read_people(data, read_unsigned(data).head.site, key.verify_key.encode())


def _write(path: Path, people: People, key: SigningKey) -> None:
    """Replace the file atomically."""
    from common.people.register import write_people

    try:
        replace_file(path, write_people(people, key))
    except OSError as error:
        raise CommandLineError(f"{path}: {error.strerror}") from None
    print(f"{path}: number {people.head.number}, {len(people.persons)} enrolled")


def _bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_FILE_BYTES)
    except OSError as error:
        raise CommandLineError(f"{path}: {error.strerror}") from None


def _convert(kind: type[StructT], fields: dict[str, Any]) -> StructT:
    """Convert command line values to a line of the file."""
    from common.people.register import PeopleError
    from common.plain_errors import describe

    try:
        return msgspec.convert(
            {name: value for name, value in fields.items() if value is not None}, kind
        )
    except msgspec.ValidationError as error:
        raise PeopleError(describe(error, kind)) from None
