"""The person who signs a paper at the command line."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from controller.cli import CommandLineError
from controller.cli.people import passphrase

if TYPE_CHECKING:
    from nacl.signing import SigningKey

    from controller.configuration.settings import Configuration


class PaperSigner(NamedTuple):
    """``person``: the id in the people file, if the site has one."""

    key: SigningKey
    person: str | None
    name: str


def signer_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that name the signer."""
    parser.add_argument("--by", help="your name (default: as enrolled, if the site has people)")
    parser.add_argument(
        "--key", type=Path, metavar="FILE", help="your secret key, as `novamas people key` makes it"
    )
    parser.add_argument(
        "--passphrase-file",
        type=Path,
        metavar="FILE",
        help="the passphrase of the key; without it, you are prompted",
    )


def open_signer(arguments: argparse.Namespace, configuration: Configuration) -> PaperSigner:
    """Return the signer that the arguments name. Raises :class:`CommandLineError`."""
    from common.people.private_key import PrivateKeyError, open_private_key
    from common.people.register import to_base64url

    try:
        key = open_private_key(arguments.key, passphrase(arguments.passphrase_file))
    except PrivateKeyError as error:
        raise CommandLineError(str(error)) from None
    people = configuration.people
    if people is not None and people.file is not None:
        owner = owner_of(configuration, to_base64url(key.verify_key.encode()))
        if owner is None:
            raise CommandLineError(f"{arguments.config}: no person has this key; enrol it first")
        return PaperSigner(key, *owner)
    if not arguments.by:
        raise CommandLineError("enter your name: --by NAME", status=2)
    return PaperSigner(key, None, arguments.by)


def owner_of(configuration: Configuration, key: str) -> tuple[str, str] | None:
    """Return id and name of the person with this key."""
    from common.people.register import from_base64url, read_people, thumbprint

    people = configuration.people
    if people is None or people.file is None or people.key is None:
        return None
    data, signer = Path(people.file).read_bytes(), from_base64url(people.key)
    register = read_people(data, configuration.site.id, signer)
    owner = register.owners.get(thumbprint(key))
    return None if owner is None else (owner[0].id, owner[0].name)
