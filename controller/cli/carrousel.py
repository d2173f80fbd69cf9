"""``novamas carrousel``: runs the jackpot controller of a configuration, connected by MQTT only, or
one of the programs that read its ledger.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from controller.cli import CommandLineError
from controller.cli.configured import config_argument, configuration_at, reject_misspelt_action
from controller.cli.web import address, broker_login

if TYPE_CHECKING:
    from controller.configuration.settings import (
        ArchiveConfig,
        CarrouselConfig,
        Configuration,
        JackpotConfig,
        WebhooksConfig,
    )

PROGRAM = "subscribers.carrousel"
LEDGER_PROGRAM = "subscribers.carrousel.bookkeeping"
ACTIONS = {
    "verify": "verify that a ledger has not been altered",
    "export": "print every posting with its cause",
    "statement": "print the book of a jackpot",
    "receipt": "print the receipt of a payment",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """[CONFIG], or ACTION FILE and its options."""
    parser.usage = "novamas carrousel [CONFIG]\n       novamas carrousel ACTION FILE ..."
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = "\n".join(
        [
            "actions, of a ledger:",
            *(f"  {name:10}{what}" for name, what in ACTIONS.items()),
            "\n'novamas carrousel verify --help' lists the options of verify",
        ]
    )
    config_argument(parser, ", or one with [site], [broker], [carrousel] and [[jackpot]]")
    parser.add_argument("options", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)


def run(arguments: argparse.Namespace) -> int:
    """Replace this process by the controller, or by a program that reads its ledger. Raises
    :class:`CommandLineError`.
    """
    import msgspec

    if str(arguments.config) in ACTIONS:
        sys.stdout.flush()
        program = [sys.executable, "-m", LEDGER_PROGRAM, str(arguments.config), *arguments.options]
        os.execv(sys.executable, program)  # noqa: S606 - no shell is wanted
    reject_misspelt_action("carrousel", str(arguments.config), ACTIONS)
    if arguments.options:
        raise CommandLineError(f"carrousel: no options after {arguments.config}", 2)
    settings = msgspec.json.encode(carrousel_settings(arguments.config)).decode()
    sys.stdout.flush()
    os.execv(  # noqa: S606 - no shell is wanted
        sys.executable, [sys.executable, "-m", PROGRAM, f"--settings={settings}"]
    )


def carrousel_settings(path: Path) -> dict[str, Any]:
    """Return the controller's settings, without secrets."""
    configuration = configuration_at(path)
    if not configuration.jackpot:
        raise CommandLineError(f"{path}: no jackpot is configured; add [[jackpot]]")
    return settings_of(configuration)


def settings_of(configuration: Configuration) -> dict[str, Any]:
    """Return the controller's settings from a loaded configuration, without secrets."""
    carrousel, people = configuration.carrousel, configuration.people
    return {
        "site": configuration.site.id,
        "broker": broker_login(configuration.broker, configuration.carrousel, "carrousel"),
        "node": carrousel.node,
        "ledger": carrousel.path,
        "jackpots": [jackpot_settings(jackpot) for jackpot in configuration.jackpot],
        "keepalive": carrousel.keepalive,
        "clock_bound": carrousel.clock_bound,
        "key": carrousel.key,
        "people_file": None if people is None else people.file,
        "people_key": None if people is None else people.key,
        "recall_key": carrousel.recall_key,
        "recall_passphrase": passphrase_path(carrousel),
        "listen": None if carrousel.listen is None else address(carrousel.listen),
        "log": configuration.log.format,
    }


def jackpot_settings(jackpot: JackpotConfig) -> dict[str, Any]:
    """Return the settings of one jackpot."""
    import msgspec

    terms = msgspec.to_builtins(jackpot)
    settings = {key: terms.pop(key) for key in ("title", "simulated")}
    return {**settings, "terms": {"jackpot": terms.pop("id"), **terms}}


def passphrase_path(
    section: CarrouselConfig | ArchiveConfig | WebhooksConfig, name: str = "carrousel"
) -> str | None:
    """Return the file with the passphrase of the key that signs recalls."""
    credential = section.recall_passphrase_credential
    if credential is None:
        return section.recall_passphrase_file
    directory = os.environ.get("CREDENTIALS_DIRECTORY")
    if directory is None:
        raise CommandLineError(
            f"[{name}] recall_passphrase_credential {credential!r}: no LoadCredential= in the unit"
        )
    return str(Path(directory, credential))
