"""``novamas send``: sends one command to a table and waits for its answer."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import Any

from controller.cli import CommandLineError
from controller.cli.numbers import seconds

HELP = "send a command to a table and wait for its answer"

REFUSED = 3
"""The exit status of a command that was refused."""
_CLIENT = re.compile(r"[A-Za-z0-9_-]{1,64}")


def arguments(parser: argparse.ArgumentParser) -> None:
    """TABLE COMMAND [FIELD=VALUE ...] --by NAME --role ROLE [--config FILE] ..."""
    parser.add_argument("table", metavar="TABLE", help="the table's id")
    parser.add_argument("command", metavar="COMMAND", help="its name, as round.void")
    parser.add_argument(
        "field",
        nargs="*",
        type=_field,
        metavar="FIELD=VALUE",
        help="its fields; a value is JSON where it can be read so, else text",
    )
    parser.add_argument("--by", metavar="NAME", help="the person's name")
    parser.add_argument(
        "--role", metavar="ROLE", help="the person's role: table_head, inspector ..."
    )
    parser.add_argument(
        "--config",
        type=Path,
        default=Path("novamas.toml"),
        metavar="FILE",
        help="the configuration of the daemon, for the site, the broker and TLS (default: "
        "novamas.toml)",
    )
    parser.add_argument(
        "--username", metavar="USER", help="the broker's user, where it is not the daemon's"
    )
    parser.add_argument(
        "--password-file", type=Path, metavar="FILE", help="the file with that user's password"
    )
    parser.add_argument(
        "--timeout",
        type=seconds,
        default=10.0,
        metavar="SECONDS",
        help="how long to wait for the answer (default: 10)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the answer. Returns 0 if the command was followed, 3 if it was refused, 1 if nobody
    answered.
    """
    import asyncio
    import secrets

    import msgspec

    from controller.configuration.file import load
    from controller.configuration.settings import ConfigurationError
    from controller.contract.orders import RECALL
    from controller.contract.topics import Topics, level
    from controller.mqtt.command_client import NoAnswerError, ask
    from devices.suggestions import unknown

    try:
        configuration = load(arguments.config)
    except ConfigurationError as mistaken:
        raise CommandLineError(str(mistaken)) from None
    tables = {table.id: table for table in configuration.table}
    if arguments.table not in tables:
        raise CommandLineError(unknown("table", arguments.table, sorted(tables)), 2)
    name = level(arguments.command)
    if name != RECALL and (arguments.by is None or arguments.role is None):
        raise CommandLineError("--by NAME and --role ROLE say who gives the command", 2)
    broker = configuration.broker
    if arguments.username is not None:
        broker = msgspec.structs.replace(
            broker,
            username=arguments.username,
            password_file=None if arguments.password_file is None else str(arguments.password_file),
            password_credential=None,
        )
    elif arguments.password_file is not None:
        raise CommandLineError("--password-file is of --username USER", 2)
    topics = Topics(configuration.site.id, tables[arguments.table].simulated)
    number = secrets.token_urlsafe(12)
    user = broker.username or ""
    client = user if _CLIENT.fullmatch(user) else f"send-{number}"
    who = {} if name == RECALL else {"by": arguments.by, "role": arguments.role}
    body: dict[str, Any] = {**dict(arguments.field), **who, "client": client, "id": number}
    try:
        reply = asyncio.run(
            ask(
                broker,
                topics.command(arguments.table, name),
                topics.reply(arguments.table, client),
                msgspec.json.encode(body),
                number,
                arguments.timeout,
            )
        )
    except NoAnswerError as error:
        raise CommandLineError(str(error)) from None
    print(msgspec.json.encode(reply).decode())
    if reply.get("ok") is not True:
        print(f"novamas: refused: {reply.get('error')}", file=sys.stderr)
        return REFUSED
    return 0


def _field(text: str) -> tuple[str, Any]:
    """``FIELD=VALUE``."""
    import msgspec

    name, equals, value = text.partition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"{text!r}: write FIELD=VALUE, as reason=ball_out")
    try:
        return name, msgspec.json.decode(value)
    except (ValueError, RecursionError):
        return name, value
