"""``novamas support``: packs what support needs, without secrets, cards and names."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from common import clock
from controller.cli import CommandLineError
from controller.cli.configured import config_argument


def arguments(parser: argparse.ArgumentParser) -> None:
    """[CONFIG] --output FILE --log FILE."""
    config_argument(parser)
    parser.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help="file to write; must not exist yet (default: novamas-support-TIME.tar.gz)",
    )
    parser.add_argument(
        "--log",
        type=Path,
        metavar="FILE",
        help="a file with the daemon's log (default: from the journal of systemd)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the bundle and list its files. An invalid configuration is packed too."""
    from controller.cli.doctor import CHECKS
    from controller.doctor.bundle import bundle, pack

    name = f"novamas-support-{clock.now():%Y%m%dT%H%M%SZ}"
    target = arguments.output or Path(f"{name}.tar.gz")
    if target.exists():
        raise CommandLineError(f"{target} already exists; not overwritten")
    if arguments.log is not None and not arguments.log.is_file():
        raise CommandLineError(f"{arguments.log}: no such file; --log names the daemon's log")
    files = bundle(arguments.config, arguments.log, CHECKS)
    pack(files, target, re.sub(r"\.tar\.gz\Z|\.tgz\Z", "", target.name))
    print(f"{target}: review it before you send it")
    for name_in_bundle, text in files.items():
        print(f"  {name_in_bundle:<20}{len(text.encode()):>10} bytes")
    if files["mistakes.txt"]:
        print(
            f"novamas: {arguments.config} has errors; the machine was not checked",
            file=sys.stderr,
        )
    return 0
