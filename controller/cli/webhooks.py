"""``novamas webhooks``: sends the events of the tables to web addresses, connected by MQTT only; or
shows and decides about what could not be sent; or makes the keys that sign.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from common.command_line import CommandLine
from common.new_file import replacing
from common.webhook_keys import WebhookKeyError, make_webhook_key, parse_webhook_keys
from controller.cli import CommandLineError
from controller.cli.configured import (
    DEFAULT_CONFIG,
    config_argument,
    configuration_at,
    reject_misspelt_action,
)
from controller.cli.web import address, broker_login, passphrase_path

if TYPE_CHECKING:
    from controller.configuration.settings import Configuration, WebhookConfig

PROGRAM = "subscribers.webhooks"
LETTERS_PROGRAM = "subscribers.webhooks.dead_letters"
ACTIONS = {
    "list": "show the queues and the dead letters",
    "retry": "queue dead letters again",
    "drop": "remove dead letters",
    "secret": "make the key that signs, or change it",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """[CONFIG], or ACTION and its options."""
    parser.usage = (
        "novamas webhooks [CONFIG]\n       novamas webhooks list|retry|drop [CONFIG] ...\n"
        "       novamas webhooks secret FILE [--change]"
    )
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = "\n".join(
        [
            "actions:",
            *(f"  {name:8}{what}" for name, what in ACTIONS.items()),
            "\n'novamas webhooks ACTION --help' lists the options of each",
        ]
    )
    config_argument(parser, ", or one with [site], [broker] and [[webhook]]")
    parser.add_argument("options", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)


def run(arguments: argparse.Namespace) -> int:
    """Replace this process by the service, or by a program that reads its outbox; or make a key.
    Raises :class:`CommandLineError`.
    """
    name, options = str(arguments.config), list(arguments.options)
    if name == "secret":
        return _secret(options)
    words = _action(name, options) if name in ACTIONS else _service(arguments.config, options)
    sys.stdout.flush()
    return os.execv(  # noqa: S606 - no shell is wanted
        sys.executable, [sys.executable, "-m", *words, *options]
    )


def _action(name: str, options: list[str]) -> list[str]:
    """Return the words that start a program of the outbox; remove the configuration from its
    ``options``.
    """
    config = DEFAULT_CONFIG
    if options and not options[0].startswith("-"):
        config = Path(options.pop(0))
    if {"-h", "--help"} & {*options}:
        return [LETTERS_PROGRAM, name]
    return [LETTERS_PROGRAM, name, _settings_option(outbox_settings(configuration_at(config)))]


def _service(config: Path, options: list[str]) -> list[str]:
    """Return the words that start the service."""
    reject_misspelt_action("webhooks", str(config), ACTIONS)
    if options:
        raise CommandLineError(f"webhooks: no options after {config}", 2)
    configuration = configuration_at(config)
    if not configuration.webhook:
        raise CommandLineError(
            f"{config}: no webhook is configured; add [[webhook]]: docs/integrator/webhooks.md"
        )
    return [PROGRAM, _settings_option(settings_of(configuration))]


def _settings_option(settings: dict[str, Any]) -> str:
    import msgspec

    return f"--settings={msgspec.json.encode(settings).decode()}"


def outbox_settings(configuration: Configuration) -> dict[str, Any]:
    """Return the settings of the programs that only use the outbox."""
    return {
        "outbox": configuration.webhooks.path,
        "webhooks": [webhook.id for webhook in configuration.webhook],
    }


def settings_of(configuration: Configuration) -> dict[str, Any]:
    """Return the settings of the service, without secrets."""
    section = configuration.webhooks
    return {
        "site": configuration.site.id,
        "broker": broker_login(configuration.broker, section, "webhooks"),
        "node": section.node,
        "outbox": section.path,
        "webhooks": [_webhook(webhook) for webhook in configuration.webhook],
        "recall_key": section.recall_key,
        "recall_passphrase": passphrase_path(section, "webhooks"),
        "recall_person": section.recall_person,
        "listen": None if section.listen is None else address(section.listen),
        "log": configuration.log.format,
    }


def _webhook(webhook: WebhookConfig) -> dict[str, Any]:
    """Return the settings of a receiver."""
    import msgspec

    settings: dict[str, Any] = msgspec.to_builtins(webhook)
    for key in ("address", "secret"):
        credential = settings.pop(f"{key}_credential")
        if credential is None:
            continue
        directory = os.environ.get("CREDENTIALS_DIRECTORY")
        if directory is None:
            raise CommandLineError(
                f"[[webhook]] {webhook.id}: {key}_credential {credential!r}: no LoadCredential= in "
                "the unit"
            )
        settings[f"{key}_file"] = str(Path(directory, credential))
    return settings


def _secret(words: list[str]) -> int:
    """Write a new key into a file; with ``--change``, before the one that is there."""
    parser = CommandLine(prog="novamas webhooks secret", description=ACTIONS["secret"])
    parser.add_argument("file", type=Path, metavar="FILE", help="the file of the key, mode 600")
    parser.add_argument(
        "--change",
        action="store_true",
        help="put a new key before the one in FILE: requests are signed with both, until you "
        "remove the second line",
    )
    options = parser.parse_args(words)
    path: Path = options.file
    before: list[str] = []
    if options.change:
        before = path.read_text(encoding="utf-8").split()[:1]
        if not before:
            raise CommandLineError(f"{path}: there is no key to change; leave out --change")
        try:
            parse_webhook_keys(before[0])
        except WebhookKeyError as error:
            raise CommandLineError(f"{path}: {error}: move the file away first") from None
    elif path.exists():
        raise CommandLineError(
            f"{path}: the file exists; --change puts a new key beside the one in it"
        )
    lines = (make_webhook_key(), *before)
    with replacing(path) as file:
        file.write("".join(f"{line}\n" for line in lines).encode())
    print(f"{path}: give the receiver the first line, over a way that you trust")
    return 0
