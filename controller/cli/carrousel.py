"""``novamas carrousel``: runs the jackpot controller of a configuration, connected by MQTT only, or
one of the programs that read its ledger.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from controller.cli import CommandLineError
from controller.cli.configured import config_argument, configuration_at, reject_misspelt_action
from controller.cli.web import address, broker_login, passphrase_path

if TYPE_CHECKING:
    from controller.configuration.settings import (
        Configuration,
        JackpotConfig,
    )

PROGRAM = "subscribers.carrousel"
PROMOTE_PROGRAM = "subscribers.carrousel.promote"
LEDGER_PROGRAM = "subscribers.carrousel.bookkeeping"
ACTIONS = {
    "verify": "verify that a ledger has not been altered",
    "export": "print every posting with its cause",
    "statement": "print the book of a jackpot",
    "receipt": "print the receipt of a payment",
}
PROMOTE, CONFIRMED = "promote", "--yes"
PROMOTE_USAGE = f"""\
novamas carrousel {PROMOTE} CONFIG [{CONFIRMED}]

Begins the log of a pair of controllers again with the ledger of this machine, after
the store has lost it. Stop both controllers first, and take the ledger that goes
further. Without {CONFIRMED}, only says what would be done.
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """[CONFIG], or ACTION FILE and its options."""
    parser.usage = "novamas carrousel [CONFIG]\n       novamas carrousel ACTION FILE ..."
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = "\n".join(
        [
            "actions, of a ledger:",
            *(f"  {name:10}{what}" for name, what in ACTIONS.items()),
            "\nof a pair, with the configuration:",
            f"  {PROMOTE:10}begin the log of the ledger again, after the store has lost it",
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
    if str(arguments.config) == PROMOTE:
        _promote(arguments.options)
    reject_misspelt_action("carrousel", str(arguments.config), (*ACTIONS, PROMOTE))
    if arguments.options:
        raise CommandLineError(f"carrousel: no options after {arguments.config}", 2)
    settings = msgspec.json.encode(carrousel_settings(arguments.config)).decode()
    sys.stdout.flush()
    os.execv(  # noqa: S606 - no shell is wanted
        sys.executable, [sys.executable, "-m", PROGRAM, f"--settings={settings}"]
    )


def _promote(options: list[str]) -> NoReturn:
    """Replace this process by the program that begins the log of a pair again."""
    import msgspec

    if set(options) & {"--help", "-h"}:
        sys.stdout.write(PROMOTE_USAGE)
        raise SystemExit(0)
    files = [option for option in options if option != CONFIRMED]
    if len(files) != 1 or files[0].startswith("-"):
        raise CommandLineError(f"carrousel {PROMOTE}: expected CONFIG and {CONFIRMED}", 2)
    found = carrousel_settings(Path(files[0]))
    if found["standby"] is None:
        raise CommandLineError(f"{files[0]}: [carrousel] has no `standby = true`")
    settings = msgspec.json.encode(found).decode()
    confirmed = [CONFIRMED] if CONFIRMED in options else []
    sys.stdout.flush()
    program = [sys.executable, "-m", PROMOTE_PROGRAM, f"--settings={settings}", *confirmed]
    os.execv(sys.executable, program)  # noqa: S606 - no shell is wanted


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
        "standby": standby_settings(configuration),
    }


def standby_settings(configuration: Configuration) -> dict[str, Any] | None:
    """Return the settings of the pair that the controller is one of, or None."""
    import msgspec

    if not configuration.carrousel.standby or configuration.standby is None:
        return None
    return {
        **msgspec.to_builtins(configuration.standby),
        "keys": configuration.carrousel.standby_keys,
    }


def jackpot_settings(jackpot: JackpotConfig) -> dict[str, Any]:
    """Return the settings of one jackpot."""
    import msgspec

    terms = msgspec.to_builtins(jackpot)
    settings = {key: terms.pop(key) for key in ("title", "simulated")}
    return {**settings, "terms": {"jackpot": terms.pop("id"), **terms}}
