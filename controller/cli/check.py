"""``novamas check``: checks a configuration and reports every mistake at once."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from controller.configuration.file import load
from controller.configuration.settings import Configuration, ConfigurationError

HELP = "check a configuration; report every mistake with its line"


def arguments(parser: argparse.ArgumentParser) -> None:
    """CONFIG."""
    parser.add_argument("config", type=Path, metavar="CONFIG", help="the configuration file (TOML)")


def run(arguments: argparse.Namespace) -> int:
    """Return 0 with a summary on stdout, or 1 with the mistakes on stderr."""
    try:
        configuration = load(arguments.config)
    except ConfigurationError as mistaken:
        print(mistaken, file=sys.stderr)
        count = len(mistaken.mistakes)
        errors = "1 error" if count == 1 else f"{count} errors"
        print(f"novamas: {errors} in {arguments.config}", file=sys.stderr)
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
    for note in notes(configuration):
        print(f"note: {note}")
    return 0


def notes(configuration: Configuration) -> list[str]:
    """What is sound, and yet keeps `novamas run` from working when started by hand."""
    if os.environ.get("CREDENTIALS_DIRECTORY"):
        return []
    credentials = {
        "broker.password_credential": configuration.broker.password_credential,
        "journal.key_credential": configuration.journal.key_credential,
        "surveillance.secret_credential": configuration.surveillance.secret_credential,
    }
    return [
        f"{key}: systemd passes the credential {name!r} to the service only; without a unit that "
        "loads it, `novamas run` cannot read it"
        for key, name in credentials.items()
        if name is not None
    ]
