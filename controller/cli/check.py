"""``novamas check``: checks a configuration and reports every mistake at once."""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from controller.broker.login import BrokerUnusableError, out_of_date, password, tls
from controller.configuration.file import load
from controller.configuration.settings import Configuration, ConfigurationError
from controller.service.privacy import exposed, exposed_secrets

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
        return _failed(arguments.config, len(mistaken.mistakes))
    if wrong := unusable(configuration):
        for each in wrong:
            print(f"{arguments.config}: {each}", file=sys.stderr)
        return _failed(arguments.config, len(wrong))
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
    for warning in warnings(configuration):
        print(f"warning: {warning}")
    for note in notes(configuration):
        print(f"note: {note}")
    return 0


def _failed(config: Path, count: int) -> int:
    errors = "1 error" if count == 1 else f"{count} errors"
    print(f"novamas: {errors} in {config}", file=sys.stderr)
    return 1


def unusable(configuration: Configuration) -> list[str]:
    """What the configuration names and nobody can use: a password, a certificate or a key that
    cannot be read or does not fit, and a certificate that has expired.
    """
    broker, found = configuration.broker, []
    try:
        tls(broker)
        if broker.password_credential is None:
            password(broker)
    except BrokerUnusableError as error:
        found.append(str(error))
    if broker.cert_file is not None and (dated := out_of_date(broker.cert_file, time.time())):
        found.append(f"broker.cert_file: {dated}")
    return found


def warnings(configuration: Configuration) -> list[str]:
    """Secrets that others can read, and credentials that systemd does not pass."""
    passed = os.environ.get("CREDENTIALS_DIRECTORY")
    missing = [
        f"{key}: the credential {name!r} cannot be read in {passed}; the unit's LoadCredential= "
        "names it"
        for key, name in _credentials(configuration).items()
        if name is not None and passed and not os.access(Path(passed, name), os.R_OK)
    ]
    return missing + [
        f"{path}: other users of this machine can read it; run chmod go= on it"
        for path in (
            *exposed(Path(configuration.journal.path), Path(configuration.recordings.path)),
            *exposed_secrets(configuration.broker),
        )
    ]


def notes(configuration: Configuration) -> list[str]:
    """What is sound, and yet keeps `novamas run` from working when started by hand."""
    if os.environ.get("CREDENTIALS_DIRECTORY"):
        return []
    return [
        f"{key}: systemd passes the credential {name!r} to the service only; without a unit that "
        "loads it, `novamas run` cannot read it"
        for key, name in _credentials(configuration).items()
        if name is not None
    ]


def _credentials(configuration: Configuration) -> dict[str, str | None]:
    return {
        "broker.password_credential": configuration.broker.password_credential,
        "journal.key_credential": configuration.journal.key_credential,
        "surveillance.secret_credential": configuration.surveillance.secret_credential,
    }
