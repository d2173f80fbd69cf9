"""``novamas doctor``: looks at what the daemon of a configuration needs of this machine."""

from __future__ import annotations

import argparse
import sys

import msgspec

from controller.cli.configured import config_argument, configuration_at
from controller.cli.progress import in_colours
from controller.doctor import broker, clock, disk, keys, serial_lines, standby, units
from controller.doctor.finding import Finding, Level

LOOKS = (
    *(serial_lines.look, disk.look, clock.look, broker.look, standby.look),
    *(keys.look, units.look),
)
COLOURS: dict[Level, str] = {"ok": "32", "note": "36", "warning": "33", "fault": "31"}


def arguments(parser: argparse.ArgumentParser) -> None:
    """[CONFIG] --json."""
    config_argument(parser)
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object per line, for machines"
    )
    parser.epilog = "exit status: 0 nothing is in the way, 1 something is a fault"


def run(arguments: argparse.Namespace) -> int:
    """Print what was found, as it is found. Returns 1 if there is a fault."""
    configuration = configuration_at(arguments.config)
    faults = 0
    for look in LOOKS:
        for finding in look(configuration):
            faults += finding.level == "fault"
            if arguments.json:
                print(msgspec.json.encode(finding).decode(), flush=True)
            else:
                print(line(finding, colour=in_colours(sys.stdout)), flush=True)
    return 1 if faults else 0


def line(finding: Finding, *, colour: bool) -> str:
    """A finding for a person."""
    level = f"{finding.level:8}"
    if colour:
        level = f"\033[{COLOURS[finding.level]}m{level}\033[0m"
    advice = f"\n          {finding.do}" if finding.do else ""
    return f"{level}  {finding.about}: {finding.what}{advice}"
