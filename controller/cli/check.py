"""``novamas check``: is this configuration sound? Says every mistake at once."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from controller.configuration.file import load
from controller.configuration.settings import ConfigurationError

HELP = "say whether a configuration is sound, or every mistake in it with its line"


def arguments(parser: argparse.ArgumentParser) -> None:
    """CONFIG."""
    parser.add_argument("config", type=Path, metavar="CONFIG", help="the configuration file (TOML)")


def run(arguments: argparse.Namespace) -> int:
    """Give 0 and a summary on stdout, or 1 and the mistakes on stderr."""
    try:
        configuration = load(arguments.config)
    except ConfigurationError as mistaken:
        print(mistaken, file=sys.stderr)
        print(f"novamas: mistakes: {len(mistaken.mistakes)}", file=sys.stderr)
        return 1
    print(
        f"ok: site {configuration.site.id}, node {configuration.site.node}, broker "
        f"{configuration.broker.url}"
    )
    for table in configuration.table:
        devices = ", ".join(
            f"{device.id} ({device.driver}, {device.link})" for device in table.device
        )
        print(
            f"  {table.id}: {table.game} "
            f"{table.decree}{', simulated' if table.simulated else ''}: {devices}"
        )
    return 0
