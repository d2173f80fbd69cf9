"""``novamas doctor``: checks what the daemon of a configuration needs on this machine."""

from __future__ import annotations

import argparse
import sys

import msgspec

from common.contract.messages.messages import ENGLISH, LANGUAGES, catalogue, text
from common.contract.remedies import message_in
from common.own_language import add_language
from controller.cli.configured import config_argument, configuration_at
from controller.cli.progress import use_colours
from controller.doctor import (
    broker,
    clock,
    disk,
    extensions,
    keys,
    post_listeners,
    serial_lines,
    standby,
    units,
)
from controller.doctor.finding import Finding, Level

CHECKS = (
    *(
        serial_lines.check,
        post_listeners.check,
        disk.check,
        clock.check,
        broker.check,
        standby.check,
    ),
    *(keys.check, extensions.check, units.check),
)
COLOURS: dict[Level, str] = {"ok": "32", "note": "36", "warning": "33", "fault": "31"}


def arguments(parser: argparse.ArgumentParser) -> None:
    """[CONFIG] --json."""
    config_argument(parser)
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object per line, for machines"
    )
    add_language(parser, LANGUAGES)
    parser.epilog = "exit status: 0 no fault was found, 1 there is a fault"


def run(arguments: argparse.Namespace) -> int:
    """Print each finding at once. Returns 1 if there is a fault."""
    configuration = configuration_at(arguments.config)
    faults = 0
    for check in CHECKS:
        for finding in map(with_explanation, check(configuration)):
            faults += finding.level == "fault"
            if arguments.json:
                print(msgspec.json.encode(finding).decode(), flush=True)
            else:
                print(
                    format_finding(
                        finding, colour=use_colours(sys.stdout), language=arguments.language
                    ),
                    flush=True,
                )
    return 1 if faults else 0


def with_explanation(finding: Finding) -> Finding:
    """Add the catalogue's entry about its message, if it has none and there is one."""
    if finding.level == "ok" or finding.explain:
        return finding
    return msgspec.structs.replace(finding, explain=message_in(f"{finding.what}: {finding.do}"))


def format_finding(finding: Finding, *, colour: bool, language: str = ENGLISH) -> str:
    """Format a finding for a person: its level, and an alert that it is about, in their language;
    the detail in English.
    """
    level = f"{text(f'terminal.level.{finding.level}', language):8}"
    if colour:
        level = f"\033[{COLOURS[finding.level]}m{level}\033[0m"
    alert = catalogue(language).get(f"alert.{finding.explain}")
    meaning = f": {alert}" if alert and language != ENGLISH else ""
    more = f"novamas explain {finding.explain}{meaning}" if finding.explain else ""
    advice = "".join(f"\n          {line}" for line in (finding.do, more) if line)
    return f"{level}  {finding.about}: {finding.what}{advice}"
