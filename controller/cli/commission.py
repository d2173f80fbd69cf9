"""``novamas commission``: guides a person through the acceptance of a wheel or a shoe, and writes a
signed protocol.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from common.contract.messages.messages import LANGUAGES
from common.new_file import replace_file
from controller.cli import CommandLineError
from controller.cli.acceptance import (
    PROTOCOL,
    Acceptance,
    LeftError,
    paper_language,
    print_verdict,
)
from controller.cli.configured import config_argument, configuration_at
from controller.cli.signer import owner_of, signer_arguments

if TYPE_CHECKING:
    from controller.commissioning.protocol import Protocol
    from controller.configuration.settings import Configuration, DeviceConfig, TableConfig


def arguments(parser: argparse.ArgumentParser) -> None:
    """TABLE [CONFIG] ... or --verify FILE [CONFIG]."""
    parser.epilog = (
        "The daemon must not have the device open. Stop at any time with Ctrl-C; the same command "
        "continues. Exit status: 0 accepted, or the file is as it was signed; 1 not accepted, not "
        "as signed, or an error; 3 incomplete."
    )
    parser.add_argument("table", nargs="?", metavar="TABLE", help="the table's id")
    config_argument(parser)
    parser.add_argument("--device", help="the device's id, if the table has several")
    signer_arguments(parser)
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FOLDER",
        help="where notes, recordings and protocol go (default: commission-TABLE-DEVICE)",
    )
    parser.add_argument(
        "--wait",
        type=float,
        metavar="SECONDS",
        help="maximum time to wait for the device (default: up to 120 s)",
    )
    parser.add_argument(
        "--language",
        choices=LANGUAGES,
        help="language of the paper (default: the table's, or that of its decree)",
    )
    parser.add_argument("--verify", type=Path, metavar="FILE", help="check a protocol, and end")
    parser.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help="with --verify: print the protocol, as PDF or, if the name ends in .txt, as text",
    )


def run(arguments: argparse.Namespace) -> int:
    """Run an acceptance, or verify a protocol."""
    if arguments.verify is not None:
        return _verify(arguments)
    if arguments.table is None:
        raise CommandLineError("name the table: novamas commission TABLE [CONFIG]", status=2)
    if arguments.key is None:
        raise CommandLineError(
            "the protocol is signed by the person who leads the acceptance: give --key FILE "
            "(`novamas people key` makes one)",
            status=2,
        )
    configuration = configuration_at(arguments.config)
    table, device = _choose(configuration, arguments.table, arguments.device)
    folder = arguments.out or Path(f"commission-{table.id}-{device.id}")
    if (folder / PROTOCOL).exists():
        raise CommandLineError(
            f"{folder / PROTOCOL} already exists: this acceptance is closed; start another with "
            "--out FOLDER"
        )
    os.umask(0o077)
    acceptance = Acceptance(arguments, configuration, table, device, folder)
    try:
        acceptance.lead()
    except (LeftError, KeyboardInterrupt):
        print(f"\ninterrupted; the notes are in {folder}: run the same command to continue")
        return 130
    finally:
        acceptance.close()
    return acceptance.finish()


def _verify(arguments: argparse.Namespace) -> int:
    """Verify a protocol: signature, checks derived from notes, and recordings."""
    from controller.commissioning.judgement import judge, verdict
    from controller.commissioning.protocol import ProtocolError, read_signed

    path: Path = arguments.verify
    try:
        data = path.read_bytes()
        signed, protocol = read_signed(data)
    except OSError as error:
        raise CommandLineError(f"{path}: {error.strerror}") from None
    except ProtocolError as error:
        raise CommandLineError(f"{path} {error}") from None
    errors = []
    checks = judge(protocol.expected, protocol.notes, protocol.configured, protocol.recordings)
    if checks != protocol.checks or verdict(checks) != protocol.verdict:
        errors.append("its checks do not follow from its notes")
    for recording in protocol.recordings:
        file = path.parent / recording.file
        if not file.exists():
            print(f"{file}: missing, so not compared")
        elif sha256(file.read_bytes()).hexdigest() != recording.sha256:
            errors.append(f"{file} is not the recording of this acceptance")
    print_verdict(protocol)
    print(f"led by {protocol.by}, signed with the key {signed.key}")
    config = Path(arguments.table) if arguments.table is not None else arguments.config
    if config.exists():
        owner = owner_of(configuration_at(config), signed.key)
        if owner is None:
            print(f"{config}: the people file does not have this key: compare it with the person")
        else:
            print(f"{config}: the key is of {owner[1]} ({owner[0]})")
    else:
        print("add a configuration to the command to see whose key this is")
    for problem in errors:
        print(f"{path}: {problem}", file=sys.stderr)
    if errors:
        return 1
    print(f"{path}: as it was signed")
    if arguments.output is not None:
        house = configuration_at(config).site.letterhead if config.exists() else ()
        digest = sha256(data).hexdigest()
        language = arguments.language or paper_language((), protocol.decree)
        _print(arguments.output, protocol, signed.key, digest, language, house)
    return 0


def _print(
    output: Path,
    protocol: Protocol,
    key: str,
    digest: str,
    language: str,
    house: Sequence[str],
) -> None:
    """Write a protocol in the form that the file's name ends in."""
    from controller.commissioning.paper import as_pdf, as_text

    if output.suffix.lower() == ".txt":
        data = as_text(protocol, key, digest, language, house).encode()
    else:
        data = as_pdf(protocol, key, digest, language, house)
    try:
        replace_file(output, data)
    except OSError as error:
        raise CommandLineError(f"{output}: {error.strerror}") from None
    print(output)


def _choose(
    configuration: Configuration, table: str, device: str | None
) -> tuple[TableConfig, DeviceConfig]:
    from common.suggestions import unknown_word

    table_config = next((section for section in configuration.table if section.id == table), None)
    if table_config is None:
        raise CommandLineError(
            unknown_word("table", table, [section.id for section in configuration.table])
        )
    names = [section.id for section in table_config.device]
    if device is None and len(names) != 1:
        raise CommandLineError(f"table {table} has several devices; choose --device {names}")
    wanted = device or names[0]
    if wanted not in names:
        raise CommandLineError(unknown_word("device", wanted, names))
    return table_config, next(section for section in table_config.device if section.id == wanted)
