"""``novamas carrousel``: the controller of the jackpots of a configuration, from MQTT alone; and
what reads its ledger.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from controller.cli import CommandLineError
from controller.cli.configured import config_argument, configuration_at, no_action
from controller.cli.web import address, broker_login

if TYPE_CHECKING:
    from controller.configuration.settings import (
        ArchiveConfig,
        CarrouselConfig,
        Configuration,
        JackpotConfig,
    )

PROGRAM = "subscribers.carrousel"
READS = "subscribers.carrousel.bookkeeping"
ACTIONS = {
    "verify": "say whether a ledger is what was written",
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
    """Become the controller, which knows nothing but MQTT, or what reads its ledger. Raises
    :class:`CommandLineError`.
    """
    import msgspec

    if str(arguments.config) in ACTIONS:
        sys.stdout.flush()
        program = [sys.executable, "-m", READS, str(arguments.config), *arguments.options]
        os.execv(sys.executable, program)  # noqa: S606 - no shell is wanted
    no_action("carrousel", str(arguments.config), ACTIONS)
    if arguments.options:
        raise CommandLineError(f"carrousel: no options after {arguments.config}", 2)
    settings = msgspec.json.encode(carrousel_settings(arguments.config)).decode()
    sys.stdout.flush()
    os.execv(  # noqa: S606 - no shell is wanted
        sys.executable, [sys.executable, "-m", PROGRAM, f"--settings={settings}"]
    )


def carrousel_settings(path: Path) -> dict[str, Any]:
    """What the controller is told. No secret is in it."""
    configuration = configuration_at(path)
    if not configuration.jackpot:
        raise CommandLineError(f"{path}: no jackpot is configured; add [[jackpot]]")
    return settings_of(configuration)


def settings_of(configuration: Configuration) -> dict[str, Any]:
    """The same, of a configuration that was read."""
    carrousel, people = configuration.carrousel, configuration.people
    return {
        "site": configuration.site.id,
        "broker": broker_login(configuration.broker, configuration.carrousel, "carrousel"),
        "node": carrousel.node,
        "ledger": carrousel.path,
        "jackpots": [jackpot_settings(each) for each in configuration.jackpot],
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
    """What it is told of one jackpot."""
    import msgspec

    told = msgspec.to_builtins(jackpot)
    own = {key: told.pop(key) for key in ("title", "simulated")}
    return {**own, "terms": {"jackpot": told.pop("id"), **told}}


def passphrase_path(
    section: CarrouselConfig | ArchiveConfig, name: str = "carrousel"
) -> str | None:
    """The file of the passphrase of the key that signs recalls."""
    credential = section.recall_passphrase_credential
    if credential is None:
        return section.recall_passphrase_file
    directory = os.environ.get("CREDENTIALS_DIRECTORY")
    if directory is None:
        raise CommandLineError(
            f"[{name}] recall_passphrase_credential {credential!r}: no LoadCredential= in the unit"
        )
    return str(Path(directory, credential))
