"""``novamas backup``: backs up the daemon's journal, keys and configuration while it runs."""

from __future__ import annotations

import argparse
from pathlib import Path

from controller.cli import CommandLineError
from controller.cli.configured import config_argument, configuration_at
from controller.cli.progress import Percent


def arguments(parser: argparse.ArgumentParser) -> None:
    """[CONFIG] DIR (--passphrase-file FILE | --without-keys) [--json]."""
    config_argument(parser)
    parser.add_argument(
        "folder", type=Path, metavar="DIR", help="parent folder of the backup's own folder"
    )
    secret = parser.add_mutually_exclusive_group(required=True)
    secret.add_argument(
        "--passphrase-file",
        type=Path,
        metavar="FILE",
        help="a file with the passphrase that seals the keys; keep it elsewhere",
    )
    secret.add_argument(
        "--without-keys", action="store_true", help="leave the keys and passwords out"
    )
    parser.add_argument("--json", action="store_true", help="the manifest as one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Print what was backed up, and up to which point in time. Return 3 if the copy could not be
    verified as a whole.
    """
    import msgspec

    from controller.backup.errors import BackupError
    from controller.backup.sealed_keys import read_passphrase
    from controller.backup.take import back_up

    configuration = configuration_at(arguments.config)
    try:
        passphrase = (
            None
            if arguments.passphrase_file is None
            else read_passphrase(arguments.passphrase_file)
        )
        with Percent() as percent:
            folder, manifest, verdict = back_up(
                arguments.config, configuration, arguments.folder, passphrase, percent.show_part
            )
    except BackupError as error:
        raise CommandLineError(str(error)) from None
    if arguments.json:
        summary = {"folder": str(folder), **msgspec.to_builtins(manifest)}
        print(msgspec.json.encode(summary).decode())
        return verdict.outcome.status
    size = sum(item.size for item in manifest.items)
    print(f"Backup      {folder}: {len(manifest.items)} files, {size} bytes")
    print(f"Journal     {manifest.journal}")
    print(f"Up to       entry {manifest.position} of {manifest.time}, hash {manifest.hash}")
    print(f"Keys        {manifest.sealed} secret files sealed")
    for line in manifest.left_out:
        print(f"Left out    {line}")
    words = {"holds": "it holds", "could_not_be_judged": "it could not be judged as a whole"}
    print(f"Verified    {words[manifest.outcome]}")
    for line in verdict.unread:
        print(f"Note        {line}")
    return verdict.outcome.status
