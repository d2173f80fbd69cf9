"""``novamas restore``: restores a backup, from which the daemon then continues."""

from __future__ import annotations

import argparse
from pathlib import Path

from controller.cli import CommandLineError
from controller.cli.configured import config_argument
from controller.cli.progress import Percent
from controller.cli.verdicts import public_key


def arguments(parser: argparse.ArgumentParser) -> None:
    """[CONFIG] BACKUP [--passphrase-file FILE] [--signer K] [--set-aside]."""
    config_argument(parser, "; restored too if it does not exist")
    parser.add_argument(
        "backup", type=Path, metavar="BACKUP", help="the folder that `novamas backup` wrote"
    )
    parser.add_argument(
        "--passphrase-file",
        type=Path,
        metavar="FILE",
        help="the file with the passphrase that the keys were sealed with",
    )
    parser.add_argument(
        "--signer",
        type=public_key,
        metavar="PUBLICKEY",
        help="the public key that must have signed the backup, from a checkpoint (64 digits)",
    )
    parser.add_argument(
        "--set-aside",
        action="store_true",
        help="rename an existing journal and other files in the way; nothing is removed",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print what was restored, and what the next start will report."""
    from controller.backup.errors import BackupError
    from controller.backup.restore import restore
    from controller.backup.sealed_keys import read_passphrase

    try:
        passphrase = (
            None
            if arguments.passphrase_file is None
            else read_passphrase(arguments.passphrase_file)
        )
        with Percent() as percent:
            done = restore(
                arguments.config,
                arguments.backup,
                passphrase,
                key=arguments.signer,
                set_aside=arguments.set_aside,
                progress=percent.show_part,
            )
    except BackupError as error:
        raise CommandLineError(str(error)) from None
    manifest = done.manifest
    print(f"Restored    {done.journal}, which continues {done.copy.name}")
    print(f"Up to       entry {manifest.position} of {manifest.time}, hash {manifest.hash}")
    if arguments.signer is None:
        print(f"Signature   {_doubt(manifest.key)}")
    for path in done.aside:
        print(f"Set aside   {path}")
    for note in done.notes:
        print(f"Note        {note}")
    print(
        "Next        start the daemon: every table publishes `journal.restored`, is closed, and "
        "opens its next session with a higher number"
    )
    return 0


def _doubt(signer: str | None) -> str:
    """Describe what the signature does not prove if --signer was not given."""
    signed = (
        "THIS BACKUP IS NOT SIGNED"
        if signer is None
        else f"it is that of the key {signer}, AND NOTHING SHOWS THAT THIS KEY IS YOURS"
    )
    return (
        f"{signed}: anyone who can write to its folder could have made it. Compare the entry above "
        "with a checkpoint that you stored, review the configuration and the people file, and next "
        "time name the key with --signer"
    )
