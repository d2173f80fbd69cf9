"""``novamas acl``: writes the broker's access rules from a configuration."""

from __future__ import annotations

import argparse
import re

from common.suggestions import unknown_word
from controller.cli import CommandLineError
from controller.cli.configured import config_argument, configuration_at
from controller.people.broker_access import KINDS, ClientAccess, Kind

BROKERS = ("mosquitto", "mosquitto-dynamic", "nats", "rabbitmq")
_USER = re.compile(r"[A-Za-z0-9_-]{1,64}")


def arguments(parser: argparse.ArgumentParser) -> None:
    """[CONFIG] [--broker B] [--client KIND=USER ...]."""
    config_argument(parser)
    parser.add_argument(
        "--broker",
        choices=BROKERS,
        default="mosquitto",
        help="mosquitto: an acl_file; mosquitto-dynamic: the file of the dynamic security plugin; "
        "nats: an authorization block; rabbitmq: definitions (default: mosquitto)",
    )
    parser.add_argument(
        "--client",
        type=_client,
        action="append",
        metavar="KIND=USER",
        help=f"a user of the broker and its kind: {', '.join(KINDS)}; may be repeated (default: "
        "one of each kind, with the kind as its name; the daemon has broker.username)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the rules. Raises :class:`CommandLineError` for an invalid configuration."""
    import msgspec

    from controller.configuration.access import access_scope
    from controller.people import broker_access

    configuration = configuration_at(arguments.config)
    floor = access_scope(configuration)
    daemon = configuration.broker.username or "novamas"
    users_by_kind: list[tuple[Kind, str]] = arguments.client or [
        (kind, kind) for kind in KINDS if kind != "daemon"
    ]
    if all(kind != "daemon" for kind, _ in users_by_kind):
        users_by_kind = [("daemon", daemon), *users_by_kind]
    users = [user for _, user in users_by_kind]
    if repeated := [user for user in users if users.count(user) > 1]:
        raise CommandLineError(f"--client: {repeated[0]} is named twice; a user has one kind", 2)
    clients: list[ClientAccess] = [
        broker_access.client_access(kind, user, floor) for kind, user in users_by_kind
    ]
    if arguments.broker == "mosquitto":
        text = broker_access.mosquitto_acl(clients)
    elif arguments.broker == "nats":
        text = broker_access.nats_authorization(clients)
    else:
        write = (
            broker_access.rabbitmq_definitions
            if arguments.broker == "rabbitmq"
            else broker_access.mosquitto_dynamic
        )
        text = msgspec.json.format(msgspec.json.encode(write(clients))).decode() + "\n"
    print(text, end="")
    return 0


def _client(text: str) -> tuple[Kind, str]:
    """Parse ``KIND=USER``."""
    name, _, user = text.partition("=")
    kind = next((kind for kind in KINDS if kind == name), None)
    if kind is None:
        raise argparse.ArgumentTypeError(unknown_word("kind", name, KINDS))
    if not _USER.fullmatch(user):
        raise argparse.ArgumentTypeError(
            f"{user!r} is not a user name: use 1 to 64 letters, digits, hyphens and underscores"
        )
    return kind, user
