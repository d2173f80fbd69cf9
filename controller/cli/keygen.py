"""``novamas keygen``: generates the key pair of surveillance."""

from __future__ import annotations

import argparse
from pathlib import Path

from common import randomness
from controller.cli import CommandLineError


def arguments(parser: argparse.ArgumentParser) -> None:
    """FILE."""
    parser.add_argument(
        "file",
        type=Path,
        metavar="FILE",
        help="the file to write the private key to; it stays with surveillance",
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the private key, and print what each daemon's configuration needs."""
    from nacl.public import PrivateKey

    from common.confidential.boxes import format_public_key
    from common.confidential.key_file import KeyFileError, write_key_file

    key = PrivateKey(randomness.token_bytes(32))
    try:
        write_key_file(arguments.file, key.encode())
    except KeyFileError as error:
        raise CommandLineError(str(error)) from None
    print(f'[surveillance]\npublic_key = "{format_public_key(key.public_key)}"')
    return 0
